// SPDX-License-Identifier: GPL-2.0-only
#include "cli/transport.h"

#include <stdio.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "core/transport.h"

enum { KEY_TRANSPORT = 0x100 };

static error_t parse_transport(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	if (key != KEY_TRANSPORT)
		return ARGP_ERR_UNKNOWN;
	o->transports = transports_parse(arg);
	if (!o->transports)
		options_error(state, TRANSPORTS_WRONG, arg);
	return 0;
}

static const struct argp_option transport_options[] = {
	{"transport", KEY_TRANSPORT, "TRANSPORTS", 0,
	 "Watch a host's controllers of these transports, with commas: tcp, pcie, rdma, fc, loop and other (default tcp; on a "
	 "machine where nvme-tcp is not loaded, what other controllers there are, but for serve, which waits for it)",
	 SECTION_WATCH},
	{0},
};

const struct argp transport_argp = {.options = transport_options, .parser = parse_transport};

void transport_options_end(const struct argp_state *state, struct run_options *o)
{
	unsigned int of_device = o->only.device_transports;
	char text[TRANSPORTS_TEXT_LEN];
	const char *lack;

	if (o->side == NT_TARGET && o->transports & ~NT_OF_TCP)
		options_error(state, "--transport is for --host: a target is one of NVMe/TCP");
	if (of_device && !o->transports)
		o->transports = of_device & NT_OF_TCP ? NT_OF_TCP : of_device;
	if (of_device && !(of_device & o->transports))
		options_error(state, "--device %s: its transport is %s", o->only.device,
			      transports_text(of_device, text, sizeof(text)));
	lack = o->transports ? transports_lack(o, o->transports) : NULL;
	if (lack)
		options_error(state, "%s", lack);
}
