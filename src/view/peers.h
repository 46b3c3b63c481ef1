/* SPDX-License-Identifier: GPL-2.0-only */
/* The live view's peers as text: their states, how their records matched, and the ten stages. */
#ifndef NTPROF_VIEW_PEERS_H
#define NTPROF_VIEW_PEERS_H

#include "peer/live_merge.h"
#include "view/view.h"

/** view_peers() - a view_extra that shows the ten stages and the peers; @context is a struct live_merge */
bool view_peers(void *context, const struct view_extra_place *v);

#endif /* NTPROF_VIEW_PEERS_H */
