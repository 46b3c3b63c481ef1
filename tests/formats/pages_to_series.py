# SPDX-License-Identifier: GPL-2.0-only
"""Usage: pages_to_series.py PAGES [INSTANCE]: pages of serve, one after the other, as input_series of promtool test rules."""
import re
import sys

instance = sys.argv[2] if len(sys.argv) > 2 else "recorded"
pages = [{}]
with open(sys.argv[1], encoding="utf-8") as f:
    for line in f:
        if line == "# EOF\n":
            pages.append({})
        elif not line.startswith("#"):
            # Without its exemplar.
            sample, value = line.split(" # ")[0].rsplit(" ", 1)
            pages[-1][sample] = value.strip()
pages.pop()
for sample in sorted(set().union(*pages)):
    labelled = re.sub(r"\{", '{instance="' + instance + '",', sample, count=1)
    # What is in no page yet, or not any more, is "_".
    values = " ".join(page.get(sample, "_") for page in pages)
    print("      - series: '" + labelled.replace("'", "''") + "'\n        values: '" + values + "'")
