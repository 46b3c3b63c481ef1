# SPDX-License-Identifier: GPL-2.0-only
"""check.py SCHEMA DIRECTORY - prints "NAME<tab>yes" or what is wrong, for each thing that has to be."""
import collections
import csv
import json
import re
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
out = sys.argv[2] + "/"
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)


def told(name, wrong):
    print(f"{name}\t{wrong or 'yes'}")


def same(name, got, expected):
    told(name, "" if got == expected else f"{got!r:.300} is not {expected!r:.300}")


def why(line):
    """oneOf says little: what the alternative of that type has against it."""
    for alternative in schema["oneOf"]:
        if alternative["properties"]["type"]["const"] == line["type"]:
            part = {"$defs": schema["$defs"], **alternative}
            for e in jsonschema.Draft202012Validator(part).iter_errors(line):
                return f"{list(e.absolute_path)}: {e.message:.200}"
    return f"type {line['type']}"


def lines(file):
    read = [json.loads(line) for line in open(out + file)]
    wrong = [why(line) for line in read if not validator.is_valid(line)]
    told(f"{file}: every line is what the schema says ({len(read)})", wrong[0] if wrong else "" if read else "none")
    return read


def table(file):
    """RFC 4180: each line has as many fields as the header."""
    text = open(out + file, newline="").read()
    rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
    told(f"{file}: lines end with CR LF", "" if text.count("\n") == text.count("\r\n") else "not all")
    same(f"{file}: as many fields everywhere", {len(r) for r in rows}, {len(rows[0])})
    return [dict(zip(rows[0], r)) for r in rows[1:]]


def is_io(row):
    """A Keep Alive may come between the beginnings, or the ends, of two tracers."""
    return row["op"] not in ("admin", "fabrics")


def add_up(rows, count="commands"):
    n = collections.Counter()
    for r in rows:
        n[r["op"]] += int(r[count]) if is_io(r) else 0
    return {op: c for op, c in n.items() if c}


def more(intervals, summary):
    return {op: n for op, n in intervals.items() if n > summary.get(op, 0)} or ("" if intervals else "none")


live, trace, peer, report, alone = (lines(f + ".json") for f in ("live", "trace", "peer", "report", "alone"))
everything = add_up(live[-1]["queues"])
told("there were reads and writes", "" if everything.get("read", 0) >= 250 and everything.get("write", 0) >= 50 else everything)
same("the last line of live is the summary", [o["type"] for o in live[-1:]], ["summary"])
told("intervals add up to no more than the summary, which has what came after the last one",
     more(add_up(q for o in live[:-1] for q in o["queues"]), everything))
same("operations are the sums of queues", add_up(live[-1]["operations"]), everything)
same("histograms hold every command", {q["op"]: 0 for q in live[-1]["queues"]
     if sum(b[2] for b in q["histogram"]) != q["measured"]}, {})
told("the longest is in the last bucket", [q for q in live[-1]["queues"]
     if not q["histogram"][-1][0] <= q["max"] < q["histogram"][-1][1]])
same("nothing is lost", {k: v for k, v in live[-1]["losses"].items() if v}, {})

events = lines("events.json")
same("an event for each beginning, and for each end",
     *(sum(o["type"] == t for o in events if is_io({"op": "admin" if o.get("queue") == 0 else ""}))
       for t in ("submission", "completion")))
told("drives are near a low limit, and the network is not near a high one",
     [r for r in live[-1]["limits"] if (r["limit"] == "drive") != r["near"]] or ("" if live[-1]["limits"] else "none"))

rows = table("live.csv")
told("csv of live: intervals add up to no more than the summary", more(add_up(r for r in rows if r["type"] == "interval"),
     add_up(r for r in rows if r["type"] == "summary")))
same("csv of live: it is what json says", add_up(r for r in rows if r["type"] == "summary"), everything)

commands = [o for o in trace if o["type"] == "command"]
same("a line for each command", collections.Counter(o["op"] for o in commands if is_io(o)), everything)
told("stages add up to the latency", [o for o in commands if o["stages"] and sum(o["stages"].values()) != o["latency"]][:1])
told("all are split", [o for o in commands if not o["stages"]][:1])
same("the last line of trace is the end", trace[-1]["type"], "end")
rows = table("trace.csv")
same("csv of trace: a line for each command", collections.Counter(r["op"] for r in rows if is_io(r)), everything)
stages = list(rows[0])[-6:]
told("csv of trace: stages add up to the latency",
     [r for r in rows if sum(int(r[s] or 0) for s in stages) != int(r["latency"])][:1])

last = peer[-1]
same("with a peer: all are merged", add_up(last["merged"]["operations"]), everything)
same("with a peer: it has ended", [p["state"] for p in last["peers"]], ["ended"])
told("with a peer: stages add up to the latencies", [o for o in last["merged"]["operations"]
     if o["sum"] != sum(s["sum"] for s in last["merged"]["stages"] if s["op"] == o["op"])])

short, whole = [o for o in report if o["type"] == "report"]
commands = [o for o in report if o["type"] == "command"]
same("report: all are merged", add_up(short["merged"]["operations"]), everything)
same("report: with --commands, as without", short["merged"], whole["merged"])
same("report: a line for each", collections.Counter(o["op"] for o in commands if o["seen"] == "merged" and is_io(o)), everything)
same("report: three stories", [sorted(o["points"]) for o in whole["slowest"]], [["host", "target"]] * 3)
told("report: a story has all its points", [o for o in whole["slowest"]
     if len(o["story"]) != sum(len(p) for p in o["points"].values())])
same("report: the slowest first", [o["latency"] for o in whole["slowest"]],
     sorted((o["latency"] for o in commands if o["seen"] == "merged"), reverse=True)[:3])
rows = table("report.csv")
same("csv of report: a line for each", collections.Counter(r["op"] for r in rows if r["seen"] == "merged" and is_io(r)), everything)
same("csv of report: the same latencies", sorted(int(r["latency"]) for r in rows), sorted(o["latency"] for o in commands))
text = {m[1]: int(m[2]) for m in re.finditer(r"^merged (\w+) (\d+) ", open(out + "report.txt").read(), re.M) if is_io({"op": m[1]})}
same("the text says the same", text, everything)
same("a side alone tells why, and its figures", [(bool(i["alone"]["why"]), add_up(i["alone"]["operations"]))
     for i in alone[0]["inputs"]], [(True, everything)])

merged, alone = lines("groups.json")
same("groups: they are all commands, together and of a side alone",
     [add_up(g["rows"]) for g in (merged["groups"], alone["inputs"][0]["alone"]["groups"])], [everything] * 2)
same("groups: histograms hold every command",
     [r for r in merged["groups"]["rows"] if sum(b[2] for b in r["histogram"]) != r["commands"]], [])
same("details: those of the host are its latencies", sum(d["sum"] for d in merged["details"]
     if d["side"] == "host" and d["stage"]), sum(o["sum"] for o in merged["merged"]["operations"]))
same("csv of groups: it is what json says", add_up(r for r in table("groups.csv") if r["row"] == "group"), everything)
told("csv of details: it is of the side that there is", [r for r in table("details.csv") if r["side"] != "host"][:1])

[paths] = lines("stacks.json")
by = [sum(r["commands"] for r in paths[t] if r["kind"] != "passthrough") for t in ("paths", "kinds")]
same("stacks: paths add up to kinds", by[0], by[1])
# A run that was skipped may be that of a command's beginning, or of its end.
uncounted = sum(n for op, n in everything.items() if op not in ("admin", "fabrics")) - by[0]
lost = paths["losses"]
certain = lost["stack_no_room"] + lost["stack_unread"]
told("stacks: with those that are said to be lost, they are all commands of queues with I/O",
     "" if certain <= uncounted <= certain + lost["probe_missed"] else [uncounted, lost])

[offers] = lines("probes.json")
same("probes: both sides, with everything", [(s["side"], s["coverage"], s["tried"]) for s in offers["sides"]],
     [("host", "full", True), ("target", "full", True)])
