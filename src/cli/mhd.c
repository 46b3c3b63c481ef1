// SPDX-License-Identifier: GPL-2.0-only
#include "cli/mhd.h"

#include <dlfcn.h>
#include <stddef.h>

#include "core/array.h"

/* The library's file by its ABI version, which is the same since 0.9.36 (2014). */
#define LIBRARY "libmicrohttpd.so.12"

/* In a statically linked program the functions are there already. */
#define MHD_WEAK(function) extern __typeof__(function) function __attribute__((weak));
MHD_FUNCTIONS(MHD_WEAK)

static struct mhd linked;

#define MHD_LINKED(function) linked.function = (function);
#define MHD_NAME(function) {#function, offsetof(struct mhd, function)},

static const struct {
	const char *name;
	size_t offset;
} functions[] = {MHD_FUNCTIONS(MHD_NAME)};

const struct mhd *mhd_load(const char **why)
{
	void *library, *function;

	MHD_FUNCTIONS(MHD_LINKED)
	if (linked.MHD_start_daemon)
		return &linked;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		*why = dlerror();
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		function = dlsym(library, functions[i].name);
		if (!function) {
			*why = dlerror();
			return NULL;
		}
		/* POSIX lets an object pointer hold a function's address. */
		*(void **)((char *)&linked + functions[i].offset) = function;
	}
	return &linked;
}
