// SPDX-License-Identifier: GPL-2.0-only
/* Frames of a stream that this version cannot read are skipped and reported. */
#include <errno.h>
#include <poll.h>

#include "core/time.h"
#include "stream/reader.h"
#include "streams.h"
#include "view/lines.h"
#include "view/peers.h"
#include "view/streams.h"

#define SKIPPED "frames of types that this version does not know"
#define LONGER "frames with fields that this version does not know"
/* To start a command may take this long on a busy machine. */
#define PATIENCE_NS 20000000000ULL

/* The small stream with @nr unknown frames; @longer: and one unknown field. @path: its name */
static int future_file(unsigned int nr, bool longer, char path[32])
{
	struct bytes b = small_stream(), c;
	int fd;

	if (longer) {
		c = with_bytes(&b, STREAM_CLOCK, "later", 5);
		free(b.p);
		b = c;
	}

	for (unsigned int i = 0; i < nr; i++) {
		c = with_frame(&b, (uint16_t)(4711 + i), "what will be", 12);
		free(b.p);
		b = c;
	}
	fd = file_of(b.p, b.n);
	free(b.p);
	snprintf(path, 32, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

/* What inputs_print() prints of such a file. */
static char *input_text(unsigned int nr, bool longer)
{
	char path[32], *text = NULL;
	int fd = future_file(nr, longer, path);
	struct stream_event e;
	struct input in;
	size_t size;
	FILE *f;

	assert_int_equal(input_open(&in, path), 0);
	while (input_read(&in, &e))
		;
	assert_int_equal(in.result, 0);
	f = open_memstream(&text, &size);
	assert_non_null(f);
	inputs_print(&in, NULL, f);
	fclose(f);
	input_close(&in);
	close(fd);
	return text;
}

static void frames_of_unknown_types_in_a_file_are_told(void **state)
{
	for (unsigned int longer = 0; longer < 2; longer++) {
		char *text = input_text(2, longer);

		assert_non_null(strstr(text, ": " SKIPPED " 2\n"));
		assert_int_equal(strstr(text, ": " LONGER " 1\n") != NULL, longer);
		free(text);
	}
}

static void a_file_without_unknown_frames_says_nothing_of_them(void **state)
{
	char *text = input_text(0, false);

	assert_null(strstr(text, SKIPPED));
	assert_null(strstr(text, LONGER));
	free(text);
}

static struct live_merge *whole_peer(unsigned int nr, int *fd)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	char path[32], command[64], *sources[] = {command};
	const struct peer_user user = {.other = false};
	struct live_merge *l;

	*fd = future_file(nr, nr > 0, path);
	snprintf(command, sizeof(command), "cat %s", path);
	l = live_merge_new(NT_HOST, sources, 1, &user);
	assert_non_null(l);
	while (!peer_over(live_merge_peer(l, 0))) {
		struct pollfd p = {.fd = live_merge_fd(l), .events = POLLIN};

		assert_true(monotonic_ns() < until);
		poll(&p, 1, 100);
		assert_int_equal(live_merge_ready(l), 0);
	}
	return l;
}

/* What peers_print() prints of a peer whose stream has @nr unknown frames. */
static char *peer_text(unsigned int nr, bool summary)
{
	char *text = NULL;
	size_t size;
	int fd;
	struct live_merge *l = whole_peer(nr, &fd);
	FILE *f;

	f = open_memstream(&text, &size);
	assert_non_null(f);
	peers_print(l, summary, f, WRAP_NEVER);
	fclose(f);
	live_merge_free(l);
	close(fd);
	return text;
}

static void frames_of_unknown_types_of_a_peer_are_told(void **state)
{
	char *text = peer_text(3, false);

	assert_non_null(strstr(text, "peer 1: "));
	assert_non_null(strstr(text, ", " SKIPPED " 3, " LONGER " 1; "));
	free(text);
	text = peer_text(3, true);
	assert_non_null(strstr(text, "\npeer 1 " SKIPPED " 3\n"));
	assert_non_null(strstr(text, "\npeer 1 " LONGER " 1\n"));
	free(text);
}

static void a_peer_without_unknown_frames_says_nothing_of_them(void **state)
{
	char *text = peer_text(0, false);

	assert_null(strstr(text, SKIPPED));
	assert_null(strstr(text, LONGER));
	free(text);
	text = peer_text(0, true);
	assert_null(strstr(text, SKIPPED));
	assert_null(strstr(text, LONGER));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_unknown_types_in_a_file_are_told),
		cmocka_unit_test(a_file_without_unknown_frames_says_nothing_of_them),
		cmocka_unit_test(frames_of_unknown_types_of_a_peer_are_told),
		cmocka_unit_test(a_peer_without_unknown_frames_says_nothing_of_them),
	};

	return cmocka_run_group_tests_name("skipped", tests, NULL, NULL);
}
