/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Errors of writing to standard output with stdio, such as a full disk, are reported, whichever
 * function printed.
 */
#ifndef NTPROF_CLI_STANDARD_OUTPUT_H
#define NTPROF_CLI_STANDARD_OUTPUT_H

/**
 * standard_output_may_close() - from now on the program ends at once and with success if the reader
 * of its output is gone
 *
 * For verbs that only print, whose reader may have seen enough ("| head").
 */
void standard_output_may_close(void);

/**
 * standard_output_watch() - call once: if writing has failed, the program prints a message at its
 * end and exits with 1
 */
void standard_output_watch(void);

/**
 * standard_output_finish() - write all that was printed
 *
 * Return: 0 or a negative errno, which the caller has to report, as then nothing else does.
 */
int standard_output_finish(void);

#endif /* NTPROF_CLI_STANDARD_OUTPUT_H */
