/* SPDX-License-Identifier: GPL-2.0-only */
/* See bpf_core_read.h. kernel.h defines the helpers. */
#ifndef NTPROF_TESTS_BPF_HELPERS_H
#define NTPROF_TESTS_BPF_HELPERS_H

#include <stddef.h>

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#define __array(name, value) __typeof__(value) *name[]
#undef __noinline
#define __noinline __attribute__((noinline))
#undef __always_inline
/* Without optimization it takes eight times as long to compile what is inlined everywhere. */
#ifdef __OPTIMIZE__
#define __always_inline inline __attribute__((always_inline))
#else
#define __always_inline inline
#endif

void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags);
long bpf_map_delete_elem(void *map, const void *key);
__u32 bpf_get_smp_processor_id(void);
__u64 bpf_ktime_get_ns(void);
__u64 bpf_ktime_get_tai_ns(void);
__u32 bpf_get_prandom_u32(void);
void *bpf_get_current_task_btf(void);
__u64 bpf_get_current_pid_tgid(void);
long bpf_get_stack(void *ctx, void *buf, __u32 size, __u64 flags);
long bpf_probe_read_kernel(void *dst, __u32 size, const void *src);
long bpf_probe_read_kernel_str(void *dst, __u32 size, const void *src);
long bpf_get_func_arg(void *ctx, __u32 n, __u64 *value);
long bpf_ringbuf_output(void *ringbuf, void *data, __u64 size, __u64 flags);
void *bpf_ringbuf_reserve(void *ringbuf, __u64 size, __u64 flags);
void bpf_ringbuf_submit(void *data, __u64 flags);
void *bpf_sk_storage_get(void *map, void *sk, void *value, __u64 flags);
__u64 bpf_ringbuf_query(void *ringbuf, __u64 flags);

#endif /* NTPROF_TESTS_BPF_HELPERS_H */
