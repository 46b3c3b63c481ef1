// SPDX-License-Identifier: GPL-2.0-only
#include "merge/connection.h"

#include <string.h>

int merge_connection_order(const struct merge_connection *a, const struct merge_connection *b)
{
	int order = strcmp(a->subsysnqn, b->subsysnqn);

	if (!order)
		order = (int)a->cntlid - (int)b->cntlid;
	if (!order)
		order = (int)a->qid - (int)b->qid;
	return order ? order : (a->index > b->index) - (a->index < b->index);
}
