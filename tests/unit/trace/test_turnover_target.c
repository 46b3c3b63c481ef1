// SPDX-License-Identifier: GPL-2.0-only
#define SIDE NT_TARGET
#define STRANGERS_COME
#include "trace/turnover.h"
