// SPDX-License-Identifier: GPL-2.0-only
#include <locale.h>

#include "cli/cli.h"

int main(int argc, char **argv)
{
	cli_begin();
	setlocale(LC_CTYPE, "");
	return cli_main(argc, argv);
}
