/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commands are measured if not all of them are. The BPF programs of both sides and user space
 * share this one copy.
 */
#ifndef NTPROF_CORE_SAMPLE_H
#define NTPROF_CORE_SAMPLE_H

/**
 * nt_sample_threshold() - the bound below which nt_sample_mix() has to be
 * @n: about one command in @n is measured; 0 and 1: every command
 *
 * Return: 2^32 / @n, or 0 for all commands. A sample with a larger @n is a part of a sample with a
 * smaller @n.
 */
static inline __attribute__((always_inline)) unsigned int nt_sample_threshold(unsigned int n)
{
	return n > 1 ? (unsigned int)((1ULL << 32) / n) : 0;
}

/**
 * nt_sample_mix() - a number that looks random, made from fields of a command that both sides see
 * @qid: queue id
 * @cid: command id
 * @length: bytes of data
 * @slba: dwords 10 and 11 of the submission queue entry: the starting LBA if the command has one
 *
 * Two rounds of the usual mixing of 64 bits, as in MurmurHash3: multiply by an odd constant of many
 * bits, fold the upper half onto the lower half. After these rounds no tag, address or length is
 * favoured.
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
 * Counters of measured commands, indexed by the lowest bits of nt_sample_mix(). They show whether
 * the sample has many different commands, or a few that are repeated. The highest bits cannot be
 * the index, because they are alike in all commands of a sample.
 */
#define NT_ALIKE 256

static inline __attribute__((always_inline)) unsigned int nt_alike(unsigned int mix)
{
	return mix & (NT_ALIKE - 1);
}

#endif /* NTPROF_CORE_SAMPLE_H */
