#!/usr/bin/env python3
"""check_peak.py - the memory that a plan with a mesh promises, worked out anew from what is written.

Usage: check_peak.py MODEL PLAN.json SHARDS.json [--any-order]

From the model's shapes (by onnx's own inference), the parts of tensors (`cleave shards --json` of the annotated
model) and the list of collectives comes what
one device of each mesh holds: parts of weights, and by operator the parts of tensors that are alive then,
each at a multiple of 256 bytes, as docs/cost-model.md says. Compared with the plan file's figures:

    weights       equal
    activations   equal to the most that is alive at a time; where an operator's workspace comes on top at
                  the fullest moment, at least that less the workspace
    peak          no less than the two, the workspace and what is in flight; at most half of them above

Operators are taken in the order of the file. Where the compiler has them in another one (it goes unit by unit),
say --any-order: then what is alive is only held between what one operator needs and all that there is.

And for every tensor: its parts on all devices together hold at least the whole. Exit 1 where any fails.
"""
import json
import math
import sys

import onnx
from onnx import shape_inference

ALIGN = 256
VIEWS = {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Dropout"}
GAPS = 0.5  # of the arena: addresses are given in one pass
faults = []


def fault(text):
    faults.append(text)


def aligned(n):
    return -(-n // ALIGN) * ALIGN


def shapes_of(model):
    """name -> (dims, bytes of an element)"""
    graph = shape_inference.infer_shapes(model).graph
    found = {}
    for v in list(graph.input) + list(graph.value_info) + list(graph.output):
        t = v.type.tensor_type
        found[v.name] = ([d.dim_value for d in t.shape.dim], width(t.elem_type))
    for w in graph.initializer:
        found[w.name] = (list(w.dims), width(w.data_type))
    return found


def width(element_type):
    t = onnx.TensorProto
    return {t.FLOAT: 4, t.INT64: 8, t.FLOAT16: 2, t.BFLOAT16: 2, t.BOOL: 1, t.INT32: 4}[element_type]


def part_by_words(dims, words, axes):
    """of a layout as '{-, dp.tp@3} sum(sp)'"""
    part = list(dims)
    inside = words[words.index("{") + 1:words.index("}")]
    for i, word in enumerate(inside.split(", ") if inside else []):
        size = dims[i]
        for one in word.split(".") if word != "-" else []:
            name, _, outer = one.partition("@")
            n = int(outer or 1)
            size = n * math.ceil(size // n / axes[name])
        part[i] = size
    return part


class Mesh:
    """What one of its devices runs: operators in order, each with what it reads and writes."""

    def __init__(self):
        self.ops = []      # (what, reads, writes, is a view)
        self.weights = {}  # (name, part) -> bytes


class Checker:
    def __init__(self, model, plan, shards):
        self.graph, self.plan = model.graph, plan
        self.shape = shapes_of(model)
        self.axes = {a["name"]: a["size"] for a in plan["mesh"]["axes"]}
        self.weights = {w.name for w in self.graph.initializer}
        self.constants = {n.output[0] for n in self.graph.node if n.op_type == "Constant"}  # lie with weights
        self.inputs = [i.name for i in self.graph.input if i.name not in self.weights]
        self.outputs = {o.name for o in self.graph.output}
        parts = {n["node"]: {t["tensor"]: [max(d) for d in zip(*(p["shape"] for p in t["shards"]))]
                             for t in n["tensors"]} for n in shards["nodes"]}
        self.largest_parts = [parts.get(n.name, {}) for n in self.graph.node]
        self.meshes = {d[0]: Mesh() for d in plan["mesh"]["devices"]}
        self.mesh_of = [m for m, n in plan["operators"]["device_runs"] for _ in range(n)]
        self.home = {}   # name -> where it lies: (name, number) of a version
        self.bytes = {}  # version -> bytes of the part
        self.n = 0

    def version(self, name, dims):
        self.n += 1
        v = (name, self.n)
        self.bytes[v] = math.prod(dims) * self.shape[name][1]
        return v

    def spec_part(self, node, name):
        dims = self.shape[name][0]
        part = self.largest_parts[node].get(name)
        if part is None:
            fault(f"node {node} has no spec for '{name}'")
            return dims
        n = self.plan["mesh"]["devices"][0]
        if math.prod(part) * len(n) < math.prod(dims):
            fault(f"the parts of '{name}' hold less than the whole")
        return part

    def take(self, mesh, chain, name, v):
        """collectives on a tensor, one after another"""
        for c in chain:
            to = self.version(name, part_by_words(self.shape[name][0], c["to"], self.axes))
            mesh.ops.append((c["kind"], [v], [to], False))
            v = to
        return v

    def hold(self, mesh, name, part):
        mesh.weights[name, tuple(part)] = math.prod(part) * self.shape[name][1]

    def enter(self, i, node, waiting):
        """inputs: they lie as the first thing that is done with them says"""
        for name in node.input:
            if name not in self.inputs or name in self.home:
                continue
            words = [c["from"] for c in waiting if c["tensor"] == name]
            part = part_by_words(self.shape[name][0], words[0], self.axes) if words else self.spec_part(i, name)
            self.home[name] = self.version(name, part)

    def run(self):
        waiting = list(self.plan["collectives"])
        for i, node in enumerate(self.graph.node):
            mesh = self.meshes[self.mesh_of[i]]
            if node.output[0] in self.constants:
                self.hold(mesh, node.output[0], self.shape[node.output[0]][0])
                continue
            reads = []
            self.enter(i, node, waiting)
            for name in node.input:
                if name in self.weights or name in self.constants:
                    self.hold(mesh, name, self.spec_part(i, name))
                elif name:
                    chain = []
                    while waiting and waiting[0].get("reader") == node.name and waiting[0]["tensor"] == name:
                        chain.append(waiting.pop(0))
                    v = self.take(mesh, chain, name, self.home[name])
                    if self.bytes[v] != math.prod(self.spec_part(i, name)) * self.shape[name][1]:
                        fault(f"'{name}' comes to '{node.name}' in another part than its spec says")
                    reads.append(v)
            writes = [self.write(i, name, waiting) for name in node.output if name]
            mesh.ops.append((node.name, reads, writes, node.op_type in VIEWS))
            for name in node.output:
                chain = []
                while waiting and not waiting[0].get("reader") and waiting[0]["tensor"] == name:
                    chain.append(waiting.pop(0))
                if name:
                    self.home[name] = self.take(mesh, chain, name, self.home[name])
        if waiting:
            fault(f"{len(waiting)} collectives have no place, the first on '{waiting[0]['tensor']}'")

    def write(self, i, name, waiting):
        after = [c for c in waiting if c["tensor"] == name and not c.get("reader")]
        part = part_by_words(self.shape[name][0], after[0]["from"], self.axes) if after \
            else self.spec_part(i, name)
        self.home[name] = self.version(name, part)
        return self.home[name]

    def lives(self, k):
        """version -> [first, last] by operator of a stage; views with what they are of"""
        ops, owner, life = self.meshes[k].ops, {}, {}
        sent = {v for other, m in self.meshes.items() if other != k for _, reads, _, _ in m.ops for v in reads}
        for at, (_, reads, writes, is_view) in enumerate(ops):
            for v in reads:
                o = owner.setdefault(v, v)
                start = 0 if v[0] in self.inputs and v == self.home[v[0]] else at
                life.setdefault(o, [start, at])[1] = at
            for n, v in enumerate(writes):
                owner[v] = owner[reads[0]] if is_view and n == 0 and reads else v
                last = at + 1 if v in sent else at
                if v[0] in self.outputs and v == self.home[v[0]]:
                    last = len(ops) - 1
                last = min(last, len(ops) - 1)
                one = life.setdefault(owner[v], [at, last])
                one[1] = max(one[1], last)
        return life

    def most_alive(self, k):
        change = [0] * (len(self.meshes[k].ops) + 1)
        for v, (first, last) in self.lives(k).items():
            change[first] += aligned(self.bytes[v])
            change[last + 1] -= aligned(self.bytes[v])
        most = alive = 0
        for c in change:
            alive += c
            most = max(most, alive)
        return most

    def compare(self, any_order):
        for devices in self.plan["mesh"]["devices"]:
            mesh = self.meshes[devices[0]]
            weights, alive = sum(mesh.weights.values()), self.most_alive(devices[0])
            for d in devices:
                self.compare_device(self.plan["devices"][d], weights, self.bounds(devices[0], alive, any_order))
            print(f"device {devices[0]}: {len(mesh.ops)} operators and collectives, weights {weights}, "
                  f"alive {alive}")

    def bounds(self, k, alive, any_order):
        """least and most bytes that may be alive at the fullest moment"""
        if not any_order:
            return alive, alive
        ops = self.meshes[k].ops
        least = max((sum(aligned(self.bytes[v]) for v in {*reads, *([] if view else writes)})
                     for _, reads, writes, view in ops), default=0)
        return least, sum(aligned(self.bytes[v]) for v in self.lives(k))

    @staticmethod
    def compare_device(d, weights, alive):
        name, act, ws = d["name"], d["activation_bytes"], d["workspace_bytes"]
        if d["weight_bytes"] != weights:
            fault(f"{name}: weights {d['weight_bytes']}, expected {weights}")
        if act > alive[1] or act + ws < alive[0]:
            fault(f"{name}: activations {act} and workspace {ws}, expected {alive[0]} to {alive[1]} alive")
        arena = d["peak_bytes"] - d.get("in_flight_bytes", 0) - aligned(weights)
        if not act + ws <= arena <= (act + ws) * (1 + GAPS):
            fault(f"{name}: a peak of {d['peak_bytes']} with {weights} + {act} + {ws}")


def main():
    model = onnx.load(sys.argv[1], load_external_data=False)
    with open(sys.argv[2], encoding="utf-8") as f, open(sys.argv[3], encoding="utf-8") as g:
        c = Checker(model, json.load(f), json.load(g))
    c.run()
    c.compare("--any-order" in sys.argv)
    for text in faults[:10]:
        print(text, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
