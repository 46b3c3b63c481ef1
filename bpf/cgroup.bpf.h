/* SPDX-License-Identifier: GPL-2.0-only */
/* The cgroup to which a request's I/O belongs: that of its first bio, whichever task submits it. */
#ifndef NTPROF_CGROUP_BPF_H
#define NTPROF_CGROUP_BPF_H

#include "control.bpf.h"

/* CO-RE: kernels without CONFIG_BLK_CGROUP have no bi_blkg. */
struct kernfs_node___origin {
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup___origin {
	struct kernfs_node___origin *kn;
	int level;
} __attribute__((preserve_access_index));

struct cgroup_subsys_state___origin {
	struct cgroup___origin *cgroup;
} __attribute__((preserve_access_index));

struct blkcg___origin {
	struct cgroup_subsys_state___origin css;
} __attribute__((preserve_access_index));

struct blkcg_gq___origin {
	struct blkcg___origin *blkcg;
} __attribute__((preserve_access_index));

struct bio___origin {
	struct blkcg_gq___origin *bi_blkg;
} __attribute__((preserve_access_index));

struct blk_mq_ctx___origin {
	unsigned int cpu;
} __attribute__((preserve_access_index));

struct request___origin {
	struct bio___origin *bio;
	struct blk_mq_ctx___origin *mq_ctx;
} __attribute__((preserve_access_index));

/*
 * NULL for a request without a bio, such as a flush that the block layer makes, and for admin
 * commands.
 */
static __always_inline struct cgroup___origin *cgroup_of(struct request___origin *rq)
{
	struct bio___origin *bio = BPF_CORE_READ(rq, bio);

	if (!bio || !bpf_core_field_exists(bio->bi_blkg))
		return NULL;
	return BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup);
}

#endif /* NTPROF_CGROUP_BPF_H */
