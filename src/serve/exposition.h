/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes samples as text: OpenMetrics 1.0, and the older text format of Prometheus (0.0.4) for
 * clients that read only that. Numbers are integers in the unit in which they are counted
 * (nanoseconds, bytes), and are written exactly.
 */
#ifndef NTPROF_SERVE_EXPOSITION_H
#define NTPROF_SERVE_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/hist.h"

/*
 * The table of the metrics of `serve`. docs/metrics.md has the same, line by line, and serve/page.c
 * writes each of them. Names follow the conventions of Prometheus: base units, named in the name.
 */

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO, METRIC_TYPES };

/*
 * X(identifier, name, type, unit, labels, help). The samples of a counter have the name NAME_total,
 * that of an info NAME_info. QUEUE stands for the labels of a row: controller, NQN, operation, and
 * the queue if that was asked for.
 */
#define METRICS(X)                                                                                          \
	X(BUILD, "ntprof_build", INFO, "", "version", "The program")                                        \
	X(TRACER, "ntprof_tracer", INFO, "", "side, source, driver, kernel",                                \
	  "What is traced, and where its points come from")                                                 \
	X(TRACING, "ntprof_tracing", GAUGE, "", "side",                                                     \
	  "1 while the driver is traced, in bursts or always; 0 while its module is waited for")            \
	X(SAMPLE, "ntprof_sample_ratio", GAUGE, "ratio", "side",                                            \
	  "Share of the commands that are measured: 1 without --sample")                                    \
	X(POINTS, "ntprof_points", INFO, "", "side, points",                                                \
	  "The points that each command has: all of them, or its ends")                                     \
	X(STAGES_RATIO, "ntprof_stages_ratio", GAUGE, "ratio", "side",                                      \
	  "Share of the time in which stages are measured: 1 without --stages")                             \
	X(COMMAND_DURATION, "ntprof_command_duration_seconds", HISTOGRAM, "seconds", "QUEUE",               \
	  "Latency of commands that ended well and were measured")                                          \
	X(STAGE_DURATION, "ntprof_stage_duration_seconds", HISTOGRAM, "seconds",                            \
	  "side, controller (host), subsysnqn, operation, stage",                                           \
	  "Time that these commands spent in a stage of this side; see ntprof_stages_ratio")                \
	X(COMMANDS, "ntprof_commands", COUNTER, "", "QUEUE",                                                \
	  "Commands that ended well, measured or not")                                                      \
	X(BYTES, "ntprof_command_bytes", COUNTER, "bytes", "QUEUE",                                         \
	  "Data that these commands transferred")                                                           \
	X(ERRORS, "ntprof_command_errors", COUNTER, "", "QUEUE",                                            \
	  "Commands that ended with an error; 0 is shown before the first one")                             \
	X(STATUSES, "ntprof_command_error_statuses", COUNTER, "", "QUEUE, status",                          \
	  "The same by status")                                                                             \
	X(RETRIES, "ntprof_command_retries", COUNTER, "", "side",                                           \
	  "Commands that were sent again (retry, reset)")                                                   \
	X(TIMEOUTS, "ntprof_command_timeouts", COUNTER, "", "side",                                         \
	  "Commands that took longer than the host waits")                                                  \
	X(FAILOVERS, "ntprof_command_failovers", COUNTER, "", "side",                                       \
	  "Commands that the host gave to another path")                                                    \
	X(LOSSES, "ntprof_losses", COUNTER, "", "side, reason",                                             \
	  "What is in no figure or in less than it should be, by the names of the live view")               \
	X(LOSS_QUEUES, "ntprof_loss_queues", GAUGE, "", "side, reason",                                     \
	  "Queues that the commands of no_slot and hist_full are of")                                       \
	X(IN_FLIGHT, "ntprof_commands_in_flight", GAUGE, "", "QUEUE",                                       \
	  "Commands that have begun and not ended")                                                         \
	X(OLDEST, "ntprof_oldest_command_seconds", GAUGE, "seconds", "QUEUE",                               \
	  "Age of the oldest of them; 0 without one")                                                       \
	X(AT_DEVICE, "ntprof_commands_at_device", GAUGE, "", "QUEUE",                                       \
	  "Those of them that the target's device has been given and has not answered")                     \
	X(CONTROLLERS, "ntprof_controllers", GAUGE, "", "side", "Controllers connected")                    \
	X(CONTROLLER, "ntprof_controller", INFO, "", "side, controller, subsysnqn, transport",              \
	  "Host: the transport of each controller that has series of its own")                              \
	X(QUEUES, "ntprof_queues", GAUGE, "", "side", "Queues connected, admin queues included")            \
	X(FOLDED, "ntprof_folded_series", GAUGE, "", "side",                                                \
	  "Label sets that are under \"other\", because there are too many")                                \
	X(ROWS_GONE, "ntprof_gone_rows", COUNTER, "", "side",                                               \
	  "Queues and operations of connections that ended, whose figures are now together")                \
	X(PROGRAMS, "ntprof_bpf_programs", GAUGE, "", "side", "BPF programs attached")                      \
	X(MAPS, "ntprof_bpf_map_bytes", GAUGE, "bytes", "side", "Locked memory of BPF maps")                \
	X(RUNS, "ntprof_bpf_runs", COUNTER, "", "side, program",                                            \
	  "Runs of a BPF program, while kernel.bpf_stats_enabled is 1")                                     \
	X(RUN_TIME, "ntprof_bpf_run_seconds", COUNTER, "seconds", "side, program",                          \
	  "Time that these runs took on all CPUs, as long")                                                 \
	X(TCP_CONNECTIONS, "ntprof_tcp_connections", GAUGE, "",                                             \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "TCP connections of the queues whose state was read, with --tcp")                                 \
	X(TCP_SRTT, "ntprof_tcp_smoothed_rtt_seconds", GAUGE, "seconds",                                    \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "The longest smoothed round trip time of these connections")                                      \
	X(TCP_CWND, "ntprof_tcp_congestion_window_segments", GAUGE, "segments",                             \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "The smallest congestion window of these connections")                                            \
	X(TCP_QUEUED, "ntprof_tcp_unacknowledged_bytes", GAUGE, "bytes",                                    \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Bytes that were given to TCP and are not acknowledged")                                          \
	X(TCP_NOTSENT, "ntprof_tcp_unsent_bytes", GAUGE, "bytes",                                           \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Those of them that have not been sent")                                                          \
	X(TCP_SENT, "ntprof_tcp_sent_bytes", COUNTER, "bytes",                                              \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Bytes that were sent, those sent again included")                                                \
	X(TCP_RETRANSMITTED, "ntprof_tcp_retransmitted_segments", COUNTER, "segments",                      \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Segments that were sent again")                                                                  \
	X(TCP_BUSY, "ntprof_tcp_busy_seconds", COUNTER, "seconds",                                          \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Time of connections in which there was something to send")                                       \
	X(TCP_WINDOW_LIMITED, "ntprof_tcp_window_limited_seconds", COUNTER, "seconds",                      \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Time of these in which the peer's window limited it")                                            \
	X(TCP_BUFFER_LIMITED, "ntprof_tcp_buffer_limited_seconds", COUNTER, "seconds",                      \
	  "side, controller and subsysnqn (host) or hostnqn (target)",                                      \
	  "Time of these in which the own send buffer limited it")                                          \
	X(TCP_UNREAD, "ntprof_tcp_unread_connections", GAUGE, "", "side",                                   \
	  "TCP connections whose state was not read, because there are too many")                           \
	X(DISK_REQUESTS, "ntprof_disk_requests", COUNTER, "", "side, disk, by, who",                        \
	  "Requests to a disk behind the target that have ended, by who made them, with --disks")           \
	X(DISK_BYTES, "ntprof_disk_bytes", COUNTER, "bytes", "side, disk, by, who",                         \
	  "Bytes of their data")                                                                            \
	X(DISK_TIME, "ntprof_disk_busy_seconds", COUNTER, "seconds", "side, disk, by, who",                 \
	  "Time that the disk had them, the sum of all")                                                    \
	X(PATH_EVENTS, "ntprof_path_events", COUNTER, "",                                                   \
	  "side, controller, subsysnqn, event, state",                                                      \
	  "What happened to controllers: their states, failed attempts to reconnect, timeouts, ANA states") \
	X(PATH_EVENTS_LOST, "ntprof_path_events_lost", COUNTER, "", "side",                                 \
	  "Those that were too many at once to be read")                                                    \
	X(KEPT, "ntprof_recorder_records", GAUGE, "", "side",                                               \
	  "Records that the flight recorder keeps")                                                         \
	X(KEPT_SECONDS, "ntprof_recorder_kept_seconds", GAUGE, "seconds", "side",                           \
	  "Age of the oldest of them")                                                                      \
	X(KEPT_BYTES, "ntprof_recorder_memory_bytes", GAUGE, "bytes", "side",                               \
	  "Memory that they take")                                                                          \
	X(KEPT_LEFT_OUT, "ntprof_recorder_left_out", COUNTER, "", "side",                                   \
	  "Records that went before their time, for want of memory (--keep-bytes)")                         \
	X(KEPT_UNNAMED, "ntprof_recorder_unnamed", COUNTER, "", "side",                                     \
	  "Names without room: of a namespace, or of a connection in a block of records")                   \
	X(TRIGGERS, "ntprof_recorder_triggers", COUNTER, "", "side, trigger",                               \
	  "How often it was set off, by what; also while it was writing")                                   \
	X(FILES, "ntprof_recorder_files", COUNTER, "", "side, result",                                      \
	  "Files: written, failed, or removed to make room")                                                \
	X(NEWEST_FILE, "ntprof_recorder_newest_file_timestamp_seconds", GAUGE, "seconds",                   \
	  "side, file", "When the file was set off that was written last, since 1970 in UTC")               \
	X(FILES_NOW, "ntprof_recorder_folder_files", GAUGE, "", "side", "Files that there are")             \
	X(FILES_BYTES, "ntprof_recorder_folder_bytes", GAUGE, "bytes", "side", "What they take")            \
	X(DISK_WAIT, "ntprof_recorder_disk_wait_seconds", GAUGE, "seconds", "side",                         \
	  "Time since the disk was asked for something that it has not answered")                           \
	X(MERGED_DURATION, "ntprof_merged_command_duration_seconds", HISTOGRAM, "seconds",                  \
	  "side, operation",                                                                                \
	  "Latency of commands that host and target both recorded, and that succeeded")                     \
	X(MERGED_STAGE_DURATION, "ntprof_merged_stage_duration_seconds", HISTOGRAM, "seconds",              \
	  "side, operation, stage",                                                                         \
	  "Time that these commands spent in each of the ten stages of both sides")                         \
	X(MERGED_RECORDS, "ntprof_merged_records", COUNTER, "", "side, result",                             \
	  "What became of records: pairs that are a command, and records without their other half")         \
	X(MERGED_LOSSES, "ntprof_merged_losses", COUNTER, "", "side, reason",                               \
	  "What is in no merged figure or in less than it should be")                                       \
	X(MERGED_UNDECIDED, "ntprof_merged_undecided_records", GAUGE, "", "side",                           \
	  "Records that wait for their other half")                                                         \
	X(PEER, "ntprof_peer", INFO, "", "side, peer, hostname, kernel",                                    \
	  "What a peer says of itself, once it does")                                                       \
	X(PEER_STATE, "ntprof_peer_state", GAUGE, "", "side, peer, state",                                  \
	  "1 for the state that a peer is in, 0 for the others")                                            \
	X(PEER_RESTARTS, "ntprof_peer_restarts", COUNTER, "", "side, peer",                                 \
	  "Times that a peer's command was started again")                                                  \
	X(PEER_SILENT, "ntprof_peer_silent_seconds", GAUGE, "seconds", "side, peer",                        \
	  "Time since something came from a peer")                                                          \
	X(PEER_RECORDS, "ntprof_peer_records", COUNTER, "", "side, peer",                                   \
	  "Commands in the stream of a peer")                                                               \
	X(PEER_LOSSES, "ntprof_peer_losses", COUNTER, "", "side, peer, reason",                             \
	  "What a peer says that it lost, and what it sent that this version does not know")                \
	X(CONNECTIONS, "ntprof_http_connections", COUNTER, "", "side",                                      \
	  "Connections of scrapers that were accepted")                                                     \
	X(RESPONSES, "ntprof_http_responses", COUNTER, "", "side, code",                                    \
	  "Answers to requests that could be read, by status")                                              \
	X(OVERDUE, "ntprof_http_overdue", COUNTER, "", "side",                                              \
	  "Connections that were closed because they took too long")                                        \
	X(DISPLACED, "ntprof_http_displaced", COUNTER, "", "side",                                          \
	  "Connections that were closed because newer ones had no room")                                    \
	X(CPU, "process_cpu_seconds", COUNTER, "seconds", "",                                               \
	  "CPU time of this process, user and system")                                                      \
	X(RESIDENT, "process_resident_memory_bytes", GAUGE, "bytes", "",                                    \
	  "Resident memory of this process")                                                                \
	X(STARTED, "process_start_time_seconds", GAUGE, "seconds", "",                                      \
	  "When this process began, since 1970 in UTC")

#define METRIC_ENUM(id, name, type, unit, labels, help) METRIC_##id,
enum metric_id { METRICS(METRIC_ENUM) METRICS_NR };

/**
 * struct metric - one metric family
 * @unit: "" if there is none; otherwise the end of @name
 * @labels: for people
 */
struct metric {
	const char *name;
	enum metric_type type;
	const char *unit;
	const char *labels;
	const char *help;
};

/** metric_of() - a metric's row of the table */
const struct metric *metric_of(enum metric_id id);

/** metric_type_name() - the type's name in OpenMetrics, such as "counter" */
const char *metric_type_name(enum metric_type type);

enum exposition_format { EXPOSITION_OPENMETRICS, EXPOSITION_PROMETHEUS, EXPOSITION_FORMATS };

/*
 * Bounds of histograms: each power of two from 2^LOWEST to 2^HIGHEST nanoseconds, and +Inf. No
 * bucket of shared/buckets.h is split by them. A duration that equals a bound is counted above the
 * bound.
 */
#define EXPOSITION_LOWEST 10
#define EXPOSITION_HIGHEST NT_MAX_BITS
#define EXPOSITION_BUCKETS (EXPOSITION_HIGHEST - EXPOSITION_LOWEST + 2)

/**
 * struct exposition_hist - a histogram as scrapers have seen it
 * @below: number of durations below each bound; the last one is the number of all
 * @sum: nanoseconds
 */
struct exposition_hist {
	uint64_t below[EXPOSITION_BUCKETS];
	unsigned __int128 sum;
};

/**
 * exposition_grow() - raise the figures of a histogram to the present ones
 * @told: the figures that scrapers have seen; all zeroes at first
 * @h: the present figures
 *
 * A scraper takes a counter that falls for one that was reset. While commands end, a collection may
 * count one too many and take it back in the next one (trace/collect.c). Such a figure stays until
 * the present one is higher.
 */
void exposition_grow(struct exposition_hist *told, const struct exposition_hist *h);

/** exposition_add() - add a histogram to @sum */
void exposition_add(struct exposition_hist *sum, const struct hist *h);

/**
 * struct exposition - the output and its format
 * @f: stream
 * @created_ms: when counters began to count: milliseconds since 1970
 * @metric: the metric that the next samples are of
 */
struct exposition {
	FILE *f;
	enum exposition_format format;
	uint64_t created_ms;
	const struct metric *metric;
};

/** exposition_content_type() - the value of the header Content-Type */
const char *exposition_content_type(enum exposition_format format);

/**
 * exposition_begin() - write the lines before the samples of a metric, which have to follow at once
 */
void exposition_begin(struct exposition *e, enum metric_id id);

/**
 * exposition_value() - write a sample of a counter or gauge, or the sample of an info, which is 1
 * @labels: from exposition_label(); "" without labels
 */
void exposition_value(const struct exposition *e, const char *labels, uint64_t n);

/** exposition_with() - the same, with the additional label @name="@text" */
void exposition_with(const struct exposition *e, const char *labels, const char *name,
		     const char *text, uint64_t n);

/** exposition_ns() - the same for nanoseconds, which are written as seconds */
void exposition_ns(const struct exposition *e, const char *labels, unsigned __int128 ns);

/** exposition_ratio() - write @part / @whole; 1 if @whole is 0 */
void exposition_ratio(const struct exposition *e, const char *labels, uint64_t part,
		      uint64_t whole);

/* Limit for names and values of an exemplar's labels together: OpenMetrics 1.0, "Exemplars". */
#define EXPOSITION_EXEMPLAR_LEN 128

/**
 * struct exposition_exemplar - one of the durations of a histogram
 * @ns: the duration; 0: there is none
 * @at_ms: when it was observed: milliseconds since 1970
 */
struct exposition_exemplar {
	char labels[EXPOSITION_EXEMPLAR_LEN];
	uint64_t ns;
	uint64_t at_ms;
};

/**
 * exposition_hist() - write the samples of a histogram
 * @exemplar: one of its durations, or NULL; left out in the older format
 */
void exposition_hist(const struct exposition *e, const char *labels,
		     const struct exposition_hist *h, const struct exposition_exemplar *exemplar);

/** exposition_end() - write the end of the text */
void exposition_end(const struct exposition *e);

/*
 * Room for the labels of one sample: two NQNs of NT_NQN_LEN bytes, where a byte may take six, and
 * the others.
 */
#define EXPOSITION_LABELS_LEN 4096

/**
 * exposition_label() - append a label to @labels
 * @labels: EXPOSITION_LABELS_LEN bytes; "" at first
 * @text: its value, any bytes: hidden characters and bytes that are not UTF-8 are replaced
 *        (TEXT_SEEN), backslashes and quotes are escaped, and a text longer than the longest
 *        NQN is cut
 */
void exposition_label(char *labels, const char *name, const char *text);

#endif /* NTPROF_SERVE_EXPOSITION_H */
