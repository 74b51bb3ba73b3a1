"""Writes an ONNX model y = relu(x W) whose W is 1 GiB of zeros; the file is a sparse one.

usage: large_model.py PATH
"""
import sys

SIDE = 16384
BYTES = SIDE * SIDE * 4


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, s):
    s = s if isinstance(s, bytes) else s.encode()
    return varint(field << 3 | 2) + varint(len(s)) + s


def value(field, name):
    dim = text(1, number(1, SIDE))
    return text(field, text(1, name) + text(2, text(1, number(1, 1) + text(2, dim + dim))))


def node(op, inputs, output):
    return text(1, b"".join(text(1, i) for i in inputs) + text(2, output) + text(3, output) + text(4, op))


nodes = node("MatMul", ["x", "w"], "h") + node("Relu", ["h"], "y")
weight = number(1, SIDE) + number(1, SIDE) + number(2, 1) + text(8, "w") + varint(9 << 3 | 2) + varint(BYTES)
head = nodes + varint(5 << 3 | 2) + varint(len(weight) + BYTES) + weight
tail = text(2, "g") + value(11, "x") + value(12, "y")
start = number(1, 8) + text(8, number(2, 17)) + varint(7 << 3 | 2) + varint(len(head) + BYTES + len(tail))
with open(sys.argv[1], "wb") as f:
    f.write(start + head)
    f.seek(BYTES, 1)
    f.write(tail)
