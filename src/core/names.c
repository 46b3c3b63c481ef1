// SPDX-License-Identifier: GPL-2.0-only
#include "core/names.h"

#include <stddef.h>

#include "core/array.h"

#define NAME_SECOND(id, name, ...) name,

static const char *name_get(const char *const *names, size_t nr, unsigned int i)
{
	return i < nr ? names[i] : "unknown";
}

const char *source_name(enum nt_source source)
{
#define SOURCE_NAME(id, name) [NT_##id] = name,
	static const char *const names[] = {NT_SOURCE_NAMES(SOURCE_NAME)};

	return source < NT_SOURCES ? names[source] : "none";
}

const char *side_name(enum nt_side side)
{
	static const char *const names[] = {[NT_HOST] = "host", [NT_TARGET] = "target"};

	return name_get(names, ARRAY_SIZE(names), side);
}

const char *op_name(enum nt_op op)
{
	static const char *const names[] = {NT_OPS(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), op);
}

const char *shape_name(enum nt_shape shape)
{
	static const char *const names[] = {NT_SHAPES(NAME_SECOND)};

	return name_get(names, ARRAY_SIZE(names), shape);
}

const char *stage_name(enum nt_side side, unsigned int stage)
{
	static const char *const host[] = {NT_HOST_STAGES(NAME_SECOND)};
	static const char *const target[] = {NT_TARGET_STAGES(NAME_SECOND)};

	return side == NT_HOST ? name_get(host, ARRAY_SIZE(host), stage)
			       : name_get(target, ARRAY_SIZE(target), stage);
}

unsigned int stages_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_STAGES_NR
			       : (unsigned int)NT_TARGET_STAGES_NR;
}

const char *point_name(enum nt_side side, unsigned int point)
{
	static const char *const host[] = {NT_HOST_POINTS(NAME_SECOND)};
	static const char *const target[] = {NT_TARGET_POINTS(NAME_SECOND)};

	return side == NT_HOST ? name_get(host, ARRAY_SIZE(host), point)
			       : name_get(target, ARRAY_SIZE(target), point);
}

unsigned int points_nr(enum nt_side side)
{
	return side == NT_HOST ? (unsigned int)NT_HOST_POINTS_NR
			       : (unsigned int)NT_TARGET_POINTS_NR;
}

const char *driver_name(enum nt_side side)
{
	return side == NT_HOST ? "nvme_tcp" : "nvmet_tcp";
}
