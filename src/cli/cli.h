/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: which verb it names, and the help on all of them.
 */
#ifndef NTPROF_CLI_CLI_H
#define NTPROF_CLI_CLI_H

/**
 * cli_begin() - before anything else: descriptors 0 to 2 are open, and what root or capabilities may is kept from other processes
 *
 * A file that is opened later would else become standard output or standard error, and get what is written to these.
 */
void cli_begin(void);

/**
 * cli_main() - do what the command line says
 * @argc, @argv: as main() got them
 *
 * Return: the program's exit status. A command line that is wrong exits with 64 (EX_USAGE).
 */
int cli_main(int argc, char **argv);

#endif /* NTPROF_CLI_CLI_H */
