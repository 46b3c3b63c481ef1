// SPDX-License-Identifier: GPL-2.0-only
#include "view/view.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "view/connections.h"
#include "view/csv.h"
#include "view/disks_table.h"
#include "view/groups.h"
#include "view/head.h"
#include "view/histograms.h"
#include "view/json_block.h"
#include "view/lines.h"
#include "view/losses.h"
#include "view/numbers.h"
#include "view/path_events.h"
#include "view/peers.h"
#include "view/rows.h"
#include "view/screen.h"
#include "view/stages.h"
#include "view/streams.h"
#include "view/tcp_table.h"
#include "view/why.h"
#include "view/visible_rows.h"

/* The size of the VT100, for a terminal that does not report its size. */
#define DEFAULT_COLUMNS 80
#define DEFAULT_LINES 24
/* Width of the output if it is not a terminal. */
#define PIPE_COLUMNS 132
/*
 * How long to wait before saying that no record of a peer is matched. Records wait this long for
 * their pair.
 */
#define UNMATCHED_SECONDS 5

static unsigned int width_of(const struct view_options *o)
{
	unsigned int width = o->columns ? o->columns : PIPE_COLUMNS;

	return !o->redraw && width > PIPE_COLUMNS ? PIPE_COLUMNS : width;
}

/*
 * Begins a block with the time. The reader of a pipe cannot know when a block was written, nor
 * where the next one begins.
 */
static void plain_begin(FILE *out)
{
	char text[64] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%F %T %z", &tm);
	fprintf(out, "%s\n", text);
}

/* A redrawn screen is left out while an older one still waits, because it would come too late. */
static int text_write(const struct view_options *o, bool summary, const char *text, size_t size)
{
	int err;

	if (!o->output)
		return fwrite(text, 1, size, o->out) != size || fflush(o->out) ? -EIO : 0;
	if (o->redraw && !summary && !output_idle(o->output))
		return output_error(o->output) ?: -EAGAIN;
	err = output_put(o->output, text, size, 1);
	output_flush(o->output);
	return err;
}

/* Writes the block of @print in one piece, so that a half-drawn screen is never visible. */
static int write_whole(const struct view_options *o, bool summary,
		       int (*print)(FILE *m, const void *context), const void *context)
{
	char *text = NULL;
	size_t size = 0;
	FILE *m = open_memstream(&text, &size);
	int err;

	if (!m)
		return -ENOMEM;
	err = print(m, context);
	if (ferror(m))
		err = -ENOMEM;
	if (fclose(m))
		err = -ENOMEM;
	if (!err && size)
		err = text_write(o, summary, text, size);
	free(text);
	return err;
}

/* The input of the functions that draw a format. */
struct drawing {
	const struct view_options *o;
	const struct stats *stats;
	struct screen *s;
	unsigned int width;
	bool summary;
};

static int draw_text(FILE *m, const void *context)
{
	const struct drawing *d = context;

	if (d->o->redraw && !d->summary) {
		if (d->o->alternate && !d->o->entered)
			fputs(SCREEN_ENTER, m);
		screen_redraw(d->s, m, d->width, d->o->lines);
	} else if (d->o->redraw) {
		/* The summary is the last output, so it is printed completely and may scroll. */
		fputs(d->o->entered ? SCREEN_LEAVE : "\033[H\033[J", m);
		screen_print(d->s, m);
	} else {
		plain_begin(m);
		screen_print(d->s, m);
		fputs("\n", m);
	}
	return 0;
}

static int draw_json(FILE *m, const void *context)
{
	const struct drawing *d = context;
	struct json_object *block =
		json_block(d->stats, d->summary, d->o->histogram, d->o->peers, d->o->choice);

	if (d->o->limits)
		json_put(block, "limits", limits_json(d->o->limits));
	if (d->o->controllers && !d->summary) {
		json_put(block, "controller_states", controllers_json(d->o->controllers));
		json_put(block, "waiting", stages_waiting_json(d->stats));
	}
	return json_write(m, block);
}

static int draw_csv(FILE *m, const void *context)
{
	const struct drawing *d = context;

	if (d->o->choice)
		return groups_output_csv(m, d->stats, d->summary, d->o->choice, !d->o->begun);
	if (!d->o->begun)
		csv_block_header(m, &queue_columns);
	csv_queues(m, d->stats, d->summary);
	return 0;
}

/* The figures of latency that the user has asked for; NULL: the default ones. */
static const struct figures *figures_of(const struct view_options *o)
{
	return o->choice ? &o->choice->figures : NULL;
}

/* The memory of an interval's stages, which are added to it the first time that they are shown. */
static struct stage_memory *memory_of(const struct view_options *o, const struct block *b,
				      bool merged)
{
	if (!o->memory)
		return NULL;
	o->memory[merged].ns = o->again ? 0 : (uint64_t)(b->s->seconds * 1e9);
	return &o->memory[merged];
}

/* Shows the records of a peer by themselves if none of them is matched yet, and why. */
static void unmatched_show(const struct view_options *o, const struct block *b,
			   const struct screen *s, unsigned int i)
{
	const struct stats *stats = live_merge_peer_stats(o->peers, i);
	FILE *table = s->part[SCREEN_MERGED], *peers = s->part[SCREEN_PEERS];
	struct block own;

	/* Records wait this long for their other half, so say nothing before. */
	if (!stats || (!b->summary && stats->elapsed < UNMATCHED_SECONDS))
		return;
	fprintf(peers, "peer %u: ", i + 1);
	unmatched_print(live_merge_unmatched(o->peers), live_merge_stream(i),
			live_merge_machines(o->peers), peers);
	fputs("\n", peers);
	fprintf(table, "peer %u by itself, since it began:\n", i + 1);
	block_init(&own, stats, true, b->unicode, b->width);
	/* The result is ignored here: other code notices if memory runs out. */
	rows_print(&own, table, table);
	stages_print_side(stats, true, 0, figures_of(o), table, b->width, b->unicode);
}

/* Return: NULL without peers. */
static const struct totals *totals_of(const struct view_options *o, bool summary)
{
	if (!o->peers)
		return NULL;
	return o->again ? live_merge_last(o->peers) : live_merge_totals(o->peers, summary);
}

/* A screen with fewer lines has a head of one line, so that there is room for rows. */
#define HEAD_LINES_MIN 16
/* Lines of controllers that need an alarm, on a screen: the head must not fill it. */
#define ALARMS_MAX 4

static bool is_small(const struct view_options *o)
{
	return o->redraw && o->lines && o->lines < HEAD_LINES_MIN;
}

/* Lines of a small screen that stages cannot have: the other parts' and their own headings. */
#define OTHER_LINES 9

/* Which stages find room: all, or on a small screen the largest, unless the keys scroll them. */
static unsigned int most_stages(const struct view_options *o)
{
	if (!is_small(o) || (o->state && o->state->focus == VIEW_FOCUS_STAGES))
		return UINT_MAX;
	return o->lines > OTHER_LINES ? o->lines - OTHER_LINES : 1;
}

/* A screen with fewer lines has one for each peer, so that all ten stages are there. */
#define PEER_LINES_MIN 30

static bool is_short(const struct view_options *o)
{
	return o->redraw && o->lines && o->lines < PEER_LINES_MIN;
}

/* Whether a small screen needs no word of the peers: all of them send their streams. */
static bool peers_run(const struct live_merge *l)
{
	const struct peer *p;

	for (unsigned int i = 0; (p = live_merge_peer(l, i)); i++)
		if (peer_state(p) != PEER_RUNNING)
			return false;
	return true;
}

static bool is_filtered(const struct view_options *o)
{
	return o->state && o->state->filter[0];
}

/* Return: whether any commands were merged, 1 or 0; or -ENOMEM. */
static int merged_print(const struct view_options *o, const struct block *b, const struct screen *s,
			unsigned int wrap)
{
	const struct totals *m = totals_of(o, b->summary);
	bool any = false;
	int err = 0;

	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		any |= m->latency[op].count != 0;
	if (o->redraw && !b->summary && !is_filtered(o))
		err = stages_show_merged(m, NULL, most_stages(o), figures_of(o),
					 memory_of(o, b, true), s->part[SCREEN_MERGED], b->width,
					 b->unicode);
	else if (!o->redraw || b->summary)
		stages_print_merged(m, STAGES_ANY_OP, figures_of(o), s->part[SCREEN_MERGED],
				    b->width, b->unicode);
	if (b->summary || !o->redraw || !is_filtered(o))
		err = err
			      ?: connections_print_stages(m, NULL, NULL,
							  s->part[SCREEN_CONNECTIONS], wrap);
	if (!b->summary && is_short(o) && peers_run(o->peers))
		wrap = WRAP_CUT;
	if (b->summary || !is_small(o) || !peers_run(o->peers))
		peers_print(o->peers, b->summary, s->part[SCREEN_PEERS], wrap);
	for (unsigned int i = 0; !err && live_merge_peer(o->peers, i); i++)
		unmatched_show(o, b, s, i);
	/* For scripts. On a terminal the tables have the same. */
	if (!err && b->summary && !o->redraw)
		err = connections_print(live_merge_merge(o->peers), live_merge_machines(o->peers),
					s->part[SCREEN_PEERS])
			      ?: numbers_print_merged(m, s->part[SCREEN_PEERS]);
	return err ?: any;
}

/* The stages of the rows that match the filter. Return: 0 or -ENOMEM. */
static int filtered_stages_print(const struct view_options *o, const struct block *b,
				 const struct visible_rows *p, FILE *f)
{
	struct stages_sum *sum = visible_rows_stages(p, b->s, NULL, b->summary);
	int err = sum ? stages_show_side(b->s, sum, most_stages(o), figures_of(o), NULL, f,
					 b->width, b->unicode)
		      : -ENOMEM;

	free(sum);
	return err;
}

struct shown_rows {
	const struct visible_rows *p;
	const struct stats *s;
};

static bool is_shown(const void *context, const struct totals_row *t)
{
	const struct shown_rows *shown = context;

	return visible_rows_has(shown->p, shown->s, t);
}

/*
 * The merged commands of the rows that match the filter, and those of one side where none are.
 * Return: 0 or -ENOMEM.
 */
static int filtered_merged_print(const struct view_options *o, const struct block *b,
				 const struct visible_rows *p, const struct totals *m,
				 const struct screen *s)
{
	const struct shown_rows shown = {p, b->s};
	enum stages_scope scope;
	struct totals some;
	int err = visible_rows_merged(p, b->s, NULL, m, &some, &scope);

	if (!err && scope == STAGES_OF_NONE)
		err = filtered_stages_print(o, b, p, s->part[SCREEN_STAGES]);
	else if (!err)
		err = stages_show_merged(&some, &scope, most_stages(o), figures_of(o), NULL,
					 s->part[SCREEN_MERGED], b->width, b->unicode)
			      ?: connections_print_stages(m, is_shown, &shown,
							  s->part[SCREEN_CONNECTIONS], b->width);
	totals_free(&some);
	return err;
}

/* Prints the table of rows on a terminal, or the table of groups. Return: 0 or -ENOMEM. */
static int table_show(const struct block *b, const struct view_options *o, struct screen *s)
{
	const struct canvas canvas = {s->part[SCREEN_HISTOGRAMS], b->width, b->unicode};
	const struct view_state otherwise = {.choice = o->choice};
	const struct view_state *state = o->redraw && !b->summary ? o->state : NULL;
	const struct totals *m = totals_of(o, b->summary);
	struct visible_rows p;
	int err;

	state = state ?: &otherwise;
	err = visible_rows_make(&p, b->s, state, b->summary);
	if (!err && !p.from && controllers_before(o->controllers)) {
		fprintf(s->part[SCREEN_ROWS], "no commands but %" PRIu64 " from before tracing\n",
			controllers_before(o->controllers));
	} else if (!err && !p.from) {
		fputs("no commands\n", s->part[SCREEN_ROWS]);
	} else if (!err) {
		rows_print_visible(b, &p, o->redraw && !b->summary ? o->state : NULL,
				   s->part[SCREEN_ROWS], s->part[SCREEN_LEGEND]);
		if (p.table && o->choice->live_groups && live_groups_late(o->choice->live_groups))
			fprintf(s->part[SCREEN_LEGEND],
				"commands that are in no number of those in flight: %" PRIu64 "\n",
				live_groups_late(o->choice->live_groups));
		for (size_t i = 0; p.table && o->choice->scale.on && i < p.nr; i++)
			group_histogram_print(&p.row[i], p.table, o->choice, &canvas);
		if (!p.nr)
			fputs("no row matches the filter\n", s->part[SCREEN_ROWS]);
		while (s->stalled < p.nr && visible_rows_stalled(&p.row[s->stalled]))
			s->stalled++;
		if (state->keys && p.nr)
			s->marked = state->cursor < p.nr ? state->cursor : p.nr - 1;
		if (state->filter[0] && p.nr && !(m && m->commands))
			err = filtered_stages_print(o, b, &p, s->part[SCREEN_STAGES]);
	}
	if (!err && state->filter[0] && m && m->commands)
		err = filtered_merged_print(o, b, &p, m, s);
	visible_rows_free(&p);
	return err;
}

/* Losses, and groups near their limits, are always in SCREEN_LOSSES. */
static void losses_print(const struct view_options *o, const struct block *b, struct screen *s)
{
	FILE *f = s->part[SCREEN_LOSSES];
	/* If lines have no maximal length, all items are in one line. */
	unsigned int wrap = o->redraw ? b->width : WRAP_NEVER;

	if (o->limits && b->summary)
		limits_print_summary(o->limits, f);
	else if (o->limits)
		limits_print_interval(o->limits, f);
	if (b->summary) {
		/* For scripts. On a terminal the tables above already show these numbers. */
		if (!o->redraw)
			numbers_print_side(b->s, f);
		errors_print_run(&b->s->errors, "error", f);
		/* A person does not read zeroes; a script reads a pipe. */
		if (!o->redraw)
			losses_print_run(b->s, f);
		else if (!losses_print_some(b->s, f))
			fputs("no losses\n", f);
		return;
	}
	errors_print_interval(&b->s->errors, f, wrap);
	if (o->redraw)
		s->alarm = losses_print_brief(b->s, f, b->width);
	else
		losses_print_interval(b->s, f, wrap);
}

/*
 * A peer tells of commands that have ended. So which stage those in flight are in is known of this
 * machine's stages alone; those of the same controller before it say what it waits for.
 */
static void stalled_before_print(const struct stats *s, const struct live_merge *peers, FILE *f)
{
	const struct stats_row *row = stats_stalled(s);
	double ns[NT_MERGED_STAGES_NR] = {0}, all = 0;
	unsigned int most = 0;

	for (unsigned int of_all = 0; row && of_all < 2; of_all++) {
		const struct totals *m =
			of_all ? live_merge_totals(peers, true) : live_merge_last(peers);

		for (unsigned int i = 0; i < m->nr_rows; i++) {
			const struct totals_row *t = m->row[i];

			if (!t || !visible_rows_is_ctrl(s, row, t->connection))
				continue;
			for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++) {
				ns[k] += t->how.into[k] == k ? (double)t->sum[k] : 0;
				all += t->how.into[k] == k ? (double)t->sum[k] : 0;
			}
		}
	}
	for (unsigned int k = 1; k < NT_MERGED_STAGES_NR; k++)
		most = ns[k] > ns[most] ? k : most;
	if (all > 0)
		fprintf(f, "merged commands of %s before that: %.1f %% of the time in %s\n",
			row->controller, ns[most] / all * 100, merged_stage_name(most));
}

static void head_show(const struct view_options *o, const struct block *b, const struct screen *s)
{
	bool screen = o->redraw && !b->summary, small = is_small(o);
	unsigned int alarms = !screen ? UINT_MAX : small ? 1 : ALARMS_MAX;

	if (screen && small)
		head_print_brief(b->s, o->controllers, s->part[SCREEN_HEAD]);
	else
		head_print(b->s, o->controllers, b->summary, s->part[SCREEN_HEAD],
			   o->redraw ? b->width : WRAP_NEVER);
	if (!b->summary)
		alarms_print(b->s, o->controllers, alarms, s->part[SCREEN_ALARMS]);
	if (!b->summary && o->peers && !(screen && small))
		stalled_before_print(b->s, o->peers, s->part[SCREEN_ALARMS]);
	/* A stall may be over whenever one looks. */
	if (o->stalls && !o->stalls->now && !(screen && small))
		stalls_print(o->stalls, s->part[SCREEN_ALARMS]);
	if (b->summary && o->peers)
		why_print_live(o->peers, s->part[SCREEN_ALARMS], o->redraw ? b->width : WRAP_NEVER,
			       true);
}

/* Return: 0 or -ENOMEM. */
static int parts_print(const struct view_options *o, const struct block *b, struct screen *s)
{
	unsigned int wrap = o->redraw ? b->width : WRAP_NEVER;
	int merged = o->peers ? merged_print(o, b, s, wrap) : 0, err;

	if (merged < 0)
		return merged;
	head_show(o, b, s);
	if (o->choice || (o->redraw && !b->summary))
		err = table_show(b, o, s);
	else
		err = rows_print(b, s->part[SCREEN_ROWS], s->part[SCREEN_LEGEND]);
	if (!merged && o->redraw && !b->summary && !ftell(s->part[SCREEN_STAGES]))
		err = err
			      ?: stages_show_side(b->s, NULL, most_stages(o), figures_of(o),
						  memory_of(o, b, false), s->part[SCREEN_STAGES],
						  b->width, b->unicode);
	else if ((!merged && !o->redraw) || b->summary)
		stages_print_side(b->s, b->summary, 0, figures_of(o), s->part[SCREEN_STAGES],
				  b->width, b->unicode);
	if (!merged && !b->summary && !ftell(s->part[SCREEN_STAGES]))
		stages_print_waiting(b->s, s->part[SCREEN_STAGES]);
	if (o->histogram)
		histograms_print(b, s->part[SCREEN_HISTOGRAMS]);
	if (b->s->tcp.asked && !o->redraw && !b->summary)
		tcp_print(&b->s->tcp, s->part[SCREEN_CONNECTIONS], b->width);
	if (b->s->disks.asked)
		disks_print(b->s, b->summary, s->part[SCREEN_CONNECTIONS], b->width);
	path_events_print(b->s, o->redraw || b->summary, s->part[SCREEN_EVENTS]);
	losses_print(o, b, s);
	return err;
}

/* Prints a page instead of the tables. Return: 0 or -ENOMEM. */
static int page_print(const struct view_options *o, const struct block *b, struct screen *s)
{
	FILE *f = s->part[SCREEN_PAGE];
	struct visible_rows p;
	int err = 0;

	head_show(o, b, s);
	switch (o->state->page) {
	case VIEW_LOSSES:
		page_losses_print(b, f);
		break;
	case VIEW_TCP:
		page_tcp_print(b, f);
		break;
	case VIEW_WHY:
		page_why_print(o->peers, b->width, f);
		break;
	case VIEW_HELP:
		page_help_print(f, b->width);
		break;
	default:
		err = visible_rows_make(&p, b->s, o->state, false)
			      ?: page_row_print(b, &p, o->state, totals_of(o, false), f);
		visible_rows_free(&p);
	}
	losses_print(o, b, s);
	return err;
}

/* Lets the keys have the table that the user has chosen, if it is there. */
static void focus_find(struct view_state *state, struct screen *s)
{
	static const unsigned char parts[VIEW_FOCUS_NR][2] = {
		[VIEW_FOCUS_ROWS] = {SCREEN_ROWS, SCREEN_ROWS},
		[VIEW_FOCUS_STAGES] = {SCREEN_MERGED, SCREEN_STAGES},
		[VIEW_FOCUS_CONNECTIONS] = {SCREEN_CONNECTIONS, SCREEN_CONNECTIONS},
		[VIEW_FOCUS_HISTOGRAMS] = {SCREEN_HISTOGRAMS, SCREEN_HISTOGRAMS},
	};
	const unsigned char *part;

	/* One that is not there passes the keys on, and at last to the rows. */
	for (; state->focus; state->focus = (state->focus + 1) % VIEW_FOCUS_NR) {
		part = parts[state->focus];
		s->focus = ftell(s->part[part[0]]) ? part[0] : part[1];
		if (ftell(s->part[s->focus]))
			return;
	}
	s->focus = SCREEN_ROWS;
}

/* Return: 0 or -ENOMEM. */
static int contents_print(const struct view_options *o, const struct block *b, struct screen *s)
{
	bool looked = o->state && o->redraw && !b->summary;
	bool page = looked && o->state->page != VIEW_TABLE;
	int err;

	s->colour = o->colour;
	s->top = looked ? o->state->top : 0;
	err = page ? page_print(o, b, s) : parts_print(o, b, s);
	if (page)
		s->focus = SCREEN_PAGE;
	else if (looked)
		focus_find(o->state, s);
	if (looked && o->state->keys)
		keys_print(o->state, s->part[SCREEN_KEYS]);
	return err;
}

static int text_show(const struct stats *stats, struct view_options *o, bool summary)
{
	struct drawing d = {.o = o, .summary = summary};
	struct screen s;
	struct block b;
	int err;

	block_init(&b, stats, summary, o->unicode, width_of(o));
	d.s = &s;
	d.width = b.width;
	err = screen_open(&s);
	if (!err)
		err = contents_print(o, &b, &s);
	if (!err)
		err = screen_close(&s);
	if (!err)
		err = write_whole(o, summary, draw_text, &d);
	if (!err && o->redraw)
		o->entered = o->alternate && !summary;
	if (o->state && !summary)
		o->state->top = s.top;
	screen_free(&s);
	return err;
}

static int block_show(const struct stats *stats, struct view_options *o, bool summary)
{
	const struct drawing d = {.o = o, .stats = stats, .summary = summary};
	int err;

	if (o->format == FORMAT_TEXT)
		return text_show(stats, o, summary);
	err = write_whole(o, summary, o->format == FORMAT_JSON ? draw_json : draw_csv, &d);
	o->begun |= !err;
	return err;
}

int view_interval(const struct stats *s, struct view_options *o)
{
	return block_show(s, o, false);
}

int view_summary(const struct stats *s, struct view_options *o)
{
	return block_show(s, o, true);
}

static unsigned int size_from_env(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);
	long n = text ? strtol(text, NULL, 10) : 0;

	/* A larger number is not a terminal's size. */
	return n > 0 && n <= 10000 ? (unsigned int)n : otherwise;
}

void view_resize(struct view_options *o)
{
	struct winsize ws = {0};

	if (!o->redraw)
		return;
	/* On a serial line the call succeeds with a size of 0 x 0. */
	if (ioctl(fileno(o->out), TIOCGWINSZ, &ws))
		memset(&ws, 0, sizeof(ws));
	o->columns = ws.ws_col ? ws.ws_col : size_from_env("COLUMNS", DEFAULT_COLUMNS);
	o->lines = ws.ws_row ? ws.ws_row : size_from_env("LINES", DEFAULT_LINES);
}

void view_format(struct view_options *o, enum output_format format)
{
	o->format = format;
	if (format != FORMAT_TEXT)
		o->redraw = false;
}

/*
 * If NO_COLOR has a value, the user wants no colour (no-color.org). Unknown terminals may show the
 * sequences as text.
 */
static bool has_colour(const char *term)
{
	static const char *const with[] = {"xterm", "screen", "tmux",	 "linux",  "rxvt",
					   "vte",   "gnome",  "konsole", "putty",  "alacritty",
					   "kitty", "foot",   "st-",	 "wezterm"};
	const char *no = getenv("NO_COLOR");
	bool any = term && strstr(term, "color");

	for (size_t i = 0; term && i < ARRAY_SIZE(with); i++)
		any |= !strncmp(term, with[i], strlen(with[i]));
	return any && !(no && no[0]);
}

void view_setup(struct view_options *o, FILE *out)
{
	const char *term = getenv("TERM");

	*o = (struct view_options){
		.out = out,
		.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		/* Terminals such as the shell of Emacs cannot move the cursor. */
		.redraw = isatty(fileno(out)) && !(term && !strcmp(term, "dumb")),
		.columns = PIPE_COLUMNS,
	};
	o->colour = o->redraw && has_colour(term);
	view_resize(o);
}
