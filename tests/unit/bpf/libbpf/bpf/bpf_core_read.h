/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stands in for libbpf's header where programs of bpf/ are compiled for this machine. Structures of
 * the kernel are those of vmlinux.h, without relocation, and every address may be read.
 */
#ifndef NTPROF_TESTS_BPF_CORE_READ_H
#define NTPROF_TESTS_BPF_CORE_READ_H

#define READ_1(s, a) ((s)->a)
#define READ_2(s, a, b) ((s)->a->b)
#define READ_3(s, a, b, c) ((s)->a->b->c)
#define READ_4(s, a, b, c, d) ((s)->a->b->c->d)
#define READ_NAME(s, a, b, c, d, name, ...) name
#define BPF_CORE_READ(...) READ_NAME(__VA_ARGS__, READ_4, READ_3, READ_2, READ_1)(__VA_ARGS__)

#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_enum_value(type, value) value
/*
 * Of the optional features of kernels, this one has only CLOCK_TAI; with KERNEL_IS_NEW it has all.
 */
#ifdef KERNEL_IS_NEW
#define bpf_core_enum_value_exists(type, value) 1
#else
#define bpf_core_enum_value_exists(type, value) \
	(__builtin_strcmp(#value, "BPF_FUNC_ktime_get_tai_ns") == 0)
#endif
#define bpf_core_field_exists(field) 1
#define bpf_core_field_offset(type, member) __builtin_offsetof(type, member)

#endif /* NTPROF_TESTS_BPF_CORE_READ_H */
