#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# databases.sh - the queries in docs/guides/fleet.md fit what report prints: SQLite runs that of DuckDB, whose shares are the
# report's, and each column of ClickHouse's table is in the JSON, with a type that it takes.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/machine/lib.sh
. tests/machine/lib.sh
program=${NTPROF_BPF:-build/ntprof-bpf}
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

files=(docs/examples/slow-disk.{host,target}.ntp)
"$program" report "${files[@]}" --commands --format csv >"$out/commands.csv"
"$program" report "${files[@]}" --commands --format json >"$out/commands.json"
while IFS=$'\t' read -r name verdict; do
	equal "$name" "$verdict" yes
done < <(/usr/bin/python3 - docs/guides/fleet.md "$out" <<-'END'
	import csv, json, re, sqlite3, sys

	guide = open(sys.argv[1], encoding="utf-8").read()
	with open(sys.argv[2] + "/commands.json", encoding="utf-8") as file:
	    lines = [json.loads(line) for line in file]
	commands = [line for line in lines if line["type"] == "command"]
	report = lines[-1]

	query = re.search(r"    (SELECT op, count.*?;)\n", guide, re.S)[1]
	database = sqlite3.connect(":memory:")
	with open(sys.argv[2] + "/commands.csv", encoding="utf-8", newline="") as file:
	    names, *rows = csv.reader(file)
	database.execute("CREATE TABLE commands (" + ",".join(f'"{name}"' for name in names) + ")")
	database.executemany("INSERT INTO commands VALUES (" + ",".join("?" * len(names)) + ")", rows)
	answer = database.execute(query.replace("read_csv('commands.csv')", "commands")).fetchall()
	# Commands that one machine alone has are among the rows, and not in the report's shares.
	share = {s["op"]: s["share"] for s in report["merged"]["stages"] if s["stage"] == "target_subsystem"}
	print("SQLite: each operation", "yes" if {a[0] for a in answer} >= share.keys() >= {"read", "write"} else answer, sep="\t")
	for op, count, mean, part in answer:
	    if op in share:
	        print(f"SQLite: the target's share of {op}, {part} of {count}", "yes" if abs(part - share[op]) < 0.02 else share[op], sep="\t")

	kinds = {"String": str, "UInt": int}
	for name, nullable, kind in re.findall(r"(\w+) (Nullable\()?(String|UInt)(?:32|64)?\)?[,)]", guide[guide.index("CREATE TABLE commands"):].split("ENGINE")[0]):
	    wrong = [c for c in commands if name not in c or not (isinstance(c[name], kinds[kind]) or (nullable and c[name] is None))]
	    print(f"ClickHouse: {name}", wrong[0].get(name, "not there") if wrong else "yes", sep="\t")
END
)
check "there are figures of both" test "$tap_nr" -ge 12
finish
