/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that have nothing to do for most commands, where not all commands are measured.
 *
 * On each run, a program saves the registers that any part of it keeps over a call, and reads its
 * arguments before it knows whether it needs them. Together that costs twice as much as reading the
 * counter that says that there is nothing to do. So where commands may be left out, everything but
 * this read is a separate function, which saves registers by itself. Where all commands are
 * measured, it is not separate: a knob is a constant when the verifier runs, so one of the two
 * variants is removed.
 *
 * The compiler is kept from knowing what that function returns. Otherwise it would not set the
 * result register, and the verifier refuses what may be in there: a pointer to the stack.
 */
#ifndef NTPROF_LEAVE_BPF_H
#define NTPROF_LEAVE_BPF_H

#include "select.bpf.h"
#include "state.bpf.h"

/*
 * As BPF_PROG(), for a program that may return at once. Where @where is false, the program has to
 * check for itself whether it may. Tests that run programs natively define this macro themselves,
 * as BPF_PROG().
 * @where: depends on knobs alone: whether the check is worth its cost
 * @nothing: whether there is nothing to do, by @ctx; it saves no registers if it calls nothing
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

/* For programs between the beginning and the end of a command, which only measured ones need. */
#define NT_PROG_MEASURING(name, args...) \
	NT_PROG_LEAVING(nt_knobs.tracks, none_is_tracked(), name, ##args)

/* The same for programs that commands which are only counted need as well. */
#define NT_PROG_COUNTING(name, args...) \
	NT_PROG_LEAVING(nt_knobs.tracks && !nt_knobs.count_all, none_is_tracked(), name, ##args)

/* For a program of NT_SELDOM: as NT_PROG_MEASURING(), but each run has to be noted by seldom_ran().
 */
#define NT_PROG_SELDOM(name, args...) \
	NT_PROG_LEAVING(nt_knobs.tracks && !nt_knobs.stages, none_is_tracked(), name, ##args)

/* Notes that a program of NT_SELDOM runs. All CPUs read the line, which is written once a burst. */
static __always_inline void seldom_ran(enum nt_seldom which)
{
	if (nt_knobs.stages && !nt_control.ran[which])
		nt_control.ran[which] = 1;
}

#endif /* NTPROF_LEAVE_BPF_H */
