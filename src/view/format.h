/* SPDX-License-Identifier: GPL-2.0-only */
/* Formats of the output. */
#ifndef NTPROF_VIEW_FORMAT_H
#define NTPROF_VIEW_FORMAT_H

enum output_format {
	FORMAT_TEXT,
	/* JSON Lines: an object in each line; docs/output.schema.json describes them */
	FORMAT_JSON,
	FORMAT_CSV, /* RFC 4180, with a header */
};

#endif /* NTPROF_VIEW_FORMAT_H */
