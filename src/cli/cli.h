/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: finds the verb, runs it, and prints the help about all verbs. */
#ifndef NTPROF_CLI_CLI_H
#define NTPROF_CLI_CLI_H

/**
 * cli_begin() - call before anything else
 *
 * Opens the descriptors 0 to 2 if they are closed. Otherwise a file that is opened later would
 * become standard output or standard error, and would get everything written to them. Then, if this
 * process is root or has capabilities, protects its memory from other processes (rights_hide()).
 * Then hash tables get new secret numbers (hash_seed()).
 */
void cli_begin(void);

/**
 * cli_main() - run the command line
 * @argc, @argv: from main()
 *
 * Return: the program's exit status. A wrong command line exits with 64 (EX_USAGE).
 */
int cli_main(int argc, char **argv);

#endif /* NTPROF_CLI_CLI_H */
