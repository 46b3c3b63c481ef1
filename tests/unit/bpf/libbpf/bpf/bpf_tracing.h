/* SPDX-License-Identifier: GPL-2.0-only */
/* See bpf_core_read.h. Here a program is a function that takes its context before its arguments. */
#ifndef NTPROF_TESTS_BPF_TRACING_H
#define NTPROF_TESTS_BPF_TRACING_H

#define BPF_PROG(name, ...) name(unsigned long long *ctx, __VA_ARGS__)
#define NT_PROG_LEAVING(where, nothing, name, ...) BPF_PROG(name, __VA_ARGS__)

#endif /* NTPROF_TESTS_BPF_TRACING_H */
