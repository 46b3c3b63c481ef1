// SPDX-License-Identifier: GPL-2.0-only
#include "view/look.h"

#define LOOK_NAME(id, name) name,

const char *look_sort_name(enum look_sort sort)
{
	static const char *const names[] = {LOOK_SORTS(LOOK_NAME)};

	return names[sort];
}

const char *look_group_name(enum look_group group)
{
	static const char *const names[] = {LOOK_GROUPS(LOOK_NAME)};

	return names[group];
}
