// SPDX-License-Identifier: GPL-2.0-only
/* Events of a host's controllers: the last ones are kept, in words, and those that sysfs tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/path_events.h"

static void the_last_events_are_kept_and_all_are_counted(void **state)
{
	struct path_events p = {0};
	const uint64_t nr = 3 * PATH_EVENTS_MAX + 7;

	for (uint64_t i = 0; i < nr; i++)
		assert_int_equal(path_events_add(&p, &(struct nt_path_event){.ns = i}), 0);
	assert_int_equal(p.total, nr);
	assert_int_equal(p.nr, PATH_EVENTS_MAX);
	for (size_t i = 0; i < p.nr; i++)
		assert_int_equal(path_events_at(&p, i)->ns, nr - p.nr + i);
	path_events_free(&p);
}

static void an_interval_has_the_events_since_the_one_before(void **state)
{
	struct path_events p = {0};

	path_events_add(&p, &(struct nt_path_event){.ns = 1});
	path_events_interval(&p);
	assert_int_equal(path_events_of_interval(&p), 0);
	path_events_add(&p, &(struct nt_path_event){.ns = 2});
	path_events_add(&p, &(struct nt_path_event){.ns = 3});
	path_events_interval(&p);
	assert_int_equal(path_events_of_interval(&p), 1);
	path_events_interval(&p);
	assert_int_equal(path_events_of_interval(&p), p.nr);
	path_events_free(&p);
}

static void each_kind_has_words(void **state)
{
	static const struct {
		struct nt_path_event e;
		const char *text;
	} of[] = {
		{{.instance = 3, .state = NT_PATH_RESETTING}, "nvme3 resetting"},
		{{.state = NT_PATH_LIVE, .queues = 5}, "nvme0 live, 5 queues"},
		{{.state = NT_PATH_LIVE, .queues = 1, .attempts = 1},
		 "nvme0 live, 1 queue, after 1 attempt"},
		{{.state = NT_PATH_DELETING, .attempts = 60}, "nvme0 deleting, after 60 attempts"},
		{{.state = 77}, "nvme0 unknown"},
		{{.kind = NT_PATH_FAILED, .attempts = 2}, "nvme0 attempt 2 to reconnect failed"},
		{{.kind = NT_PATH_TIMEOUT, .qid = 2, .cid = 9, .opcode = 2},
		 "nvme0 timeout: queue 2, command id 9, opcode 0x02"},
		{{.kind = NT_PATH_KEEP_ALIVE, .opcode = 0x18}, "nvme0 timeout of Keep Alive"},
		{{.kind = NT_PATH_ANA, .group = 1, .state = 3}, "nvme0 ANA group 1 inaccessible"},
		{{.kind = NT_PATH_ANA, .group = UINT32_MAX, .state = 7},
		 "nvme0 ANA group 4294967295 unknown"},
		{{.instance = UINT32_MAX, .kind = 900},
		 "nvme4294967295 event 900, which this program does not know"},
	};
	char text[PATH_EVENT_TEXT_LEN];

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_string_equal(path_event_text(&of[i].e, text), of[i].text);
	assert_int_equal(path_state_named("connecting"), NT_PATH_CONNECTING);
	assert_int_equal(path_state_named("connected"), NT_PATH_STATES_NR);
}

/* A sysfs of one controller. */
struct sysfs {
	char root[64];
	unsigned int transports;
	struct path_states states;
	struct nt_path_event last;
	unsigned int nr;
};

static void put(const struct sysfs *s, const char *name, const char *attribute, const char *value)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/class/nvme/%s", s->root, name);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/class/nvme/%s/%s", s->root, name, attribute);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(value, f);
	fclose(f);
}

static void on_event(void *context, const struct nt_path_event *e)
{
	struct sysfs *s = context;

	s->last = *e;
	s->nr++;
}

static unsigned int look(struct sysfs *s)
{
	s->nr = 0;
	path_states_look(&s->states, s->root, s->transports, 5, on_event, s);
	return s->nr;
}

static void where_nothing_is_attached_states_of_sysfs_make_events(void **state)
{
	struct sysfs s = {.root = "/tmp/ntprof.XXXXXX", .transports = NT_OF_TCP};
	char path[PATH_MAX];

	assert_non_null(mkdtemp(s.root));
	snprintf(path, sizeof(path), "%s/class", s.root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/class/nvme", s.root);
	mkdir(path, 0700);
	assert_int_equal(look(&s), 0);
	put(&s, "nvme2", "transport", "tcp\n");
	put(&s, "nvme2", "subsysnqn", "nqn.a\n");
	put(&s, "nvme2", "state", "live\n");
	put(&s, "nvme1", "transport", "pcie\n");
	put(&s, "nvme1", "state", "live\n");
	/* Names that are none, and one that memory would have to reach for. */
	put(&s, "nvme-x", "transport", "tcp\n");
	put(&s, "nvme99999999", "transport", "tcp\n");
	put(&s, "nvme99999999", "state", "live\n");
	assert_int_equal(look(&s), 1);
	assert_int_equal(s.last.instance, 2);
	assert_int_equal(s.last.state, NT_PATH_LIVE);
	assert_int_equal(s.last.ns, 5);
	assert_string_equal(s.last.subsysnqn, "nqn.a");
	assert_int_equal(look(&s), 0);
	put(&s, "nvme2", "state", "connecting\n");
	assert_int_equal(look(&s), 1);
	assert_int_equal(s.last.state, NT_PATH_CONNECTING);
	/* A word of a later kernel. */
	put(&s, "nvme2", "state", "thinking\n");
	assert_int_equal(look(&s), 0);
	/* It is another one that has its name then, and is part of no subsystem yet. */
	put(&s, "nvme2", "state", "connecting\n");
	put(&s, "nvme2", "subsysnqn", "(efault)\n");
	assert_int_equal(look(&s), 1);
	assert_string_equal(s.last.subsysnqn, "");
	put(&s, "nvme1", "state", "resetting\n");
	assert_int_equal(look(&s), 0);
	s.transports |= 1u << NT_TRANSPORT_PCIE;
	assert_int_equal(look(&s), 1);
	assert_int_equal(s.last.instance, 1);
	path_states_free(&s.states);
	snprintf(path, sizeof(path), "rm -r %s", s.root);
	assert_int_equal(system(path), 0); // NOLINT(cert-env33-c)
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_events_are_kept_and_all_are_counted),
		cmocka_unit_test(an_interval_has_the_events_since_the_one_before),
		cmocka_unit_test(each_kind_has_words),
		cmocka_unit_test(where_nothing_is_attached_states_of_sysfs_make_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
