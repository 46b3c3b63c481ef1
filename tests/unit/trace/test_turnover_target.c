// SPDX-License-Identifier: GPL-2.0-only
#define SIDE NT_TARGET
#include "trace/turnover.h"
