# SPDX-License-Identifier: GPL-2.0-only
"""Pages of serve that were recorded one after the other (tests/fleet/record), and what they go on with when they are over."""
import tarfile


def read(archive):
    """The pages of each folder of the archive, in order: {"host1": [bytes, ...]}."""
    pages = {}
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda m: m.name):
            if member.isfile():
                folder = member.name.split("/", 1)[0]
                pages.setdefault(folder, []).append(tar.extractfile(member).read())
    return pages


def counts(sample):
    return sample.split(b"{", 1)[0].endswith((b"_total", b"_bucket", b"_count", b"_sum"))


class Node:
    """What a machine serves at each step: its pages in turn. Counters go on from the last page with what they grew by; those of
    a single page grow by what they are, in each step."""

    def __init__(self, pages, renames):
        self.steps = []
        for page in pages:
            for old, new in renames.items():
                page = page.replace(old, new)
            self.steps.append([self.split(line) for line in page.splitlines()])
        first = {} if len(pages) == 1 else {s: v for s, v in self.steps[0] if v is not None}
        self.grown = {s: float(v) - float(first.get(s, 0)) for s, v in self.steps[-1] if v is not None and counts(s)}
        self.made = None, b""

    @staticmethod
    def split(line):
        if line.startswith(b"#"):
            return line, None
        # An exemplar stays in its sample's first turn only.
        sample, value = line.split(b" # ", 1)[0].rsplit(b" ", 1)
        return sample, value

    def page(self, step):
        if self.made[0] == step:
            return self.made[1]
        turn, at = divmod(step, len(self.steps))
        lines = []
        for sample, value in self.steps[at]:
            if value is None:
                lines.append(sample)
            elif turn and sample in self.grown:
                lines.append(sample + b" " + repr(float(value) + turn * self.grown[sample]).encode())
            else:
                lines.append(b"%s %s" % (sample, value))
        self.made = step, b"\n".join(lines) + b"\n"
        return self.made[1]

    def samples(self):
        return sum(v is not None for _, v in self.steps[-1])
