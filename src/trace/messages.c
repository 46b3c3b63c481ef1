// SPDX-License-Identifier: GPL-2.0-only
#include "trace/messages.h"

#include <stdio.h>

#include "core/names.h"

#include "trace/kernel.h"
#include "trace/probes.h"

void tracer_explain(enum tracer_status status, enum nt_side side, const char *detail, char *buf,
		    size_t size)
{
	const char *module = driver_name(side);
	const char *file = side == NT_HOST ? "nvme-tcp" : "nvmet-tcp";

	switch (status) {
	case TRACER_NOT_ALLOWED:
		snprintf(buf, size,
			 "tracing needs root or capabilities (missing: %s): run it with sudo",
			 detail);
		break;
	case TRACER_OLD_KERNEL:
		snprintf(buf, size, "kernel %s is too old: tracing needs Linux %d.%d or later",
			 detail, KERNEL_MAJOR, KERNEL_MINOR);
		break;
	case TRACER_NO_BTF:
		snprintf(buf, size,
			 "/sys/kernel/btf/vmlinux not found: kernel %s has no type information. "
			 "Run a "
			 "kernel built with CONFIG_DEBUG_INFO_BTF=y, as distributions' kernels are",
			 detail);
		break;
	case TRACER_NO_MODULE:
		snprintf(buf, size, "module %s is not loaded", module);
		break;
	case TRACER_NO_CORE:
		snprintf(buf, size,
			 "this kernel offers no probes for other transports than TCP: %s", detail);
		break;
	case TRACER_NO_MODULE_BTF:
		snprintf(buf, size,
			 "/sys/kernel/btf/%s not found: the running %s module was built without "
			 "type "
			 "information. Load the distribution's %s, or build it with "
			 "CONFIG_DEBUG_INFO_BTF_MODULES=y",
			 module, module, file);
		break;
	case TRACER_NOT_PATCHED:
		snprintf(buf, size,
			 "%s. Run without --source tracepoints, or load a %s with the patches that "
			 "come with the source of ntprof-bpf",
			 detail, file);
		break;
	case TRACER_NO_PROBES:
		snprintf(
			buf, size,
			"this kernel offers no probes for the stock %s: %s. Run a newer kernel, or "
			"load a driver with the patches that come with the source of ntprof-bpf",
			file, detail);
		break;
	case TRACER_TIMESTAMPS:
		snprintf(buf, size, "cannot ask for packet timestamps: %s", detail);
		break;
	case TRACER_LOAD:
		snprintf(buf, size,
			 "the kernel refused the BPF programs: %s. Run again with -v for its "
			 "reasons",
			 detail);
		break;
	case TRACER_ATTACH:
		snprintf(buf, size, "cannot attach to %s. Run again with -v for the reason",
			 detail);
		break;
	case TRACER_MEMORY:
		snprintf(buf, size, "out of memory");
		break;
	case TRACER_OK:
		snprintf(buf, size, "no error");
		break;
	}
}
