#!/usr/bin/env python3
"""same_answers.py - do two builds of the command give the same answers, byte for byte?

Usage: same_answers.py BEFORE AFTER [--models FOLDER] [--placement FOLDER] [--strategy FOLDER]
                       [--jobs 1,2,7] [--only TEXT] [--cache FOLDER] [--processes N]

BEFORE runs each case once, AFTER once for each number of jobs: inspect, plan in several ways, annotate, strip, shards,
lower, shard and collect on every model of the first folder; place on every workload of the second; solve on every
problem of the third. Compared are exit codes, every file written and what is printed with --json, seconds aside.
RENAMED lists what may differ. --cache keeps what BEFORE gave for the next time. Exit code 1 where anything differs.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "corpus"))
from sizes import binding_of  # noqa: E402

import solve  # noqa: E402

# What AFTER calls otherwise: keys, and values of keys; written as BEFORE has them.
RENAMED_KEYS = {}
RENAMED_VALUES = {}
# Without a deadline these take minutes: they are asked for an answer that is near enough.
SLOW = {}
CLOCK = {"seconds"}
LOWER_FORMS = ("stages", "devices", "emulate", "ort-options", "olive")
LOWERED_BYTES_MAX = 2e6
# (name, options); each with every number of jobs
PLANS = (("latency", []), ("throughput", ["--objective", "throughput"]), ("whole", ["--max-tp", "1", "--devices", "4"]),
         ("whole throughput", ["--max-tp", "1", "--devices", "8", "--objective", "throughput"]),
         ("mesh 2", ["--mesh", "2"]), ("mesh 2x2", ["--mesh", "2x2"]), ("stages 2", ["--stages", "2", "--devices", "4"]),
         ("fewest", ["--objective", "devices", "--memory", "16GiB"]), ("documented", ["--search", "documented", "--devices", "4"]),
         ("first fit", ["--first-fit", "--devices", "3"]), ("no room", ["--memory", "100kB", "--devices", "2"]))


def renamed(value, key=None):
    """the answer of BEFORE in the words of AFTER, seconds left out"""
    if isinstance(value, dict):
        return {RENAMED_KEYS.get(k, k): renamed(v, k) for k, v in value.items() if k not in CLOCK}
    if isinstance(value, list):
        return [renamed(v, key) for v in value]
    return RENAMED_VALUES.get(key, {}).get(value, value) if isinstance(value, str) else value


def as_compared(data, before):
    """bytes of a file or of standard output; JSON in AFTER's words"""
    try:
        tree = json.loads(data)
    except ValueError:
        return data
    if before and (RENAMED_KEYS or RENAMED_VALUES):
        tree = renamed(tree)
    text = json.dumps(tree) if before and (RENAMED_KEYS or RENAMED_VALUES) else data.decode()
    return re.sub(r'"seconds":\s*[-+.e0-9]+', '"seconds": 0', text).encode()


class Runner:
    """one build in a folder of its own"""

    def __init__(self, cleave, jobs, folder, before):
        self.cleave, self.jobs, self.folder, self.before = cleave, jobs, folder, before
        self.found = {}

    def run(self, name, *argv, jobs=False):
        argv = [self.cleave, *argv, *(["--jobs", str(self.jobs)] if jobs else [])]
        p = subprocess.run(argv, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
        said = p.stdout.replace(self.cleave.encode(), b"cleave")
        self.found[f"{name}: exit code"] = str(p.returncode).encode()
        self.found[f"{name}: output"] = as_compared(said, self.before)
        return p.returncode

    def take_file(self, name, path):
        path = os.path.join(self.folder, path)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                self.found[f"{name}: {os.path.relpath(path, self.folder)}"] = as_compared(f.read(), self.before)

    def take_folder(self, name, path):
        for folder, _, names in sorted(os.walk(os.path.join(self.folder, path))):
            for n in sorted(names):
                self.take_file(name, os.path.join(folder, n))


def inspected(r, model, bind):
    r.run("inspect", "inspect", "--json", *bind, model)


def planned(r, model, bind, options):
    code = r.run("plan", "plan", "--json", *options, *bind, "-o", "m.onnx", model, jobs=True)
    r.take_file("plan", "m.onnx")
    r.take_file("plan", "m.onnx.plan.json")
    if code:
        return
    r.run("annotate", "annotate", "--json", "--plan", "m.onnx.plan.json", "-o", "again.onnx", model)
    r.take_file("annotate", "again.onnx")
    r.run("strip", "strip", "--json", "-o", "stripped.onnx", "m.onnx")
    r.take_file("strip", "stripped.onnx")
    r.run("shards", "shards", "--json", "--tiles", *bind, "m.onnx")
    r.run("verify", "verify", "--json", "--proof-only", model, "m.onnx.plan.json")
    if os.path.getsize(model) > LOWERED_BYTES_MAX or not os.path.dirname(model).endswith(("small", "runnable")):
        return
    for form in LOWER_FORMS:
        if r.run(f"lower {form}", "lower", "--json", "--form", form, "-o", form, model, "m.onnx.plan.json") == 0:
            r.take_folder(f"lower {form}", form)
    for kind in ("external", "safetensors", "ranges"):
        if r.run(f"shard {kind}", "shard", "--json", "--plan", "m.onnx.plan.json", "--weights", kind, "-o",
                 f"shards-{kind}", model) == 0:
            r.take_folder(f"shard {kind}", f"shards-{kind}")
    r.run("collect", "collect", "--json", "-o", "collected/m.onnx", "shards-external")
    r.take_folder("collect", "collected")


def placed(r, workload, options):
    r.run("place", "place", "--json", *options, "--mps", "w.mps", "-o", "answer.json", workload)
    r.take_file("place", "answer.json")
    r.take_file("place", "w.mps")


def solved(r, problem, options):
    r.run("solve", "solve", "--json", *options, "-o", "answer.json", problem, jobs=True)
    r.take_file("solve", "answer.json")


def model_cases(a):
    for folder, _, names in sorted(os.walk(a.models)):
        for name in sorted(n for n in names if n.endswith(".onnx")):
            path = os.path.join(folder, name)
            p = subprocess.run([a.before, "inspect", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=False)
            if p.returncode:
                yield name, inspected, (path, [])
                continue
            symbols = [s["name"] if isinstance(s, dict) else s for s in json.loads(p.stdout)["symbols"]]
            bind = [word for s in symbols for word in ("--bind", f"{s}={binding_of(s, symbols, {})}")]
            yield name, inspected, (path, bind)
            for way, options in PLANS:
                yield f"{name} {way}", planned, (path, bind, options)


def placement_cases(a):
    for path in sorted(glob.glob(os.path.join(a.placement, "**", "*.json"), recursive=True)):
        name = os.path.relpath(path, a.placement)
        for options in ([], ["--free"], ["--objective", "latency"], ["--objective", "latency", "--free"],
                        ["--objective", "devices"], ["--objective", "devices", "--free"]):
            more = SLOW.get((name, *options), ["--gap", "2%"])
            yield f"{name} {' '.join(options)}", placed, (path, [*options, *more])


def strategy_cases(a):
    scratch = os.path.join(a.cache or tempfile.gettempdir(), "strategy")
    for name, path in solve.problems(a.strategy):
        yield name, solved, (solve.unpacked(os.path.abspath(path), scratch), ["--gap", "1%"])


def result_of(cleave, jobs, case, before):
    name, do, arguments = case
    with tempfile.TemporaryDirectory() as folder:
        r = Runner(cleave, jobs, folder, before)
        do(r, *arguments)
        return r.found


def known_result(a, case):
    """what BEFORE gives, kept in the cache"""
    if not a.cache:
        return result_of(a.before, 2, case, True)
    key = hashlib.sha256(repr((a.before_hash, case[0], case[2])).encode()).hexdigest()
    path = os.path.join(a.cache, key)
    if os.path.exists(path):
        with open(path, "rb") as f:
            return pickle.load(f)
    found = result_of(a.before, 2, case, True)
    with open(path + ".part", "wb") as f:
        pickle.dump(found, f)
    os.replace(path + ".part", path)
    return found


def differences(a, case):
    """(comparisons made, what differs)"""
    was, n, faults = known_result(a, case), 0, []
    every_jobs = case[1] in (planned, solved)
    for jobs in a.jobs if every_jobs else a.jobs[:1]:
        now = result_of(a.after, jobs, case, False)
        n += len(was.keys() | now.keys())
        faults += [f"{case[0]}, jobs {jobs}: {k}" for k in sorted(was.keys() | now.keys()) if was.get(k) != now.get(k)]
    return n, faults


def hash_of_build(cleave):
    """of the command and the library beside it"""
    digest = hashlib.sha256()
    for path in (cleave, os.path.join(os.path.dirname(cleave), "libcleave.so")):
        if os.path.exists(path):
            with open(path, "rb") as f:
                digest.update(f.read())
    return digest.hexdigest()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("before")
    a.add_argument("after")
    a.add_argument("--models")
    a.add_argument("--placement")
    a.add_argument("--strategy")
    a.add_argument("--jobs", default="1,2,7")
    a.add_argument("--only", default="")
    a.add_argument("--cache")
    a.add_argument("--processes", type=int, default=os.cpu_count())
    a = a.parse_args()
    a.before, a.after = os.path.abspath(a.before), os.path.abspath(a.after)
    a.before_hash, a.jobs = hash_of_build(a.before), [int(n) for n in a.jobs.split(",")]
    for folder in ("models", "placement", "strategy"):
        if getattr(a, folder):
            setattr(a, folder, os.path.abspath(getattr(a, folder)))
    if a.cache:
        os.makedirs(a.cache, exist_ok=True)
    cases = [c for folder, make in ((a.models, model_cases), (a.placement, placement_cases), (a.strategy, strategy_cases))
             if folder for c in make(a) if a.only in c[0]]
    total, faults, kinds = 0, [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(a.processes) as pool:
        for case, (n, different) in zip(cases, pool.map(lambda c: differences(a, c), cases)):
            total, faults = total + n, faults + different
            kinds[case[1].__name__] += 1
            for fault in different:
                print(f"DIFFERS {fault}", flush=True)
    print(", ".join(f"{n} cases {kind}" for kind, n in kinds.items()))
    print(f"{total} files and outputs compared, {len(faults)} differ")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
