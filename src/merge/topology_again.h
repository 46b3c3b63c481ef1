/* SPDX-License-Identifier: GPL-2.0-only */
/* A stream that begins again, under the number that it had: see merge_again(). */
#ifndef NTPROF_MERGE_TOPOLOGY_AGAIN_H
#define NTPROF_MERGE_TOPOLOGY_AGAIN_H

#include "merge/topology.h"

/** topology_stream_again() - what a stream told is forgotten, its clock included; no record of it may wait. It has not ended */
void topology_stream_again(struct topology *t, unsigned int stream);

#endif /* NTPROF_MERGE_TOPOLOGY_AGAIN_H */
