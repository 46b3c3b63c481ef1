/* SPDX-License-Identifier: GPL-2.0-only */
/* What becomes of what is printed to standard output with stdio: a disk that is full is told of, whoever has printed. */
#ifndef NTPROF_CLI_STANDARD_OUTPUT_H
#define NTPROF_CLI_STANDARD_OUTPUT_H

/**
 * standard_output_may_close() - from now on the program ends well, and at once, when nobody reads its output any more
 *
 * For a verb that only prints: its reader has seen enough ("| head").
 */
void standard_output_may_close(void);

/** standard_output_watch() - once: when the program ends, what could not be written is told, and it ends with status 1 */
void standard_output_watch(void);

/**
 * standard_output_finish() - hand all that was printed to the kernel
 *
 * Return: 0 or a negative errno, which the caller tells: then nothing else does.
 */
int standard_output_finish(void);

#endif /* NTPROF_CLI_STANDARD_OUTPUT_H */
