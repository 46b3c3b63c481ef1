/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that somebody else chose: names in a recorded stream, of a peer, of a file. A terminal obeys
 * what it is sent, so they are not shown as they are.
 */
#ifndef NTPROF_CORE_TEXT_H
#define NTPROF_CORE_TEXT_H

#include <stdio.h>

/**
 * text_print() - print a string so that it cannot do more than be read
 * @f: where to
 * @s: every byte but printable ASCII, and the backslash, comes out as \xHH
 */
void text_print(FILE *f, const char *s);

#endif /* NTPROF_CORE_TEXT_H */
