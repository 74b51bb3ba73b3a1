#!/usr/bin/env python3
"""make_models.py - made models for the benches, written as raw protobuf so that size costs nothing.

  make_models.py chain N OUT        N operators in residual blocks, one small weight each block
  make_models.py branches N OUT     N operators, 64 chains side by side and a join each 1,025
  make_models.py weights BYTES OUT  a model with BYTES of weights inside, in 64 MiB initialisers
"""
import sys


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number(n, value):
    return varint(n << 3) + varint(value)


def value_info(name, dims):
    shape = b"".join(field(1, number(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))


def node(op, name, inputs, outputs):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    return field(1, out + field(3, name) + field(4, op))


def tensor_head(name, dims):
    return b"".join(number(1, d) for d in dims) + number(2, 1) + field(8, name)


def opening(graph_size):
    return number(1, 8) + field(8, number(2, 17)) + varint(7 << 3 | 2) + varint(graph_size)


WIDTH = 64


def dense(b, read, k):
    """A MatMul named b and its weight; the payload is elsewhere: planning never reads it."""
    w = b"w" + b
    data = tensor_head(w, [WIDTH, WIDTH])
    data += field(13, field(1, b"location") + field(2, b"weights.bin"))
    data += field(13, field(1, b"offset") + field(2, b"%d" % (k * 4 * WIDTH * WIDTH)))
    data += field(13, field(1, b"length") + field(2, b"%d" % (4 * WIDTH * WIDTH)))
    data += number(14, 1)
    return [node(b"MatMul", b"mm" + b, [read, w], [b"a" + b]), field(5, data)]


def write_graph(parts, name, last, path):
    parts.append(field(2, name))
    parts.append(field(11, value_info(b"x", [8, WIDTH])))
    parts.append(field(12, value_info(last, [8, WIDTH])))
    with open(path, "wb") as f:
        f.write(opening(sum(len(p) for p in parts)))
        f.writelines(parts)


def block(b, read, k):
    """MatMul, Relu, Relu, Add; what it writes is called d and then b"""
    return dense(b, read, k) + [node(b"Relu", b"r" + b, [b"a" + b], [b"b" + b]),
                                node(b"Relu", b"s" + b, [b"b" + b], [b"c" + b]),
                                node(b"Add", b"add" + b, [b"c" + b, read], [b"d" + b])]


def write_chain(n, path):
    """Blocks of MatMul, Relu, Relu, Add over [8, 64] activations; the Add is a candidate."""
    parts, prev = [], b"x"
    for k in range(n // 4):
        parts += block(b"%d" % k, prev, k)
        prev = b"d%d" % k
    write_graph(parts, b"chain", prev, path)


def write_branches(n, path):
    """Four such blocks in a row, 64 times side by side, joined by a Sum; then the same again."""
    parts, joint, k = [], b"x", 0
    while 4 * k < n:
        ends = []
        for _ in range(64):
            end = joint
            for _ in range(4):
                parts += block(b"%d" % k, end, k)
                end = b"d%d" % k
                k += 1
            ends.append(end)
        joint = b"join%d" % k
        parts.append(node(b"Sum", b"sum%d" % k, ends, [joint]))
    write_graph(parts, b"branches", joint, path)


def write_weights(total, path):
    """A chain of MatMuls of [4096, 4096] float weights, raw data inside the file."""
    side, n = 4096, max(1, total // (4096 * 4096 * 4))
    raw = side * side * 4
    head, prev, tensors = [], b"x", []
    for i in range(n):
        b = b"%d" % i
        head.append(node(b"MatMul", b"mm" + b, [prev, b"w" + b], [b"y" + b]))
        t = tensor_head(b"w" + b, [side, side]) + varint(9 << 3 | 2) + varint(raw)
        tensors.append(varint(5 << 3 | 2) + varint(len(t) + raw) + t)
        prev = b"y" + b
    tail = field(2, b"weights") + field(11, value_info(b"x", [1, side])) + field(12, value_info(prev, [1, side]))
    size = sum(map(len, head)) + sum(len(t) + raw for t in tensors) + len(tail)
    block = bytes(range(256)) * 4096
    with open(path, "wb") as f:
        f.write(opening(size))
        f.writelines(head)
        for t in tensors:
            f.write(t)
            for _ in range(raw // len(block)):
                f.write(block)
        f.write(tail)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    kind, size, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    {"chain": write_chain, "branches": write_branches, "weights": write_weights}[kind](size, out)
