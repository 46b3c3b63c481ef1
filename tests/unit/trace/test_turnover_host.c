// SPDX-License-Identifier: GPL-2.0-only
#define SIDE NT_HOST
#include "trace/turnover.h"
