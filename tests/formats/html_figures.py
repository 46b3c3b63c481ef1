# SPDX-License-Identifier: GPL-2.0-only
"""html_figures.py FOLDER - compares what a browser made of report --html with report --format json, for html.sh.

Prints a line for each comparison: its name, a tab, and "yes" or what is wrong.
"""
import json
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    """The tables of a page, by id: rows of {column: text or exact number}; and what the test's script told."""

    def __init__(self, path):
        super().__init__()
        self.tables, self.told, self.text = {}, {}, ""
        self.figures, self.marks = set(), []
        self.table = self.cell = self.skip = None
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "body":
            self.told = attrs
        elif tag in ("script", "style"):
            self.skip = tag
        elif tag == "figure" and "id" in attrs:
            self.figures.add(attrs["id"])
        elif tag == "path" and attrs.get("class") == "ev":
            self.marks.append("")
        elif tag == "table":
            self.table = {"heads": [], "rows": []}
            self.tables[attrs.get("id")] = self.table
        elif tag == "th" and self.table and "data-c" in attrs:
            self.table["heads"].append(attrs["data-c"])
        elif tag == "tr" and self.table:
            self.table["rows"].append([])
        elif tag == "td" and self.table:
            self.cell = [attrs.get("data-v"), ""]
            self.table["rows"][-1].append(self.cell)

    def handle_endtag(self, tag):
        if tag == "table":
            self.table = None
        elif tag == "td":
            self.cell = None
        elif tag == self.skip:
            self.skip = None

    def handle_data(self, data):
        if self.cell:
            self.cell[1] += data
        if not self.skip:
            self.text += data

    def rows(self, name):
        table = self.tables.get(name, {"heads": [], "rows": []})
        return [dict(zip(table["heads"], row)) for row in table["rows"] if row]


def same(cell, value):
    exact, text = cell
    if not value and text in ("-", "0x0", "0"):
        return True
    if value is None or value is False:
        return False
    if isinstance(value, str):
        return text == value
    return exact is not None and abs(int(exact, 0) if exact.startswith("0x") else float(exact) - value) <= \
        1e-6 * abs(value) + 1e-6 or exact is not None and exact.startswith("0x") and int(exact, 16) == value


def compare(rows, objects):
    if not objects or len(rows) != len(objects):
        return f"{len(rows)} rows, {len(objects)} objects"
    for row, obj in zip(rows, objects):
        for column, cell in row.items():
            if column not in obj:
                return f"JSON has no {column}"
            if not same(cell, obj[column]):
                return f"{column}: {cell} is not {obj[column]!r}"
    return "yes"


def by_op(objects):
    return sorted(objects, key=lambda o: o["op"])


def main(folder):
    def tell(name, verdict):
        print(name, "yes" if verdict is True else verdict or "no", sep="\t")

    def read(name):
        with open(f"{folder}/{name}.json", encoding="utf-8") as f:
            return json.load(f)

    for width in (1280, 390):
        pages = {name: Page(f"{folder}/{name}-{width}.dom")
                 for name in ("both", "alone", "hostile", "events", "compared")}
        both, report = pages["both"], read("both")
        operations = both.rows("merged-operations")
        tell(f"{width}: operations are those of JSON", compare(
            sorted(operations, key=lambda r: r["op"][1]), by_op(report["merged"]["operations"])))
        tell(f"{width}: stages are those of JSON", compare(both.rows("merged-stages"), report["merged"]["stages"]))
        tell(f"{width}: recordings are those of JSON", compare(both.rows("all-inputs"), report["inputs"]))
        tell(f"{width}: connections are those of JSON", compare(both.rows("all-connections"), report["connections"]))
        alone = read("alone")["inputs"][0]["alone"]
        tell(f"{width}: stages of one side are those of JSON",
             compare(pages["alone"].rows("input0-stages"), alone["stages"]))
        events, report = pages["events"], read("events")
        rows = events.rows("merged-events")
        for row in rows:  # seconds here, nanoseconds in JSON
            row["at"][0] = str(round(float(row["at"][0]) * 1e9))
        tell(f"{width}: events are those of JSON", compare(rows, report["path_events"]))
        tell(f"{width}: each event has a mark", events.marks and len(events.marks) % len(report["path_events"]) == 0)
        for i, rows in enumerate(report["tcp"]):
            tell(f"{width}: TCP of recording {i} is that of JSON", compare(events.rows(f"merged-tcp-{i}-rows"), rows))
            tell(f"{width}: and has curves", all(f"merged-tcp-{i}-over-time-{k}" in events.figures for k in range(3)))
        for name, page in pages.items():
            tell(f"{width}: {name} fits", int(page.told["data-wide"]) <= width or page.told["data-wide"])
            tell(f"{width}: {name} has all of its bars",
                 page.told["data-bars"] != "0" and page.told["data-cut"] == "0" or page.told["data-cut"])
            tell(f"{width}: {name} has no image", page.told["data-images"] == "0")
            if name == "compared":
                continue
            means = [float(v) for v in page.told.get("data-sorted", "").split()]
            tell(f"{width}: {name} sorts", len(means) > 1 and means == sorted(means, reverse=True))
            if page.told["data-canvases"] != "0":
                tell(f"{width}: {name} zooms", page.told.get("data-zoomed") == "true")
                tell(f"{width}: {name} shows all again", page.told.get("data-whole") == "true")
                tell(f"{width}: {name} has a line at one time in all curves",
                     page.told.get("data-crossed") == page.told.get("data-uncrossed") == "true")
        tell(f"{width}: names are text", "</script></style>--><img src=x onerror=" in pages["hostile"].text)


main(sys.argv[1])
