// SPDX-License-Identifier: GPL-2.0-only
#include "view/bars.h"

#define EIGHTHS 8

unsigned int bar_draw(FILE *f, double share, unsigned int width, bool unicode)
{
	/* U+258F to U+2589: one to seven eighths of a column, from the left. */
	static const char *const part[EIGHTHS] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned int steps = unicode ? EIGHTHS : 1, length;

	if (share > 1)
		share = 1;
	length = share > 0 ? (unsigned int)(share * width * steps + 0.5) : 0;
	if (unicode && share > 0 && !length && width)
		length = 1;
	for (unsigned int i = 0; i < length / steps; i++)
		fputs(unicode ? "█" : "@", f);
	fputs(part[length % steps], f);
	return (length + steps - 1) / steps;
}

unsigned int bar_width(unsigned int columns, unsigned int used, unsigned int least,
		       unsigned int most)
{
	unsigned int room = columns > used ? columns - used : 0;

	return room < least ? least : room > most ? most : room;
}

const char *bar_level(double share, bool unicode)
{
	static const char *const blocks[EIGHTHS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[EIGHTHS] = {".", ":", "-", "=", "+", "*", "#", "@"};
	unsigned int level;

	if (!(share > 0))
		return " ";
	level = share < 1 ? (unsigned int)(share * EIGHTHS) : EIGHTHS - 1;
	return unicode ? blocks[level] : ascii[level];
}
