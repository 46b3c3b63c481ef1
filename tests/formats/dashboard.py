# SPDX-License-Identifier: GPL-2.0-only
"""Usage: dashboard.py DASHBOARD: its queries, as rules for promtool; what is wrong with it, on standard error."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    board = json.load(f)
wrong = []
variables = {v["name"] for v in board["templating"]["list"]}
# Grafana's own: https://grafana.com/docs/grafana/latest/dashboards/variables/add-template-variables/
variables |= {"__rate_interval", "__all", "__data", "__field", "__value", "__url_time_range"}
# Of those with fixed values it is the first.
values = {v["name"]: v["query"].split(",")[0] for v in board["templating"]["list"] if v["type"] == "custom"}
panels = board["panels"]
if len({p["id"] for p in panels}) != len(panels):
    wrong.append("two panels have one id")
taken = {}
queries = [a["expr"] for a in board["annotations"]["list"]]
for p in panels:
    g = p["gridPos"]
    for x in range(g["x"], g["x"] + g["w"]):
        for y in range(g["y"], g["y"] + g["h"]):
            if x > 23 or (x, y) in taken:
                wrong.append(f"{p['title']} is where another one is")
            taken[x, y] = p["title"]
    if p["datasource"]["uid"] != "${datasource}" or not p["description"] or not p["targets"]:
        wrong.append(f"{p['title']} has no source, description or query")
    queries += [t["expr"] for t in p["targets"]]
for name in re.findall(r"\$\{?(\w+)", json.dumps(board)):
    if name not in variables:
        wrong.append(f"no variable is called {name}")
print("groups:\n  - name: dashboard\n    rules:")
for q in queries:
    q = q.replace("$__rate_interval", "5m")
    q = re.sub(r"\$(\w+)", lambda m: values.get(m.group(1), ".*"), q)
    print("      - record: dashboard:query\n        expr: " + json.dumps(q))
for w in sorted(set(wrong)):
    print(w, file=sys.stderr)
