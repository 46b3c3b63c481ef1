// SPDX-License-Identifier: GPL-2.0-only
#include "view/view_state.h"

#define LOOK_NAME(id, name) name,

const char *view_sort_name(enum view_sort sort)
{
	static const char *const names[] = {VIEW_SORTS(LOOK_NAME)};

	return names[sort];
}

const char *view_group_name(enum view_group group)
{
	static const char *const names[] = {VIEW_GROUPS(LOOK_NAME)};

	return names[group];
}
