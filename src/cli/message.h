/* SPDX-License-Identifier: GPL-2.0-only */
/* Error messages with names that come from outside, such as those of files. */
#ifndef NTPROF_CLI_MESSAGE_H
#define NTPROF_CLI_MESSAGE_H

/**
 * message() - print a line on standard error, after "ntprof-bpf: "
 *
 * Control characters, which a terminal would obey, and bytes that are not UTF-8 become question
 * marks.
 */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

#endif /* NTPROF_CLI_MESSAGE_H */
