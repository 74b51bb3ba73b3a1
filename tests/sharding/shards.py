"""shards.py - one operator, computed shard by shard as a rule says, and put together again.

A Rule is what dump_rules prints of an operator (src/sharding/factors.h explains the words): factors,
the factors of each dimension, what changes on a shard, and the choices that are admitted. A part of
a factor is a range of its elements; what a device holds of a tensor follows from the parts of the
factors of its dimensions.
"""
import copy
import functools
import itertools
import math

import numpy as np

from reference import Call, call_of, run_call

PARTIAL = -2  # of a layout's dim
RTOL, ATOL = 1e-4, 1e-5  # sums of parts are in another order than the sum of all

REDUCE = {
    "sum": lambda parts: sum(parts[1:], parts[0]),
    "mean": lambda parts: (sum(parts[1:], parts[0]) / len(parts)).astype(parts[0].dtype),
    "max": lambda parts: functools.reduce(np.maximum, parts),
    "min": lambda parts: functools.reduce(np.minimum, parts),
    "prod": lambda parts: functools.reduce(np.multiply, parts),
    "l2": lambda parts: np.sqrt(sum(np.square(p) for p in parts)).astype(parts[0].dtype),
    "log_sum": lambda parts: np.log(sum(np.exp(p) for p in parts)).astype(parts[0].dtype),
}


class Fault(Exception):
    """A rule that does not hold, in a sentence."""


@functools.lru_cache(maxsize=None)
def set_of(raw):
    """One array for equal sets of elements, so that comparing them is comparing names."""
    return np.frombuffer(raw, np.int64)


@functools.lru_cache(maxsize=None)
def product_of(ranges):
    """Elements of a product of factors, each (size, low, high), the outermost first."""
    at = np.zeros(1, np.int64)
    for size, low, high in ranges:
        at = (at[:, None] * size + np.arange(low, high)[None, :]).ravel()
    return set_of(at.tobytes())


@functools.lru_cache(maxsize=None)
def nest_of(size, steps, policy):
    """Elements of a dimension that axes split, each (outer, unit, number of part, number of
    parts)."""
    at, kept, ranges = np.arange(size), np.ones(size, bool), {}
    for outer, unit, part, parts in steps:
        if size % (outer * unit):
            raise Fault(f"an axis splits a dimension of {size} within {outer} outer ones, in units "
                        f"of {unit}")
        low, high = ranges.get(outer, (0, size // outer))
        ranges[outer] = part_of(low, high, unit, part, parts, policy)
    for outer, (low, high) in ranges.items():
        kept &= (at % (size // outer) >= low) & (at % (size // outer) < high)
    return set_of(at[kept].tobytes())


def part_of(low, high, granule, part, parts, policy):
    """Where one of the parts of a range begins and ends, in multiples of the granule; what does not
    fill one more belongs to the last. "ceil": all of the same size, the last smaller or empty;
    "balanced": none larger than another by more than one granule; "shares": one each, and of the
    rest twice as much for the second as for the first, three times for the third."""
    units = (high - low) // granule or 1
    if policy == "ceil":
        each = -(-units // parts)
        cuts = [min(i * each, units) for i in (part, part + 1)]
    elif policy == "shares":
        spare = max(units - parts, 0)  # beyond one for each
        cuts = [min(i, units) + spare * i * (i + 1) // (parts * (parts + 1))
                for i in (part, part + 1)]
    else:
        cuts = [i * (units // parts) + min(i, units % parts) for i in (part, part + 1)]
    first, last = (high if c == units else low + c * granule for c in cuts)
    return first, max(first, last)


class Split:
    """For one device: the range of elements that it has of each split factor, and which elements of
    a dimension these are."""

    def __init__(self, factors, steps, policy):
        """steps: factor -> for each axis that splits it, the outermost first, (number of this part,
        number of parts)"""
        self.factors, self.range = factors, {}
        self.first = {f: all(part == 0 for part, _ in taken) for f, taken in steps.items()}
        for f, taken in steps.items():
            low, high = 0, factors[f]["size"]
            for part, n in taken:
                low, high = part_of(low, high, factors[f]["granule"], part, n, policy)
            self.range[f] = low, high

    def of(self, f):
        return self.range.get(f, (0, self.factors[f]["size"]))

    def local_size(self, f):
        low, high = self.of(f)
        return high - low

    def is_split(self, f):
        return f in self.range

    def empty(self):
        return any(low == high for low, high in self.range.values())

    def elements(self, dim, size, what):
        """Numbers of the elements of a dimension of so many that the device has."""
        if not any(f in self.range for f in dim):
            return product_of(((size, 0, size),))
        whole = math.prod(self.factors[f]["size"] for f in dim)
        if whole != size:
            raise Fault(f"{what} has {size} elements, and its factors {whole}")
        return product_of(tuple((self.factors[f]["size"], *self.of(f)) for f in dim))


# -- what a device gets --

def halo_of(split, dim):
    """The halo factor of a dimension, where it is split, or None."""
    for f in dim:
        if split.factors[f]["kind"] == "halo" and split.is_split(f):
            return f
    return None


def with_halo(x, axis, dim, split, fill):
    """A part of a dimension with its neighbours' borders, and padding beyond the ends."""
    f = halo_of(split, dim)
    one = split.factors[f]
    inner = math.prod(split.factors[g]["size"] for g in dim[dim.index(f) + 1:])
    low, high = split.of(f)
    first, last = low * inner - one["before"], high * inner + one["after"]
    widths = [(0, 0)] * x.ndim
    widths[axis] = (max(0, -first), max(0, last - x.shape[axis]))
    padded = np.pad(x, widths, constant_values=fill)
    return np.take(padded, np.arange(first, last) + widths[axis][0], axis)


def padding_value(call, x):
    if "MaxPool" in call.op or "Maxpool" in call.op:
        return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return 0


def part_of_input(rule, split, k, x, call):
    """Input k of a device."""
    operand = rule["in"][k]
    dims = operand["dims"]
    if dims and len(dims) != x.ndim:
        raise Fault(f"input {k} has {x.ndim} dimensions, the rule says {len(dims)}")
    out, embed = x, []
    for axis, dim in enumerate(dims):
        if halo_of(split, dim) is not None:
            out = with_halo(out, axis, dim, split, padding_value(call, x))
            continue
        at = split.elements(dim, x.shape[axis], f"input {k}, dimension {axis}")
        if any(split.factors[f].get("by_index") and split.is_split(f) for f in dim):
            embed.append((axis, at))
        out = np.take(out, at, axis)
    if operand["once"] and any(
            one["kind"] == "reduced" and split.is_split(f) and not split.first[f]
            and not any(f in dim for dim in dims) for f, one in enumerate(split.factors)):
        out = np.zeros_like(out)
    return out, embed


def as_of_all(x, embed, sizes):
    """Chosen by number, a device answers for its own elements: to others it gives 0. Here all
    others are zeros, so that numbers need not change."""
    for axis, at in embed:
        whole = np.zeros(x.shape[:axis] + (sizes[axis],) + x.shape[axis + 1:], x.dtype)
        cut = [slice(None)] * x.ndim
        cut[axis] = at
        whole[tuple(cut)] = x
        x = whole
    return x


# Operators whose split table is looked up by the indices in input 1 less the part's first row; rows
# of other parts give 0.
LOOKUPS = {("", "Gather"), ("com.microsoft", "TorchEmbedding")}


def look_up(call, inputs, embed):
    """The same again by what a device would do: subtract, and mask."""
    axis, at = embed[0]
    table, indices = inputs[0], np.asarray(inputs[1])
    rows = np.where(indices < 0, indices + call.attrs["rows of all"], indices) - at[0]
    mine = (rows >= 0) & (rows < len(at))
    local = Call(call.op, call.domain, call.opset, call.n_out,
                 {k: v for k, v in call.attrs.items() if k != "rows of all"})
    found = run_call(local, [table, np.where(mine, rows, 0)] + list(inputs[2:]))[0]
    mask = mine.reshape((1,) * axis + mine.shape + (1,) * (found.ndim - axis - mine.ndim))
    return (np.where(mask, found, 0).astype(found.dtype),)


def changed(rule, split, call, inputs):
    """Attributes and constant inputs as they are on this device."""
    inputs = [None if x is None else x.copy() for x in inputs]
    call = Call(call.op, call.domain, call.opset, call.n_out, copy.deepcopy(call.attrs))
    for one in rule["local"]:
        if not any(split.is_split(f) for f in one["of"]):
            continue
        number = 0 if one["zero"] else math.prod(split.local_size(f) for f in one["of"])
        if one["attr"] is None:
            if one["at"] < 0:
                inputs[one["in"]] = np.full_like(inputs[one["in"]], number)
            else:
                inputs[one["in"]].reshape(-1)[one["at"]] = number
        elif one["at"] < 0:
            call.attrs[one["attr"]] = number
        else:
            call.attrs[one["attr"]] = list(call.attrs[one["attr"]])
            call.attrs[one["attr"]][one["at"]] = number
    return call, inputs


def run_device(rule, split, call, inputs):
    """The outputs of one device."""
    parts, embeds = [], []
    for k, x in enumerate(inputs):
        if x is None:
            parts.append(None)
            continue
        part, embed = part_of_input(rule, split, k, x, call)
        parts.append(part)
        embeds.append((k, embed))
    call, parts = changed(rule, split, call, parts)
    own = [(k, e) for k, e in embeds if e]
    if not own:
        return run_call(call, parts)
    whole = list(parts)
    for k, embed in own:
        whole[k] = as_of_all(parts[k], embed, inputs[k].shape)
    out = run_call(call, whole)
    if (call.domain, call.op) in LOOKUPS:
        call.attrs["rows of all"] = inputs[0].shape[own[0][1][0][0]]
        again = look_up(call, parts, own[0][1])
        if not same(again[0], out[0]):
            raise Fault("looking up the rows of a part, less its first, is not the same")
    return out


# -- layouts --

def layout_elements(layout, dim, size, coordinates, mesh, policy):
    """Elements of a dimension by src/sharding/layout.h alone."""
    axes = [a for a in range(len(mesh)) if layout[a]["dim"] == dim]
    axes.sort(key=lambda a: layout[a]["nest"])
    nests = [layout[a]["nest"] for a in axes]
    if nests != list(range(len(axes))):
        raise Fault(f"the axes on dimension {dim} nest as {nests}")
    steps = tuple((layout[a]["outer"], layout[a]["unit"], coordinates[a], mesh[a]) for a in axes)
    return nest_of(size, steps, policy)


def check_layout(layout, operand, shape, split, coordinates, mesh, policy, what):
    """What a layout says that a device has is what the factors say."""
    touched = {one["dim"] for one in layout}
    for axis, dim in enumerate(operand["dims"]):
        if axis not in touched and not any(f in split.range for f in dim):
            continue
        if halo_of(split, dim) is not None:
            continue  # borders are no part of a layout
        want = split.elements(dim, shape[axis], what)
        got = layout_elements(layout, axis, shape[axis], coordinates, mesh, policy)
        if got is not want:
            raise Fault(f"the layout of {what} gives device {coordinates} elements {got.tolist()} "
                        f"of dimension {axis}, its factors {want.tolist()}")


# -- the whole choice --

def same(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    equal = got == want
    if want.dtype.kind == "f" and not equal.all():
        equal |= np.abs(got - want) <= ATOL + RTOL * np.abs(want)
        equal |= np.isnan(got) & np.isnan(want)
    return bool(equal.all())


class Trial:
    """A case under its rule; results of devices are kept, as many choices share them."""

    def __init__(self, case, rule):
        self.case, self.rule = case, rule
        self.inputs = case.values()
        self.call = call_of(case.node(self.inputs)[0], case.opset)
        self.whole = run_call(self.call, self.inputs)
        self.known = {}
        self.n_runs = self.n_compared = 0

    def device(self, split, key):
        if key not in self.known:
            self.known[key] = run_device(self.rule, split, self.call, self.inputs)
            self.n_runs += 1
        return self.known[key]

    def splits(self, choice, policy):
        """coordinates -> Split"""
        mesh, of_axis = choice["mesh"], choice["axes"]
        out = {}
        for at in itertools.product(*map(range, mesh)):
            steps = {}
            for a, f in enumerate(of_axis):
                if f >= 0:
                    steps.setdefault(f, []).append((at[a], mesh[a]))
            out[at] = Split(self.rule["factors"], steps, policy)
        return out

    def policies(self, choice):
        """policy -> Split of each device; the second only where its parts are others, shares only on
        one axis, and of factors that need not be cut evenly."""
        found = {policy: self.splits(choice, policy) for policy in ("ceil", "balanced")}
        if all(s.range == found["balanced"][at].range for at, s in found["ceil"].items()):
            del found["balanced"]
        if len(choice["mesh"]) == 1 and self.may_have_shares(choice["axes"][0]):
            found["shares"] = self.splits(choice, "shares")
        return found

    def may_have_shares(self, f):
        """Not where the factor is an inner or outer one of a dimension."""
        one = self.rule["factors"][f]
        return not one["even"] and one["granule"] == 1 and all(
            len(dim) == 1 or f not in dim
            for operand in self.rule["in"] + self.rule["out"] for dim in operand["dims"])

    def check(self, choice, policy, splits):
        results = {}
        for at, split in splits.items():
            for k, x in enumerate(self.inputs):
                if x is not None:
                    check_layout(choice["in"][k], self.rule["in"][k], x.shape, split, at,
                                 choice["mesh"], policy, f"input {k}")
            if not split.empty():
                key = tuple(sorted((f, split.first[f], *r) for f, r in split.range.items()))
                results[at] = self.device(split, key)
        for k, name in enumerate(self.case.outputs):
            if name:
                self.check_output(choice, policy, k, splits, results)

    def check_output(self, choice, policy, k, splits, results):
        """Reduces over the axes that hold partial results, and compares each device's share."""
        layout, operand, mesh = choice["out"][k], self.rule["out"][k], choice["mesh"]
        whole = np.asarray(self.whole[k])
        if operand["dims"] and len(operand["dims"]) != whole.ndim:
            raise Fault(f"output {k} has {whole.ndim} dimensions, the rule says "
                        f"{len(operand['dims'])}")
        partial = [a for a in range(len(mesh)) if layout[a]["dim"] == PARTIAL]
        groups = {}
        for at, split in splits.items():
            check_layout(layout, operand, whole.shape, split, at, mesh, policy, f"output {k}")
            if at in results:
                fixed = tuple(c for a, c in enumerate(at) if a not in partial)
                groups.setdefault(fixed, []).append(at)
        n_covered = {}
        for members in groups.values():
            split = splits[members[0]]
            cut = [split.elements(dim, whole.shape[axis], f"output {k}")
                   for axis, dim in enumerate(operand["dims"])]
            where = np.ix_(*cut) if cut else ()
            got = self.reduced(k, layout, partial, members, results)
            self.n_compared += 1
            if not same(got, whole[where]):
                raise Fault(self.words(k, members[0], got, whole[where]))
            n_covered[tuple(map(id, cut))] = got.size
        if sum(n_covered.values()) != whole.size:  # parts are equal or have nothing in common
            raise Fault(f"the parts of output {k} are {sum(n_covered.values())} elements of "
                        f"{whole.size}")

    def reduced(self, k, layout, partial, members, results):
        values = {at: np.asarray(results[at][k]) for at in members}
        for a in partial:
            rest = {}
            for at, value in values.items():
                rest.setdefault(at[:a] + (0,) + at[a + 1:], []).append(value)
            values = {at: REDUCE[layout[a]["reduce"]](parts) for at, parts in rest.items()}
        return next(iter(values.values()))

    def words(self, k, at, got, want):
        if got.shape != want.shape:
            return f"output {k} of device {at} has the shape {got.shape}, expected {want.shape}"
        if got.dtype != want.dtype:
            return f"output {k} of device {at} is {got.dtype}, expected {want.dtype}"
        off = np.abs(got.astype(float) - want.astype(float))
        return f"output {k} of device {at} differs from the whole by up to {np.nanmax(off):.3g}"
