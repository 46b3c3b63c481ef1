// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a terminal of 80 columns shows of peers, whatever their commands are and whatever they
 * write.
 */
#include <poll.h>

#include "core/time.h"
#include "streams.h"
#include "view/lines.h"
#include "view/peers.h"

#define WIDTH 80
/* To start a command may take this long on a busy machine. */
#define PATIENCE_NS 60000000000ULL
#define LONG_COMMENT                                                                     \
	" # this command is much longer than a line of a terminal, as those of ssh are " \
	"with its options, the name of the user, the name of the target, and all the rest"

/* Starts peers and waits until @so is true of all of them, and they have written @said lines. */
static struct live_merge *peers(char *const *sources, unsigned int nr,
				bool (*so)(const struct peer *p), uint64_t said)
{
	const struct peer_user myself = {.other = false};
	struct live_merge *l = live_merge_new(NT_HOST, sources, nr, &myself);
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	unsigned int ready = 0;

	assert_non_null(l);
	while (ready < nr) {
		struct pollfd p = {.fd = live_merge_fd(l), .events = POLLIN};
		struct peer_about a;

		assert_true(monotonic_ns() < until);
		poll(&p, 1, 10);
		assert_int_equal(live_merge_ready(l), 0);
		ready = 0;
		for (unsigned int i = 0; i < nr; i++) {
			peer_about(live_merge_peer(l, i), &a);
			ready += so(live_merge_peer(l, i)) && a.messages->nr >= said &&
				 (!said || a.messages->ended);
		}
	}
	return l;
}

static bool starting(const struct peer *p)
{
	return peer_state(p) == PEER_STARTING;
}

static char *text_of(const struct live_merge *l, bool summary, unsigned int width)
{
	char *text = NULL, *copy;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	peers_print(l, summary, f, width);
	fclose(f);
	copy = strdup(text);
	assert_non_null(copy);
	free(text);
	return copy;
}

/* Reduces @text to what the terminal shows of it. */
static void cut(char *text)
{
	char *to = text;
	unsigned int column = 0;

	for (; *text; text++) {
		column = *text == '\n' ? 0 : column + 1;
		if (column <= WIDTH)
			*to++ = *text;
	}
	*to = '\0';
}

/* Joins continuation lines, which are indented, with the line that they continue. */
static void join(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (!strncmp(text, "\n  ", 3)) {
			*to++ = ' ';
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void assert_shown(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static void the_reason_of_a_death_comes_before_the_command(void **state)
{
	char *sources[] = {"echo why it failed >&2; exit 3" LONG_COMMENT};
	struct live_merge *l = peers(sources, 1, peer_gone, 1);
	char *text = text_of(l, false, WIDTH);

	cut(text);
	assert_shown(text, "peer 1: died, exit status 3; echo why it failed");
	/* On a screen, of the counts of matching only that of matched commands is there if it is 0.
	 */
	assert_shown(text, "\npeer 1 says: why it failed\nmatched 0\n");
	assert_null(strstr(text, "all the rest"));
	free(text);
	/* Nor are they where the screen has a line for it and cuts that. */
	text = text_of(l, false, WRAP_CUT);
	assert_shown(text, "\nmatched 0\n");
	free(text);
	live_merge_free(l);
}

static void the_reason_of_a_refusal_is_whole(void **state)
{
	char *sources[] = {"echo why it did that >&2; echo no stream; sleep 1000" LONG_COMMENT};
	struct live_merge *l = peers(sources, 1, peer_over, 1);
	struct peer_about a;
	char *text = text_of(l, false, WIDTH);

	peer_about(live_merge_peer(l, 0), &a);
	assert_int_equal(a.state, PEER_REFUSED);
	assert_true(strlen(a.why) > 20);
	cut(text);
	join(text);
	assert_shown(text, "peer 1: refused, ");
	assert_shown(text, a.why);
	assert_shown(text, "peer 1 says: why it did that");
	free(text);
	live_merge_free(l);
}

static void what_a_peer_says_while_it_starts_is_shown(void **state)
{
	char *sources[] = {"for i in 1 2 3 4 5; do echo line $i >&2; done; sleep 1000"};
	struct live_merge *l = peers(sources, 1, starting, 5);
	char *text = text_of(l, false, WIDTH);

	assert_shown(text, "peer 1: starting; for i in");
	assert_shown(text, "\npeer 1 says: line 3\npeer 1 says: line 4\npeer 1 says: line 5\n");
	assert_null(strstr(text, "says: line 2"));
	free(text);
	live_merge_free(l);
}

/* The screen has room for one line of each peer. */
static void of_many_peers_the_last_line_is_shown(void **state)
{
	char *sources[] = {"echo a >&2; echo b >&2; sleep 1000",
			   "echo c >&2; echo d >&2; sleep 1000",
			   "echo e >&2; echo f >&2; sleep 1000"};
	struct live_merge *l = peers(sources, 3, starting, 2);
	char *text = text_of(l, false, WIDTH);

	assert_null(strstr(text, "says: a"));
	assert_shown(text, "peer 1 says: b\n");
	assert_shown(text, "peer 3 says: f\n");
	free(text);
	text = text_of(l, true, WIDTH);
	assert_shown(text, "peer 1 says: a\n");
	free(text);
	live_merge_free(l);
}

/* Checks the lines of what peers write. */
static void assert_lines_fit(const char *text)
{
	size_t len;

	for (text = strstr(text, "peer 1 says:"); strncmp(text, "matched", 7); text += len + 1) {
		len = strcspn(text, "\n");
		assert_true(len <= WIDTH);
	}
}

static void a_long_line_is_whole_and_harmless(void **state)
{
	char *sources[] = {"printf '\\033[2J%0120d end of it\\n' 0 >&2; sleep 1000"};
	struct live_merge *l = peers(sources, 1, starting, 1);
	char *text = text_of(l, false, WIDTH);

	assert_null(strchr(text, '\033'));
	assert_shown(text, "peer 1 says:");
	assert_lines_fit(text);
	join(text);
	assert_shown(text, "end of it\n");
	free(text);
	text = text_of(l, false, WRAP_NEVER);
	assert_shown(text, "000 end of it\n");
	free(text);
	live_merge_free(l);
}

/* Each line is printed once, when it comes. */
static void the_start_is_told_line_by_line(void **state)
{
	char *sources[] = {"echo one >&2; echo two >&2; printf three >&2; sleep 1000"};
	const struct peer_user myself = {.other = false};
	struct live_merge *l = live_merge_new(NT_HOST, sources, 1, &myself);
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	uint64_t told = 0;
	struct peer_about a = {.messages = NULL};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(l);
	assert_non_null(f);
	while (!a.messages || a.messages->nr < 3) {
		assert_true(monotonic_ns() < until);
		poll(NULL, 0, 5);
		assert_int_equal(live_merge_ready(l), 0);
		peers_print_messages(l, 0, false, &told, f);
		peer_about(live_merge_peer(l, 0), &a);
	}
	peers_print_messages(l, 0, false, &told, f);
	peers_print_waiting(l, 0, f);
	fflush(f);
	/* It may go on after that. */
	assert_null(strstr(text, "says: three"));
	peers_print_messages(l, 0, true, &told, f);
	fclose(f);
	assert_shown(text, "\nwaiting for peer 1: echo one >&2; ");
	assert_shown(text, "peer 1 says: one\n");
	assert_shown(text, "peer 1 says: two\n");
	/* A question has no end of its line. */
	assert_shown(text, "peer 1 says: three\n");
	assert_ptr_equal(strstr(strstr(text, "says: one") + 1, "says: one"), NULL);
	free(text);
	live_merge_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_of_a_death_comes_before_the_command),
		cmocka_unit_test(the_reason_of_a_refusal_is_whole),
		cmocka_unit_test(what_a_peer_says_while_it_starts_is_shown),
		cmocka_unit_test(of_many_peers_the_last_line_is_shown),
		cmocka_unit_test(a_long_line_is_whole_and_harmless),
		cmocka_unit_test(the_start_is_told_line_by_line),
	};

	return cmocka_run_group_tests_name("peers", tests, NULL, NULL);
}
