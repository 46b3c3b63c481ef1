/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines for the journal, on standard error. If standard error is the journal's stream
 * ($JOURNAL_STREAM), each begins with its priority, as in sd-daemon(3).
 */
#ifndef NTPROF_CLI_JOURNAL_H
#define NTPROF_CLI_JOURNAL_H

/* Values of syslog(3). */
enum journal_priority { JOURNAL_WARNING = 4, JOURNAL_NOTICE = 5 };

/** journal() - print a line; @format is without a line feed */
void journal(enum journal_priority priority, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* NTPROF_CLI_JOURNAL_H */
