# SPDX-License-Identifier: GPL-2.0-only
"""
openmetrics.py OPENMETRICS PROMETHEUS TARGET - read both formats of a host's page with the parsers of prometheus_client, which
are not ours, and compare; and compare the recorded pages with these and with a target's page. Prints "NAME<tab>yes" or "NAME<tab>WHAT IS WRONG".
"""
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus


def read(path, parser):
    with open(path, encoding="utf-8") as f:
        return list(parser(f.read()))


def samples(families):
    found = {}
    for family in families:
        for s in family.samples:
            key = s.name, tuple(sorted(s.labels.items()))
            if not s.name.endswith("_created"):
                found[key] = s.value
    return found


def histograms(families):
    """What is wrong with them; the parser itself wants buckets that grow, and as many as there are at +Inf."""
    for family in families:
        if family.type != "histogram":
            continue
        counts, last = {}, {}
        for s in family.samples:
            labels = dict(s.labels)
            bound = labels.pop("le", None)
            key = tuple(sorted(labels.items()))
            if s.name.endswith("_bucket"):
                if s.value < last.get(key, 0):
                    return f"{s} falls"
                last[key] = s.value
                if bound == "+Inf":
                    counts[key] = s.value
            elif s.name.endswith("_count") and counts[key] != s.value:
                return f"{s} is not what is at +Inf"
        if not counts:
            return f"{family.name} is empty"
    return "yes"


def shapes(found):
    """
    What is the same for all pages of a side: names, names of labels, and values that are words of the program.
    """
    words = set()
    for name, labels in found:
        of = dict(labels)
        operation = None if "status" in of else of.get("operation")
        words.add((name, tuple(sorted(of)), of.get("side"), of.get("reason"), operation))
    return words


def stale(path, made):
    """What is wrong with the recorded page, which has a selection of the metrics."""
    recorded = shapes(samples(read(path, prometheus)))
    names = {shape[0] for shape in recorded}
    differ = recorded ^ {shape for shape in shapes(k for k in made if k[0] in names)}
    return f"record-pages is to be run again: {differ}" if differ or not names else "yes"


def tell(name, verdict):
    print(name, verdict, sep="\t")


def main():
    new, old = read(sys.argv[1], openmetrics), read(sys.argv[2], prometheus)
    tell("histograms end with their counts", histograms(new))
    begun = {f.name for f in new if any(s.name.endswith("_created") for s in f.samples)}
    counted = {f.name for f in new if f.type in ("counter", "histogram") and f.samples}
    tell("what counts says since when", "yes" if begun == counted else f"{begun ^ counted}")
    units = [f.name for f in new if f.unit and not f.name.endswith(f.unit)]
    tell("names end with their units", "yes" if not units else f"{units}")
    exemplars = [s.exemplar for f in new for s in f.samples if s.exemplar]
    wanted = {"cid": "4097", "queue": "1", "stage": "blk_submission"}
    found = [(e.labels, e.value) for e in exemplars] == [(wanted, 7e-7)]
    tell("the exemplar comes out as it is", "yes" if found else f"{exemplars}")
    new, old = samples(new), samples(old)
    tell("both formats have the same samples", "yes" if new == old else f"{new.items() ^ old.items()}")
    tell("the recorded page of the host has what serve tells now", stale("tests/formats/pages.host", old))
    target = samples(read(sys.argv[3], openmetrics))
    tell("the recorded page of the target, too", stale("tests/formats/pages.target", target))
    nqns = {dict(labels).get("subsysnqn") for _, labels in new}
    # The end of a line is a control character, which no name may show.
    name = 'nqn.2024-01.io.example:a\\b"c"\ufffdd'
    tell("an awkward name comes out as it is, but for control characters", "yes" if name in nqns else f"{nqns}")


main()
