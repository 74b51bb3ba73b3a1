#!/usr/bin/env python3
"""weights.py - sharding, resharding and collecting a model of random weights, beside `cp`.

usage: weights.py CLEAVE --scratch FOLDER [--bytes N] [--runs N] [--check]

Makes a model of N bytes of external data in 50 tensors, and shards it eight ways (tensors are split
along dimension 0, 1, or along both, so that half of what is cut are short runs) between copies of the
same bytes by cp, in turns. Prints seconds, MB/s, the ratio to cp in the same turn, its median, and
the peak of memory. Then 8 -> 3 -> 5 (another dimension) -> 8 devices, and collect, whose files have to
be the original ones. With --check it is a test, whose exit status is 1 where they are not, where memory is
above 128 MB though the weights are more, or where something is left that looks whole when the command is
stopped in the middle; speed is never judged.

covers: D.036
"""
import argparse
import filecmp
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

MEMORY_MAX = 128_000_000
CHUNK = 1 << 20


def varint(n):
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def external(name, dims, offset, length):
    entries = {"location": "model.data", "offset": str(offset), "length": str(length)}
    body = b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name)
    for key, value in entries.items():
        body += field(13, field(1, key) + field(2, value))
    return body + field(14, 1)


def value_info(name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def make_model(folder, total):
    """model.onnx and model.data; returns {name: dims}."""
    n = 50
    columns = 4096 if total >= 1 << 28 else 256
    rows = max(16, total // (n * columns * 4) // 16 * 16)
    weights, graph, offset = {}, b"", 0
    for i in range(n):
        name = f"layer{i}.weight"
        dims = [rows, columns]
        length = rows * columns * 4
        weights[name] = dims
        graph += field(5, external(name, dims, offset, length))
        graph += field(1, field(1, name) + field(2, f"y{i}") + field(3, f"n{i}") + field(4, "Identity"))
        offset = (offset + length + 4095) // 4096 * 4096 + (4096 if i % 7 == 3 else 0)  # gaps too
    graph += field(2, "g") + field(12, value_info(f"y{n - 1}", weights[f"layer{n - 1}.weight"]))
    model = field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph)
    (folder / "model.onnx").write_bytes(model)
    # A generator of its own seed: the same bytes again, and none that compress.
    source = random.Random(1)
    with open(folder / "model.data", "wb") as f:
        left = offset
        while left > 0:
            part = min(left, CHUNK)
            f.write(source.randbytes(part))
            left -= part
    return weights


def cut(size, n):
    """n parts that differ by at most one."""
    at = [size * i // n for i in range(n + 1)]
    return [(a, b - a) for a, b in zip(at, at[1:])]


def layout(weights, n, turn):
    """Every weight over n devices: along dim 0, dim 1, or both where n is even."""
    out = []
    for i, (name, (rows, columns)) in enumerate(weights.items()):
        how = (i + turn) % 3
        shards = []
        if how == 2 and n % 2 == 0:
            boxes = [(r, c) for r in cut(rows, 2) for c in cut(columns, n // 2)]
        elif how == 0:
            boxes = [(r, (0, columns)) for r in cut(rows, n)]
        else:
            boxes = [((0, rows), c) for c in cut(columns, n)]
        for k, ((r0, r), (c0, c)) in enumerate(boxes):
            shards.append({"device": f"rank:{k}/cuda:{k}", "offsets": [r0, c0], "dims": [r, c]})
        out.append({"name": name, "shards": shards})
    return {"weights": out}


def run(*command):
    """Seconds, seconds of CPU, and the most bytes that it held."""
    start = time.monotonic()
    pid = os.posix_spawnp(str(command[0]), [str(word) for word in command], os.environ)
    _, status, used = os.wait4(pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {os.waitstatus_to_exitcode(status)}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def interrupted(cleave):
    """Ends sharding by signals after ever longer times; what is wrong then."""
    wrong, stopped = [], 0
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)):
        for delay in (0.02, 0.05, 0.1, 0.2):
            p = subprocess.Popen([cleave, "shard", "original/model.onnx", "--layout", "l8.0.json", "-o", "cut",
                                  "-q"], stderr=subprocess.DEVNULL)
            time.sleep(delay)
            p.send_signal(number)
            status = p.wait()
            left = [f for f in os.listdir() if f.startswith("cut.tmp")]
            if status == 0:  # it was done before
                shutil.rmtree("cut")
                continue
            stopped += 1
            if os.path.exists("cut"):
                wrong.append(f"signal {number} after {delay} s: the folder looks whole")
            # Before it catches signals it ends by them.
            if status not in (code, -number):
                wrong.append(f"signal {number} after {delay} s: exit status {status}")
            if left and number != signal.SIGKILL:
                wrong.append(f"signal {number} after {delay} s: {left[0]} stays")
            for folder in left:
                shutil.rmtree(folder)
    print(f"stopped {stopped} times in the middle: {'; '.join(wrong) or 'nothing looks whole'}")
    return wrong


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("--scratch", required=True, type=Path)
    p.add_argument("--bytes", type=int, default=2_000_000_000)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    cleave = Path(args.cleave).resolve()
    shutil.rmtree(args.scratch, ignore_errors=True)
    args.scratch.mkdir(parents=True)
    scratch = args.scratch.resolve()
    os.chdir(scratch)
    total, peak, ratios, cpus = args.bytes, 0, [], []
    os.mkdir("original")
    weights = make_model(Path("original"), total)
    total = os.path.getsize("original/model.data")
    for n, turn in ((8, 0), (3, 0), (5, 1), (8, 2)):
        Path(f"l{n}.{turn}.json").write_text(json.dumps(layout(weights, n, turn)))

    def note(what, result):
        nonlocal peak
        seconds, cpu, held = result
        peak = max(peak, held) if what != "cp" else peak
        print(f"{what:12} {seconds:7.2f} s {total / seconds / 1e6:8.0f} MB/s, CPU {cpu:6.2f} s, "
              f"memory {held / 1e6:6.1f} MB", flush=True)
        return seconds, cpu

    def warm():
        """A virtual machine may take many times as long to write to memory that its host has taken
        back. So before each of the two, the bytes are read, written and removed once."""
        run("cp", "original/model.data", "warm")
        os.remove("warm")

    for _ in range(args.runs):
        shutil.rmtree("s8", ignore_errors=True)
        warm()
        cp = note("cp", run("cp", "original/model.data", "copy"))
        os.remove("copy")
        warm()
        mine = note("shard 8", run(cleave, "shard", "original/model.onnx", "--layout", "l8.0.json",
                                   "-o", "s8", "-q"))
        ratios.append(cp[0] / mine[0])
        cpus.append(cp[1] / mine[1])
    print(f"speed beside cp: median {statistics.median(ratios):.2f} of "
          f"{', '.join(f'{r:.2f}' for r in ratios)}; by CPU {statistics.median(cpus):.2f}")
    for old, new, where in (("s8", "l3.0.json", "s3"), ("s3", "l5.1.json", "s5"), ("s5", "l8.2.json", "t8")):
        note(f"{old} to {where}", run(cleave, "reshard", old, "--layout", new, "-o", where, "-q"))
        shutil.rmtree(old)
    os.mkdir("again")
    note("collect", run(cleave, "collect", "t8", "-o", "again/model.onnx", "-q"))
    same = all(filecmp.cmp(f"original/{f}", f"again/{f}", shallow=False) for f in ("model.onnx", "model.data"))
    print("after three reshards the original bytes:", "yes" if same else "NO")
    print(f"peak of memory: {peak / 1e6:.1f} MB")
    wrong = interrupted(cleave) if args.check else []
    os.chdir("/")
    shutil.rmtree(scratch)
    return 1 if args.check and not (same and peak < MEMORY_MAX and not wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
