/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that have nothing to do for most commands, where not all are measured.
 *
 * A program saves the registers that any part of it keeps over a call, each time that it is run, and reads arguments
 * before it is known whether they are needed: together that is twice as much as the look at the counter that says that
 * there is nothing to do. So where commands may be left out, all but that look is a function, which saves for itself, and
 * where all are measured it is not: a knob is a constant when the verifier runs, and one of the two is removed.
 *
 * The compiler is kept from knowing what that function returns: it would leave there what is in the register, and the
 * verifier refuses a pointer to the stack.
 */
#ifndef NTPROF_LEAVE_BPF_H
#define NTPROF_LEAVE_BPF_H

#include "select.bpf.h"
#include "state.bpf.h"

/*
 * As BPF_PROG(), of a program that may return at once, and does so by itself where this does not have it.
 * @where: of knobs alone: whether it is worth a look
 * @nothing: whether there is nothing to do, by @ctx; it saves no registers if it calls nothing
 * Tests that run programs natively have one of their own, which is BPF_PROG().
 */
#ifndef NT_PROG_LEAVING
/* clang-format off */
#define NT_PROG_LEAVING(where, nothing, name, args...)                          \
	name(unsigned long long *ctx);                                          \
	static __always_inline int ____##name(unsigned long long *ctx, ##args); \
	_Pragma("GCC diagnostic push")                                          \
	_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")                  \
	static __noinline int name##_rest(unsigned long long *ctx)              \
	{                                                                       \
		int status = ____##name(___bpf_ctx_cast(args));                 \
                                                                                \
		asm volatile("" : "+r"(status));                                \
		return status;                                                  \
	}                                                                       \
	int name(unsigned long long *ctx)                                       \
	{                                                                       \
		if (!(where))                                                   \
			return ____##name(___bpf_ctx_cast(args));               \
		return (nothing) ? 0 : name##_rest(ctx);                        \
	}                                                                       \
	_Pragma("GCC diagnostic pop")                                           \
	static __always_inline int ____##name(unsigned long long *ctx, ##args)
/* clang-format on */
#endif

/* Between the beginning and the end of a command: only what is measured has something to do. */
#define NT_PROG_MEASURING(name, args...) \
	NT_PROG_LEAVING(nt_knobs.tracks, none_is_tracked(), name, ##args)

/* The same, where what is only counted has something to do as well. */
#define NT_PROG_COUNTING(name, args...) \
	NT_PROG_LEAVING(nt_knobs.tracks && !nt_knobs.count_all, none_is_tracked(), name, ##args)

#endif /* NTPROF_LEAVE_BPF_H */
