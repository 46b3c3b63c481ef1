# SPDX-License-Identifier: GPL-2.0-only
"""
openmetrics.py OPENMETRICS PROMETHEUS - read both formats of a page with the parsers of prometheus_client, which are not
ours, and compare. Prints "NAME<tab>yes" or "NAME<tab>WHAT IS WRONG".
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
    nqns = {dict(labels).get("subsysnqn") for _, labels in new}
    # The end of a line is a control character, which no name may show.
    name = 'nqn.2024-01.io.example:a\\b"c"\ufffdd'
    tell("an awkward name comes out as it is, but for control characters", "yes" if name in nqns else f"{nqns}")


main()
