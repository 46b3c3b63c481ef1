/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commands are measured when not all of them are: one copy for both sides' BPF programs and for
 * user space.
 */
#ifndef NTPROF_CORE_SAMPLE_H
#define NTPROF_CORE_SAMPLE_H

/**
 * nt_sample_threshold() - what nt_sample_mix() has to be below
 * @n: about one command in so many is measured; 0 and 1: every one
 *
 * Return: 2^32 / @n, or 0 for all commands. What one command in so many picks is a part of what one in
 * fewer picks.
 */
static inline __attribute__((always_inline)) unsigned int nt_sample_threshold(unsigned int n)
{
	return n > 1 ? (unsigned int)((1ULL << 32) / n) : 0;
}

/**
 * nt_sample_mix() - a number that looks random, made of what both sides see of a command
 * @qid: queue id
 * @cid: command id
 * @length: bytes of data
 * @slba: dwords 10 and 11 of the submission queue entry: the starting LBA of what has one
 *
 * Two rounds of what MurmurHash3 and its kind do with 64 bits: multiply by an odd constant of many bits,
 * fold the upper half onto the lower. After them no tag, address or length is favoured.
 * Return: 32 bits.
 */
static inline __attribute__((always_inline)) unsigned int
nt_sample_mix(unsigned int qid, unsigned int cid, unsigned int length, unsigned long long slba)
{
	unsigned long long mix = (unsigned long long)length << 32 | qid << 16 | cid;

	mix = (mix * 0x9e3779b97f4a7c15ULL) ^ slba;
	mix = (mix ^ mix >> 32) * 0xd6e8feb86659fd93ULL;
	mix = (mix ^ mix >> 32) * 0xd6e8feb86659fd93ULL;
	return (unsigned int)(mix >> 32);
}

/*
 * Counters of measured commands by what they are, so that one can tell whether they are many, or few that
 * come again and again: by the lowest bits of nt_sample_mix(), as the highest are alike in all that a
 * sample picks.
 */
#define NT_ALIKE 256

static inline __attribute__((always_inline)) unsigned int nt_alike(unsigned int mix)
{
	return mix & (NT_ALIKE - 1);
}

#endif /* NTPROF_CORE_SAMPLE_H */
