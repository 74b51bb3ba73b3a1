#!/usr/bin/env python3
"""campaign.py - links that are swapped, kills, full disks, two writers and files that shrink.

usage: campaign.py CLEAVE CALLS SOURCE --scratch FOLDER [--swap N] [--kill N] [--full] [--writers N] [--shrink N]

CALLS is fault_calls.c as a library that is loaded before libc: it puts a fault right before any one
call of the command on a file. Without numbers each part is short and the same every time: the calls
that are hit are spread evenly. With numbers the same is done that often, each second time at a random
moment from outside (a link that another process swaps all the time, a kill after a random time).

swap     a file that is read, or the place that is written, becomes a link to the outside and back:
         no byte from outside is ever in an output, and the input is never written to
kill     SIGKILL: what was there before is there, or all that is new; a file of two that get their
         names together is never alone once a command has looked at it, and the next run leaves
         nothing but the outputs
full     the disk is full after each KB: the command fails, and what was there before is there
writers  two runs with different outputs at once: what is there is one run's
shrink   the model or its data becomes shorter while it is read: an error, never a signal

Prints a line of figures for each part; exit status 1 where one of them is not as it should be.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

OUTSIDE = b"OUTSIDE!"
WIDTH, WEIGHTS = 32, 6  # each weight is 4 KB
LIMIT = 60  # seconds: a command that hangs


# -- a model: a chain of products; the first half of its weights in a file beside it --

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
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def initialiser(i, inside):
    head = field(1, WIDTH) * 2 + field(2, 1) + field(8, f"w{i}")
    n = WIDTH * WIDTH * 4
    if inside:
        return head + field(9, bytes([i + 1]) * n)
    place = {"location": "model.data", "offset": str(i * n), "length": str(n)}
    return head + b"".join(field(13, field(1, k) + field(2, v)) for k, v in place.items()) + field(14, 1)


def value_info(name):
    shape = b"".join(field(1, field(1, d)) for d in (4, WIDTH))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def make_model(folder):
    nodes = [field(1, field(1, f"t{i}") + field(1, f"w{i}") + field(2, f"t{i + 1}") + field(3, f"n{i}") +
                   field(4, "MatMul")) for i in range(WEIGHTS)]
    half = WEIGHTS // 2
    graph = b"".join(nodes) + field(2, "g")
    graph += b"".join(field(5, initialiser(i, i >= half)) for i in range(WEIGHTS))
    graph += field(11, value_info("t0")) + field(12, value_info(f"t{WEIGHTS}"))
    (folder / "model.onnx").write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    (folder / "model.data").write_bytes(b"".join(bytes([65 + i]) * (WIDTH * WIDTH * 4) for i in range(half)))


# -- commands that write --

class Case:
    """args: of the command, run in the folder of the inputs; outputs: what it writes, by name in
    out/; reads: files that it reads, relative to the inputs; replaces: files that are there already."""
    def __init__(self, name, args, outputs, reads=("model.onnx", "model.data"), other=None, replaces=False):
        self.name, self.args, self.outputs, self.reads, self.other = name, args, outputs, reads, other
        self.replaces = replaces


def cases(source):
    plan = ["--max-tp", "1", "-o", "out/p.onnx", "model.onnx"]
    return [
        Case("plan", ["plan", "--devices", "2", *plan], ["p.onnx", "p.onnx.plan.json"],
             other=["plan", "--devices", "3", *plan], replaces=True),
        Case("plan-compiler", ["plan", "--devices", "2", "--jobs", "1", "--max-candidates", "1", "--compiler",
                               f"sh {source.resolve()}/docs/examples/compiler-example.sh", *plan],
             ["p.onnx", "p.onnx.plan.json"], replaces=True),
        Case("annotate", ["annotate", "--plan", "plan2.json", "-o", "out/a.onnx", "model.onnx"], ["a.onnx"],
             other=["annotate", "--plan", "plan3.json", "-o", "out/a.onnx", "model.onnx"], replaces=True),
        Case("strip", ["strip", "-o", "out/s.onnx", "annotated.onnx"], ["s.onnx"], ["annotated.onnx"],
             replaces=True),
        Case("lower", ["lower", "--form", "devices", "-o", "out/l", "model.onnx", "plan2.json"], ["l"],
             other=["lower", "--form", "devices", "-o", "out/l", "model.onnx", "plan3.json"]),
        Case("lower-ort", ["lower", "--form", "ort-options", "-o", "out/o", "model.onnx", "plan2.json"], ["o"]),
        *(Case(f"lower-{form}-{weights}", ["lower", "--form", form, "--weights", weights, "-o", "out/l",
                                           "model.onnx", "plan2.json"], ["l"])
          for form, weights in (("emulate", "external"), ("stages", "safetensors"), ("olive", "external"),
                                ("devices", "ranges"))),
        Case("shard", ["shard", "--plan", "plan2.json", "-o", "out/f", "model.onnx"], ["f"],
             other=["shard", "--plan", "plan3.json", "-o", "out/f", "model.onnx"]),
        *(Case(f"shard-{weights}", ["shard", "--plan", "plan2.json", "--weights", weights, "-o", "out/f",
                                    "model.onnx"], ["f"]) for weights in ("safetensors", "ranges")),
        Case("reshard", ["reshard", "--plan", "plan3.json", "-o", "out/r", "shards"], ["r"],
             ["shards/gpu0.data", "shards/rest.bin"],
             other=["reshard", "--plan", "plan2.json", "-o", "out/r", "shards"]),
        Case("collect", ["collect", "-o", "out/c.onnx", "shards"], ["c.onnx", "model.data"],
             ["shards/gpu0.data", "shards/rest.bin"]),
        Case("solve", ["solve", "-o", "out/v.json", str(source.resolve() / "tests/data/strategy/example.json")],
             ["v.json"], [], replaces=True),
        Case("place", ["place", "-o", "out/v.json", "workload.json"], ["v.json"], ["workload.json"], replaces=True),
        Case("mps", ["place", "--mps", "out/v.mps", "workload.json"], ["v.mps"], ["workload.json"], replaces=True),
        Case("verify", ["verify", "--proof-only", "model.onnx", "plan2.json", "lowered"], [], ["model.onnx", "model.data"]),
    ]


WORKLOAD = {"maxSizePerFPGA": 10, "maxFPGAs": 2, "maxCPUs": 0, "edges": [{"sourceId": 1, "destId": 2, "cost": 1}],
            "nodes": [{"id": i, "supportedOnFpga": 1, "cpuLatency": 9, "fpgaLatency": 4, "isBackwardNode": 0,
                       "size": 5} for i in (1, 2)]}


class Campaign:
    def __init__(self, args):
        self.cleave = str(Path(args.cleave).resolve())
        self.calls = str(Path(args.calls).resolve())
        self.scratch = Path(args.scratch).resolve() / f"faults-{os.getpid()}"
        self.inputs, self.out, self.tmp = self.scratch / "in", self.scratch / "in/out", self.scratch / "tmp"
        self.random = random.Random(args.seed)
        self.wrong = []
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.tmp.mkdir()
        make_model(self.inputs)
        (self.inputs / "workload.json").write_text(json.dumps(WORKLOAD))
        for n in (2, 3):
            self.need(["plan", "--devices", str(n), "--max-tp", "1", "-o", "annotated.onnx", "--plan-out",
                       f"plan{n}.json", "model.onnx"])
        self.need(["shard", "--plan", "plan2.json", "-o", "shards", "model.onnx"])
        self.need(["lower", "--form", "devices", "-o", "lowered", "model.onnx", "plan2.json"])
        self.cases = cases(Path(args.source))
        self.good = {c.name: self.output_of(c.args, c) for c in self.cases}
        self.others = {c.name: self.output_of(c.other, c) for c in self.cases if c.other}
        self.pristine = self.files(self.inputs, skip="out")

    # - running -

    def start(self, args, fault=None, **more):
        env = dict(os.environ, TMPDIR=str(self.tmp))
        if fault:
            env.update(LD_PRELOAD=self.calls, CLEAVE_FAULT=fault)
        return subprocess.Popen([self.cleave, *args], cwd=self.inputs, env=env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, **more)

    def run(self, args, fault=None, **more):
        process = self.start(args, fault, **more)
        _, process.said = process.communicate(timeout=LIMIT)
        return process

    def need(self, args):
        process = self.run(args)
        if process.returncode != 0:
            sys.exit(f"{args}: exit {process.returncode}: {process.said.decode()}")

    def count(self, args):
        """calls on files that the command makes"""
        read, write = os.pipe()
        self.clear()
        self.run(args, f"count:{write}", pass_fds=[write])
        os.close(write)
        text = os.read(read, 64)
        os.close(read)
        return int(text or 0)

    # - what is there -

    @staticmethod
    def files(folder, skip=None):
        """relative name -> bytes without the time that a search took, of all below it; a link counts as one"""
        found = {}
        for root, folders, names in os.walk(folder):
            if skip in folders:
                folders.remove(skip)
            for name in names:
                path = Path(root) / name
                found[str(path.relative_to(folder))] = (b"-> " + os.readlink(path).encode() if path.is_symlink()
                                                        else re.sub(rb'("seconds":) [0-9.e-]+', rb"\1 0",
                                                                    path.read_bytes()))
        return found

    def clear(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()

    def output_of(self, args, case):
        self.clear()
        self.need(args)
        return self.visible(case)

    def visible(self, case):
        """the outputs alone"""
        return {n: b for n, b in self.files(self.out).items()
                if any(n == o or n.startswith(o + "/") for o in case.outputs)}

    def fault(self, part, case, what):
        self.wrong.append(f"{part} {case.name}: {what}")
        if len(self.wrong) <= 20:
            print("  wrong:", self.wrong[-1], flush=True)

    def spread(self, n, most):
        """at most `most` of 1 .. n"""
        return sorted({1 + i * n // most for i in range(most)}) if n > most else range(1, n + 1)

    # - swapped links -

    def check_swapped(self, case, process):
        files = self.files(self.out)
        bad = any(OUTSIDE * 8 in b for b in files.values())
        if bad:
            self.fault("swap", case, f"exit {process.returncode} with bytes from outside")
        if process.returncode == 0 and self.visible(case) != self.good[case.name] and not bad:
            self.fault("swap", case, "exit 0 with other bytes")
        if process.returncode < 0:
            self.fault("swap", case, f"signal {-process.returncode}")
        if process.returncode != 0 and files:
            self.fault("swap", case, f"left {sorted(files)[:3]}")
        return process.returncode

    def swap_at(self, case, name, fault, k, outside):
        """a link to the outside comes in place of the file right before call k; blink: it is there for
        call k alone, as what a call found wrong may not be passed over"""
        target, kept, link = (self.inputs / n for n in (name, "swap.kept", "swap.link"))
        os.link(target, kept)
        link.symlink_to(outside)
        self.clear()
        back = f":{kept}" if fault == "blink" else ""
        code = self.check_swapped(case, self.run(case.args, f"{fault}:{k}:{link}:{target}{back}"))
        if kept.exists():
            os.replace(kept, target)
        for left in (link, kept):  # of a call that never came
            left.unlink(missing_ok=True)
        return code

    def swap_race(self, case, name, outside):
        """another process swaps the file and the link all the time"""
        target, kept, link = self.inputs / name, self.scratch / "kept", self.inputs / "swap.link"
        shutil.copyfile(target, kept)
        self.clear()
        swapper = os.fork()
        if swapper == 0:
            while True:
                os.symlink(outside, link)
                os.rename(link, target)
                os.link(kept, link)
                os.rename(link, target)
        code = self.check_swapped(case, self.run(case.args))
        os.kill(swapper, signal.SIGKILL)
        os.waitpid(swapper, 0)
        link.unlink(missing_ok=True)
        target.unlink()
        shutil.copyfile(kept, target)
        return code

    def swap(self, n):
        done, refused, step = 0, 0, 0
        pairs = [(c, f) for c in self.cases for f in c.reads if f not in ("model.onnx", "annotated.onnx")]
        each = max(1, (n or 160) // len(pairs))
        for case, name in pairs:
            outside = self.scratch / "outside"
            size = (self.inputs / name).stat().st_size
            outside.write_bytes((OUTSIDE * (size // len(OUTSIDE) + 1))[:size])
            calls = self.count(case.args)
            spots = list(self.spread(calls, each))
            for step in range(each):
                race = n and step % 2
                code = (self.swap_race(case, name, outside) if race else
                        self.swap_at(case, name, "swap", spots[step % len(spots)], outside))
                refused += code != 0
                done += 1
            if n or case.name == "shard":  # which once passed over it
                for k in self.spread(calls, each if n else calls):
                    refused += self.swap_at(case, name, "blink", k, outside) != 0
                    done += 1
        done += self.swap_output(n)
        print(f"swap: {done} links swapped, {refused} runs refused, {len(self.wrong)} wrong", flush=True)

    def swap_output(self, n):
        """the place becomes a link to the input"""
        case = next(c for c in self.cases if c.name == "annotate")
        done, link, place = 0, self.scratch / "swap.link", self.out / "a.onnx"
        for k in self.spread(self.count(case.args), 1000 if n else 20):
            self.clear()
            place.write_bytes(b"before")
            link.symlink_to(self.inputs / "model.onnx")
            self.run(case.args, f"swap:{k}:{link}:{place}")
            link.unlink(missing_ok=True)
            done += 1
            if self.files(self.inputs, skip="out") != self.pristine:
                self.fault("swap", case, "the input was written")
                (self.inputs / "model.onnx").write_bytes(self.pristine["model.onnx"])
        return done

    # - kills -

    def prepare(self, case):
        """what is there before: where a command replaces files, another run's"""
        self.clear()
        if case.replaces:
            for name in self.good[case.name]:
                (self.out / name).write_bytes(self.others.get(case.name, {}).get(name, b"before"))
        return self.visible(case)

    def killed(self, case, before):
        """the state after a kill; 1 where only the next command makes it whole"""
        now, mended = self.visible(case), 0
        if now not in (before, self.good[case.name]):
            mended = 1
            first = self.out / case.outputs[0]
            self.run(["inspect", str(first)] if first.suffix == ".onnx" else ["--version"])
            now = self.visible(case)
            if now not in (before, self.good[case.name]):
                self.fault("kill", case, f"half or mixed: {sorted(now)}")
        hidden = set(self.files(self.out)) - set(now)
        if now and now == self.good[case.name] and not case.replaces:
            shutil.rmtree(self.out / case.outputs[0], ignore_errors=True)
            for name in case.outputs:
                (self.out / name).unlink(missing_ok=True)
        again = self.run(case.args)
        if again.returncode != 0:
            self.fault("kill", case, f"the next run: exit {again.returncode}: {again.said.decode().strip()}")
        elif self.files(self.out) != self.good[case.name]:
            self.fault("kill", case, f"the next run left {sorted(set(self.files(self.out)) - set(self.good[case.name]))}")
        elif any(self.tmp.iterdir()):
            self.fault("kill", case, f"the next run left {sorted(os.listdir(self.tmp))} in TMPDIR")
        return mended, bool(hidden)

    def kill(self, n):
        landed = mended = hidden = 0
        each = max(1, (n or 180) // len(self.cases))
        for case in self.cases:
            calls = self.count(case.args)
            start = time.monotonic()
            self.clear()
            self.run(case.args)
            seconds = time.monotonic() - start
            spots, mine = list(self.spread(calls, each)), 0
            while mine < each:
                before = self.prepare(case)
                if n and mine % 2:
                    process = self.start(case.args)
                    time.sleep(self.random.random() * seconds)
                    process.kill()
                    process.communicate()
                else:
                    process = self.run(case.args, f"kill:{spots[mine % len(spots)]}")
                    if process.returncode != -signal.SIGKILL:
                        spots = [s for s in spots if s != spots[mine % len(spots)]] or [1]
                if process.returncode != -signal.SIGKILL:
                    continue
                mine += 1
                m, h = self.killed(case, before)
                mended, hidden = mended + m, hidden + h
            landed += mine
        print(f"kill: {landed} kills, {hidden} with something left over, {mended} finished by the next command, "
              f"{len(self.wrong)} wrong", flush=True)

    # - full disks -

    def check_full(self, case, before, process, limit):
        now = self.files(self.out)
        if process.returncode < 0:
            self.fault("full", case, f"signal {-process.returncode} at {limit}")
        elif process.returncode != 0 and now != before:
            self.fault("full", case, f"at {limit} bytes: exit {process.returncode} and {sorted(now)}")
        elif process.returncode == 0 and now != self.good[case.name]:
            self.fault("full", case, f"at {limit} bytes: exit 0 with something else")
        elif any(self.tmp.iterdir()):
            self.fault("full", case, f"at {limit} bytes: left {sorted(os.listdir(self.tmp))} in TMPDIR")
        return process.returncode != 0

    def full(self, all_of_them):
        done = failed = 0
        for case in self.cases:
            need = sum(map(len, self.good[case.name].values())) + 8192
            for limit in range(0, need, 1024) if all_of_them else self.spread(need, 12):
                before = self.prepare(case)
                failed += self.check_full(case, before, self.run(case.args, f"full:{limit}"), limit)
                done += 1
        if all_of_them and os.geteuid() == 0:
            more, more_failed = self.full_mounts()
            done, failed = done + more, failed + more_failed
        print(f"full: {done} disks, {failed} runs failed, {len(self.wrong)} wrong", flush=True)

    def full_mounts(self):
        """the same on real file systems, by pages"""
        done = failed = 0
        for case in self.cases:
            need = 3 * sum(map(len, self.good[case.name].values())) + 32768
            for limit in range(4096, need, 4096):
                self.clear()
                if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={limit}", "none", self.out]).returncode:
                    return done, failed
                try:
                    failed += self.check_full(case, {}, self.run(case.args), limit)
                finally:
                    subprocess.run(["umount", self.out], check=True)
                done += 1
        return done, failed

    # - two writers -

    def writers(self, n):
        done = 0
        both = [c for c in self.cases if c.other]
        for i in range(n or 20):
            case = both[i % len(both)]
            self.clear()
            pair = [self.start(case.args), self.start(case.other)]
            for process in pair:
                process.communicate(timeout=LIMIT)
            now, done = self.files(self.out), done + 1
            if now not in (self.good[case.name], self.others[case.name]):
                self.fault("writers", case, f"exits {[p.returncode for p in pair]}: mixed or left over: {sorted(now)}")
            if all(p.returncode for p in pair):
                self.fault("writers", case, "both failed")
        print(f"writers: {done} pairs, {len(self.wrong)} wrong", flush=True)

    # - files that shrink -

    def shrink(self, n):
        done = failed = 0
        pairs = [(c, f) for c in self.cases for f in c.reads]
        each = max(1, (n or 120) // len(pairs))
        for case, name in pairs:
            target = self.inputs / name
            content = target.read_bytes()
            for k in self.spread(self.count(case.args), each):
                for size in (0, len(content) // 2):
                    self.clear()
                    process = self.run(case.args, f"shrink:{k}:{size}:{target}")
                    target.write_bytes(content)
                    done += 1
                    failed += process.returncode != 0
                    if process.returncode < 0:
                        self.fault("shrink", case, f"signal {-process.returncode} ({name} at call {k})")
                    elif process.returncode == 0 and self.files(self.out) != self.good[case.name]:
                        self.fault("shrink", case, f"exit 0 with something else ({name} at call {k})")
        print(f"shrink: {done} files shortened, {failed} runs failed, {len(self.wrong)} wrong", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cleave")
    parser.add_argument("calls")
    parser.add_argument("source")
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--full", action="store_true")
    parts = ("swap", "kill", "writers", "shrink")
    for part in parts:
        parser.add_argument(f"--{part}", type=int, default=0)
    parser.add_argument("--only", choices=[*parts, "full"])
    args = parser.parse_args()
    campaign = Campaign(args)
    try:
        for part in (args.only,) if args.only else (*parts, "full"):
            was = len(campaign.wrong)
            getattr(campaign, part)(getattr(args, part))
            if len(campaign.wrong) > was:
                print(f"  {part}: {len(campaign.wrong) - was} wrong")
    finally:
        shutil.rmtree(campaign.scratch, ignore_errors=True)
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
