#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# target.sh - prepares the target of every test of two machines; the host sets it up over ssh.
modprobe -a nvmet-tcp null_blk sch_netem
