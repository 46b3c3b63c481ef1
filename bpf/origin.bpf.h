/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a host's command comes from: the cgroup of its bio, which says to whom the I/O belongs,
 * whichever task submits it, and the CPU that made its request. Nothing here runs unless it is
 * asked for, which .rodata says.
 */
#ifndef NTPROF_ORIGIN_BPF_H
#define NTPROF_ORIGIN_BPF_H

#include "control.bpf.h"
#include "select.bpf.h"

/* CO-RE: kernels without CONFIG_BLK_CGROUP have no bi_blkg. */
struct kernfs_node___origin {
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup___origin {
	struct kernfs_node___origin *kn;
	int level;
} __attribute__((preserve_access_index));

/* CO-RE: @ancestors since Linux 6.1, @ancestor_ids before. */
struct cgroup___ancestors {
	struct cgroup___origin *ancestors[1];
} __attribute__((preserve_access_index));

struct cgroup___ids {
	__u64 ancestor_ids[1];
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

/*
 * The id of the ancestor of @cgroup that is @level levels below the root.
 * Return: 0 if @cgroup itself is nearer to the root
 */
static __always_inline __u64 ancestor_id(struct cgroup___origin *cgroup, __u32 level)
{
	struct cgroup___origin *ancestor = NULL;
	__u64 id = 0;

	if ((__u32)BPF_CORE_READ(cgroup, level) < level)
		return 0;
	if (bpf_core_field_exists(((struct cgroup___ancestors *)0)->ancestors)) {
		bpf_probe_read_kernel(
			&ancestor, sizeof(ancestor),
			(void *)cgroup +
				bpf_core_field_offset(struct cgroup___ancestors, ancestors) +
				level * sizeof(ancestor));
		return ancestor ? BPF_CORE_READ(ancestor, kn, id) : 0;
	}
	bpf_probe_read_kernel(&id, sizeof(id),
			      (void *)cgroup +
				      bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				      level * sizeof(id));
	return id;
}

/* Whether a request belongs to the selected cgroup, or to one below it. */
static __always_inline bool cgroup_selected(struct request *rq)
{
	struct cgroup___origin *cgroup = cgroup_of((void *)rq);

	return cgroup && ancestor_id(cgroup, nt_knobs.only.cgroup_level) == nt_knobs.only.cgroup;
}

/* As sqe_fate(), and by the request as well. */
static __always_inline enum nt_fate request_fate(struct request *rq, struct nvme_command *e,
						 __u32 qid)
{
	enum nt_fate fate = sqe_fate(e, qid);

	if (nt_knobs.selects & NT_BY_CGROUP && fate != NT_LEAVE && !cgroup_selected(rq))
		return NT_LEAVE;
	return fate;
}

/* For a request that ends. Its bio is still there: the block layer ends the bio later. */
static __always_inline void origin_fill(struct nt_from *from, struct request *rq)
{
	struct cgroup___origin *cgroup = cgroup_of((void *)rq);

	from->cgroup = cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;
	from->cpu = BPF_CORE_READ((struct request___origin *)rq, mq_ctx, cpu);
	from->pad = 0;
}

#endif /* NTPROF_ORIGIN_BPF_H */
