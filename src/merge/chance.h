/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the other halves of records that wait may come yet: by who of the other side is there, and
 * whose stream has ended.
 */
#ifndef NTPROF_MERGE_CHANCE_H
#define NTPROF_MERGE_CHANCE_H

#include "merge/topology.h"

/** chance_rate() - find out what chance the records of a half have, and whether it is over with them */
void chance_rate(const struct topology *t, struct half *h);

/** chance_stream_ends() - nothing more comes of a stream; of one that is not known nothing changes */
void chance_stream_ends(struct topology *t, unsigned int stream);

#endif /* NTPROF_MERGE_CHANCE_H */
