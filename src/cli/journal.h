/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines for the journal: on standard error, with the priority in front of them, as sd-daemon(3) has it, where that is what
 * $JOURNAL_STREAM says it is; else without.
 */
#ifndef NTPROF_CLI_JOURNAL_H
#define NTPROF_CLI_JOURNAL_H

/* Of syslog(3). */
enum journal_priority { JOURNAL_WARNING = 4, JOURNAL_NOTICE = 5 };

/** journal() - tell a line, which ends with @format */
void journal(enum journal_priority priority, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* NTPROF_CLI_JOURNAL_H */
