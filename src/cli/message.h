/* SPDX-License-Identifier: GPL-2.0-only */
/* Errors that name what others chose: files, for one. */
#ifndef NTPROF_CLI_MESSAGE_H
#define NTPROF_CLI_MESSAGE_H

/** message() - a line on standard error, after "ntprof-bpf: ". What a terminal would obey becomes question marks */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

#endif /* NTPROF_CLI_MESSAGE_H */
