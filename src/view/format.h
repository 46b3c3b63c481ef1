/* SPDX-License-Identifier: GPL-2.0-only */
/* What output can look like. */
#ifndef NTPROF_VIEW_FORMAT_H
#define NTPROF_VIEW_FORMAT_H

enum output_format {
	FORMAT_TEXT,
	FORMAT_JSON, /* JSON Lines: an object a line; docs/output.schema.json says what is in it */
	FORMAT_CSV,  /* RFC 4180, with a header */
};

#endif /* NTPROF_VIEW_FORMAT_H */
