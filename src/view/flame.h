/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths through the kernel as a flame graph: an SVG with a script of its own, which a browser shows
 * without a network. A click zooms, and names can be searched for.
 */
#ifndef NTPROF_VIEW_FLAME_H
#define NTPROF_VIEW_FLAME_H

#include <stdio.h>

#include "core/paths.h"
#include "view/paths.h"

/* How the file begins, by which one that may be replaced is known. */
#define FLAME_BEGINS "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"ntprof-bpf-stacks\""

/**
 * flame_print() - each function is as wide as commands came through it, and stands on its caller
 *
 * Return: 0 or -ENOMEM.
 */
int flame_print(const struct paths *paths, const struct paths_run *run, FILE *f);

#endif /* NTPROF_VIEW_FLAME_H */
