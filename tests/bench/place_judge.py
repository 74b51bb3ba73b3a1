#!/usr/bin/env python3
"""place_judge.py - judges an answer to a placement workload, independently of the project's code.

Usage: place_judge.py WORKLOAD.json ANSWER.json
ANSWER is what `cleave place --json` prints. Exit status 1 when it is not legal, or not what it says.

Written from docs/formats/workload.md and the published programs, with exact fractions: no sum is
rounded before the end.
"""
import json
import sys
from fractions import Fraction

TOLERANCE = Fraction(1, 10**12)  # of the value: what doubles may lose
INFINITE = float("inf")


class Workload:
    """nodes are numbered as the file lists them; device 0 .. k - 1 accelerators, then CPUs"""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            raw = json.load(f)
        nodes = raw["nodes"]
        self.k, self.cpus = int(raw["maxFPGAs"]), int(raw["maxCPUs"])
        self.capacity = Fraction(raw["maxSizePerFPGA"])
        self.ids = [n["id"] for n in nodes]
        at = {name: v for v, name in enumerate(self.ids)}
        self.n = len(nodes)
        self.acc = [Fraction(n["fpgaLatency"]) for n in nodes]
        self.cpu = [Fraction(n["cpuLatency"]) for n in nodes]
        self.size = [Fraction(n.get("size", 0)) for n in nodes]
        self.supported = [bool(n["supportedOnFpga"]) for n in nodes]
        self.backward = [bool(n.get("isBackwardNode", False)) for n in nodes]
        self.group = [("class", n["colorClass"]) if n.get("colorClass") is not None else ("own", v)
                      for v, n in enumerate(nodes)]
        self.edges = list(dict.fromkeys((at[e["sourceId"]], at[e["destId"]]) for e in raw["edges"]))
        self.cost = [Fraction(0)] * self.n
        for e in reversed(raw["edges"]):  # so that the first of a source is the one that stays
            self.cost[at[e["sourceId"]]] = Fraction(e["cost"])
        self.before = [[] for _ in nodes]
        for u, v in self.edges:
            self.before[v].append(u)

    def pays(self, device):
        return device < self.k

    def order(self):
        """every node behind all that it reads"""
        left = [len(b) for b in self.before]
        after = [[] for _ in range(self.n)]
        for u, v in self.edges:
            after[u].append(v)
        line = [v for v in range(self.n) if not left[v]]
        for u in line:
            for v in after[u]:
                left[v] -= 1
                if not left[v]:
                    line.append(v)
        return line


def loads(w, place):
    total = [Fraction(0)] * (w.k + w.cpus)
    for v, d in enumerate(place):
        total[d] += w.acc[v] if w.pays(d) else w.cpu[v]
    charged = {(u, d) for u, v in w.edges if place[u] != place[v] for d in (place[u], place[v])}
    for u, d in charged:
        if w.pays(d):
            total[d] += w.cost[u]
    return total


def has_cycle(n, arcs):
    after = [set() for _ in range(n)]
    for a, b in arcs:
        after[a].add(b)
    left = set(range(n))
    while True:
        ends = {a for a in left if not after[a] & left}
        if not ends:
            return bool(left)
        left -= ends


def is_contiguous(w, place):
    """the devices stand in a line; classes without a forward node as in a mirror image"""
    forward = {w.group[v] for v in range(w.n) if not w.backward[v]}
    arcs = set()
    for u, v in w.edges:
        if not w.backward[u] and not w.backward[v]:
            arcs.add((place[u], place[v]))
        elif w.backward[u] and w.backward[v] and not (w.group[u] in forward and w.group[v] in forward):
            arcs.add((place[v], place[u]))
    return not has_cycle(w.k + w.cpus, {(a, b) for a, b in arcs if a != b})


def pieces(w, place):
    """of each node: its piece on an accelerator, or itself alone on a CPU"""
    piece = [("cpu", v) for v in range(w.n)]
    line = w.order()
    for d in {d for d in place if w.pays(d)}:
        level = [0] * w.n
        for v in line:
            here = place[v] == d
            level[v] = max([1 if here else 0] +
                           [level[u] + (1 if here and place[u] != d else 0) for u in w.before[v]])
            if here:
                piece[v] = (d, level[v])
    return piece


def latency(w, place):
    piece = pieces(w, place)
    members, reads, sends = {}, {}, {}
    for v, name in enumerate(piece):
        members.setdefault(name, []).append(v)
    for u, v in w.edges:
        if piece[u] != piece[v]:
            reads.setdefault(piece[v], set()).add(u)
            sends.setdefault(piece[u], set()).add(u)
    finish = {}
    left = set(members)
    while left:
        ready = [b for b in left if all(piece[u] in finish for u in reads.get(b, ()))]
        if not ready:
            return INFINITE
        for b in ready:
            start = max([finish[piece[u]] for u in reads.get(b, ())], default=Fraction(0))
            if b[0] == "cpu":
                finish[b] = start + w.cpu[b[1]]
            else:
                finish[b] = start + sum(w.acc[v] for v in members[b]) + \
                    sum(w.cost[u] for u in reads.get(b, ())) + sum(w.cost[u] for u in sends.get(b, ()))
        left -= set(ready)
    return max(finish.values(), default=Fraction(0))


def faults(w, place, contiguous):
    """in words; empty for a legal placement"""
    found = []
    for v, d in enumerate(place):
        if not isinstance(d, int) or not 0 <= d < w.k + w.cpus:
            return [f"node {w.ids[v]} is on device {d}, of {w.k + w.cpus}"]
        if w.pays(d) and not w.supported[v]:
            found.append(f"node {w.ids[v]} is on accelerator {d}, which does not support it")
    where = {}
    for v, d in enumerate(place):
        if where.setdefault(w.group[v], d) != d:
            found.append(f"class {w.group[v][1]} is on devices {where[w.group[v]]} and {d}")
    for d in range(w.k):
        size = sum(w.size[v] for v in range(w.n) if place[v] == d)
        if size > w.capacity:
            found.append(f"device {d} holds {float(size)} bytes of {float(w.capacity)}")
    if contiguous and not is_contiguous(w, place):
        found.append("the devices do not stand in a line")
    return found


def close(a, b):
    if INFINITE in (a, b):
        return a == b
    return abs(Fraction(a) - Fraction(b)) <= TOLERANCE * max(1, abs(Fraction(b)))


def check_devices(w, place, load, answer):
    found = []
    for row in answer.get("devices", []):
        d = row["device"]
        mine = [v for v in range(w.n) if place[v] == d]
        if not close(row["load"], load[d]):
            found.append(f"device {d}: load {row['load']} is said, {float(load[d])} is true")
        size = sum(w.size[v] for v in mine)  # of which each may have been rounded up to a whole byte
        if row["nodes"] != len(mine) or not 0 <= row["bytes"] - size <= len(mine):
            found.append(f"device {d}: {row['nodes']} nodes of {row['bytes']} bytes are said, not so")
    return found


def judge(w, answer):
    """(objective as it really is, list of faults in words)"""
    where = answer["assignment"]
    missing = [i for i in w.ids if str(i) not in where]
    if missing or len(where) != w.n:
        return None, [f"{len(missing)} nodes without a device, {len(where)} of {w.n} assigned"]
    place = [where[str(i)] for i in w.ids]
    found = faults(w, place, answer["contiguous"])
    if found:
        return None, found
    load = loads(w, place)
    true = {"throughput": lambda: max(load, default=Fraction(0)), "latency": lambda: latency(w, place),
            "devices": lambda: Fraction(len(set(place)))}[answer["objective_name"]]()
    if not close(answer["objective"], true):
        found.append(f"objective {answer['objective']} is said, {float(true)} is true")
    if answer["bound"] is not None and Fraction(answer["bound"]) > true * (1 + TOLERANCE):
        found.append(f"bound {answer['bound']} is above the objective {float(true)}")
    return true, found + check_devices(w, place, load, answer)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as f:
        answer = json.load(f)
    true, found = judge(Workload(sys.argv[1]), answer)
    print("\n".join(found) or f"legal; {answer['objective_name']} is {float(true)!r}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
