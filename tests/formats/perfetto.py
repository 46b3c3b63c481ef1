# SPDX-License-Identifier: GPL-2.0-only
"""perfetto.py TRACE JSON - checks a decoded trace of report --perfetto against report --format json.

TRACE is what protoc --decode made of it. Prints a line for each check: its name, a tab, and "yes" or what is wrong.
"""
import json
import re
import sys
from collections import defaultdict


def parse(lines):
    """A message of protoc's text format: lists of values by field."""
    message = defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message[line[:-2]].append(parse(lines))
        else:
            field, value = line.split(": ", 1)
            message[field].append(value.strip('"') if value[0] == '"' else
                                  float(value) if re.fullmatch(r"-?[\d.e+-]*[.e][\d.e+-]*", value) else
                                  int(value) if value.isdigit() else value)
    return message


def main(trace, report):
    with open(trace, encoding="utf-8") as f:
        packets = parse(iter(f.readlines()))["packet"]
    with open(report, encoding="utf-8") as f:
        report = json.load(f)
    tracks, names, stacks = {}, {}, defaultdict(list)
    slices, counters, flows, instants = [], defaultdict(list), defaultdict(list), []
    wrong = defaultdict(int)

    for packet in packets:
        for track in packet["track_descriptor"]:
            tracks[track["uuid"][0]] = track
            if track["parent_uuid"] and track["parent_uuid"][0] not in tracks:
                wrong["parents"] += 1
        for interned in packet["interned_data"]:
            for name in interned["event_names"]:
                names[name["iid"][0]] = name["name"][0]
        for event in packet["track_event"]:
            at, track, kind = packet["timestamp"][0], event["track_uuid"][0], event["type"][0]
            if track not in tracks:
                wrong["tracks"] += 1
            if kind == "TYPE_COUNTER":
                counters[tracks[track]["name"][0]].append(event["double_counter_value"][0])
            elif kind == "TYPE_INSTANT":
                instants.append((at, tracks[track]["name"][0], event["name"][0]))
            elif kind == "TYPE_SLICE_BEGIN":
                name = event["name"][0] if event["name"] else names.get(event["name_iid"][0])
                wrong["names"] += not name
                stack = stacks[track]
                one = {"at": at, "name": name, "track": track, "in": 0, "parts": 0, "depth": len(stack),
                       "notes": {a["name"][0]: (a["uint_value"] or a["string_value"])[0]
                                 for a in event["debug_annotations"]}}
                stack.append(one)
                for flow in event["flow_ids"]:
                    flows[flow].append(("from", at, one))
                for flow in event["terminating_flow_ids"]:
                    flows[flow].append(("to", at, one))
            else:
                one = stacks[track].pop()
                one["took"] = at - one["at"]
                slices.append(one)
                if stacks[track]:
                    parent = stacks[track][-1]
                    wrong["nesting"] += one["at"] < parent["at"] + parent["in"]
                    parent["in"] += one["took"]
                    parent["parts"] += 1
    wrong["open"] = sum(map(len, stacks.values()))

    def machine(one):
        track = tracks[one["track"]]
        while track["parent_uuid"]:
            track = tracks[track["parent_uuid"][0]]
        return track["process"][0]["process_name"][0]

    commands = [s for s in slices if s["depth"] == 0]
    last = {}
    for one in sorted(commands, key=lambda s: (s["track"], s["at"])):
        wrong["overlaps"] += one["at"] < last.get(one["track"], 0)
        last[one["track"]] = one["at"] + one["took"]
    host = [s for s in commands if machine(s) == report["inputs"][0]["hostname"]]
    operations = report["merged"]["operations"]
    for what, name in (("parents", "parents come first"), ("tracks", "tracks are described"), ("names", "slices have names"),
                       ("nesting", "slices nest"), ("open", "slices end"), ("overlaps", "commands of a tag follow each other")):
        print(name, "yes" if not wrong[what] else wrong[what], sep="\t")
    sums = [s for s in commands if s["parts"] and s["in"] != s["took"]]
    print("stages add up to each command", "yes" if not sums and any(s["parts"] for s in commands) else sums[:2], sep="\t")
    count, took = sum(o["commands"] for o in operations), sum(o["sum"] for o in operations)
    print("each command has a slice", "yes" if len(host) == count else f"{len(host)} of {count}", sep="\t")
    print("and its latency", "yes" if sum(s["took"] for s in host) == took else "no", sep="\t")
    bad = [f for f, ends in flows.items() if sorted(e[0] for e in ends) != ["from", "to"]]
    print("each arrow has two ends", "yes" if flows and not bad else bad[:3], sep="\t")
    error = max(s["notes"].get("clock_error_ns", 0) for s in commands)
    back = [f for f, ends in flows.items() if dict((e[0], e[1]) for e in ends)["to"] + error <
            dict((e[0], e[1]) for e in ends)["from"]]
    print("no arrow goes back in time", "yes" if not back else back[:3], sep="\t")
    tcp = [row for rows in report.get("tcp", []) for row in rows]
    print("there are counters", "yes" if len(counters) == 5 + 2 * len(tcp) and min(map(len, counters.values())) > 1 else
          list(counters), sep="\t")
    bad = [name for row in tcp for name in [f"{row['controller']} queue {row['queue']}"]
           if min(counters[name + " cwnd"]) != row["cwnd"] or
           counters[name + " sent again"][-1] != row["retransmitted_added"]]
    print("those of TCP are the figures of report --tcp", "yes" if not bad else bad, sep="\t")
    events = report.get("path_events", [])
    print("each event of a controller is an instant",
          "yes" if [i[1] for i in instants] == [e["controller"] for e in events] and
          [b[0] - a[0] for a, b in zip(instants, instants[1:])] == [b["at"] - a["at"] for a, b in zip(events, events[1:])]
          else instants, sep="\t")


main(*sys.argv[1:])
