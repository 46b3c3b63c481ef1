/* SPDX-License-Identifier: GPL-2.0-only */
/* Lets the program report a scenario's streams, and compares each row with the truth. */
#ifndef TRUTH_JUDGE_H
#define TRUTH_JUDGE_H

#include <sys/wait.h>
#include <unistd.h>

#include "simulate.h"

/* @rows: number of rows by side and record number */
struct result {
	uint64_t both, right, wrong, broken;
	uint8_t rows[2][IDS];
};

#define COLUMNS_MAX 64

/* Splits a line into its fields. No field contains a comma. Return: the number of fields */
static unsigned int split(char *line, char **field)
{
	unsigned int nr = 0;
	char *next;

	line[strcspn(line, "\r\n")] = 0;
	while (nr < COLUMNS_MAX && (next = strsep(&line, ",")))
		field[nr++] = next;
	return nr;
}

/* The columns that contain the truth. */
enum { SEEN, SUBMIT, QUEUE_RQ, EXEC, DONE, NR_COLUMNS };
static const char *const column_name[] = {"seen", "host.submit", "host.queue_rq", "target.exec",
					  "target.done"};

static void find_columns(char *line, unsigned int *column)
{
	char *field[COLUMNS_MAX];
	unsigned int nr = split(line, field);

	for (unsigned int i = 0; i < NR_COLUMNS; i++) {
		column[i] = 0;
		while (column[i] < nr && strcmp(field[column[i]], column_name[i]) != 0)
			column[i]++;
		if (column[i] == nr) {
			fprintf(stderr, "scenarios: report has no column %s\n", column_name[i]);
			exit(2);
		}
	}
}

/* Return: the number that a record carries, IDS if it has none. */
static unsigned int carried(const char *from, const char *to)
{
	static uint16_t id_of[IDS];

	for (unsigned int i = 0; i < IDS && !id_of[number_in_time(IDS - 1)]; i++)
		id_of[number_in_time(i)] = (uint16_t)i;
	if (!*from || !*to)
		return IDS;
	return id_of[(strtoull(to, NULL, 10) - strtoull(from, NULL, 10)) % IDS];
}

static void judge_line(const struct scenario *s, char *line, const unsigned int *column,
		       struct result *r)
{
	char *field[COLUMNS_MAX] = {0};
	unsigned int id[2];
	bool merged;

	if (split(line, field) <= column[DONE])
		return;
	merged = !strcmp(field[column[SEEN]], "merged");
	id[HOST] = carried(field[column[SUBMIT]], field[column[QUEUE_RQ]]);
	id[TARGET] = carried(field[column[EXEC]], field[column[DONE]]);
	for (unsigned int side = 0; side < 2; side++) {
		if (id[side] == IDS)
			continue;
		r->rows[side][id[side]]++;
		r->broken += !s->recorded[side][id[side]];
	}
	if (merged && id[HOST] == id[TARGET])
		r->right++;
	else if (merged)
		r->wrong++;
}

/* Checks that each record is in exactly one row. */
static void judge_rows(const struct scenario *s, struct result *r)
{
	for (unsigned int id = 0; id < s->ids; id++) {
		r->both += s->recorded[HOST][id] && s->recorded[TARGET][id];
		for (unsigned int side = 0; side < 2; side++)
			r->broken += s->recorded[side][id] != r->rows[side][id];
	}
}

static FILE *start_report(const char *program, char *const *argv, pid_t *pid)
{
	int ends[2];

	if (pipe(ends)) {
		perror("pipe");
		exit(2);
	}
	*pid = fork();
	if (!*pid) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execv(program, argv);
		perror(program);
		_exit(127);
	}
	close(ends[1]);
	return fdopen(ends[0], "r");
}

/*
 * Gives the streams to the program. @backwards: in the reverse order, so that a host is not always
 * first
 */
static void report(const struct scenario *s, const char *program, const char *folder,
		   bool backwards, struct result *r)
{
	static char line[65536];
	char paths[MACHINES_MAX][256], *argv[MACHINES_MAX + 6] = {(char *)program, "report"};
	unsigned int nr = 2, column[NR_COLUMNS];
	int status;
	FILE *f;
	pid_t pid;

	for (unsigned int i = 0; i < s->nr_machines; i++) {
		unsigned int k = backwards ? s->nr_machines - 1 - i : i;

		if (!s->machine[k].recorded)
			continue;
		snprintf(paths[k], sizeof(paths[k]), "%s/%s.ntp", folder, s->machine[k].name);
		argv[nr++] = paths[k];
	}
	argv[nr++] = "--commands";
	argv[nr++] = "--format=csv";
	f = start_report(program, argv, &pid);
	if (fgets(line, sizeof(line), f))
		find_columns(line, column);
	while (fgets(line, sizeof(line), f))
		judge_line(s, line, column, r);
	fclose(f);
	waitpid(pid, &status, 0);
	r->broken += status != 0;
	judge_rows(s, r);
}

#endif /* TRUTH_JUDGE_H */
