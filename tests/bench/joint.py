#!/usr/bin/env python3
"""joint.py - stages and shards together against pipelining alone and tensors alone, measured and printed.

Usage: joint.py CLEAVE FOLDER [--devices N] [--cluster NAME] [--only WORD,...] [--objective O,...] [--sizes NAME=N,...]
                [--limit S] [--run S]

Each model of the folder is planned three times for the same devices: without options for shards (stages and
shards together), with --max-tp 1 (pure pipeline: each stage is one device), and with --mesh N (pure tensor:
one stage of all devices). The plan found together must never be worse than either by its own
objective; that is the last column, and the exit code is 1 where it is. Time is printed, never judged.
Models with symbolic dimensions get sizes by the names of those (SIZES, --sizes). --limit: no further model is begun
after so many seconds. --run: seconds that one run may take.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import time

CONFIGS = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "configs"))
OUT_OF_TIME = 124  # of timeout(1)
# A process of its own, for a child begins with the peak of the one it comes from.
WATCH = ("import os, sys; pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ); "
         "_, status, usage = os.wait4(pid, 0); print(usage.ru_maxrss, file=sys.stderr); "
         "sys.exit(os.waitstatus_to_exitcode(status) & 255)")
DECODE = {"batch_size": 8, "sequence_length": 1, "past_sequence_length": 2047, "total_sequence_length": 2048,
          "past_decoder_sequence_length": 255, "encoder_sequence_length_out": 1500}
SIZES = {"batch": 64, "batch_size": 8, "sequence_length": 512, "total_sequence_length": 512, "src_len": 64,
         "tgt_len": 64, "encoder_sequence_length": 512, "decoder_sequence_length": 128}
FEWER = {"bert.dyn.onnx": {"sequence_length": 64}}  # it has no more positions


def run(argv, seconds):
    """(parsed stdout, wall s, peak bytes of the child as the kernel counts them); None: out of time"""
    start = time.monotonic()
    p = subprocess.run([sys.executable, "-S", "-c", WATCH, "timeout", str(seconds), *argv], capture_output=True,
                       stdin=subprocess.DEVNULL, check=False)
    wall = time.monotonic() - start
    try:
        peak = int(p.stderr.split()[-1]) * 1024
        return (json.loads(p.stdout) if p.returncode != OUT_OF_TIME else None), wall, peak
    except (ValueError, IndexError):
        return {"error": {"message": f"exit {p.returncode}"}}, wall, 0


def symbols(cleave, path):
    got, _, _ = run([cleave, "inspect", "--json", path], 60)
    if not got or "inputs" not in got:
        return None
    dims = [d for i in got["inputs"] for d in i["shape"] or []]
    return sorted({d for d in dims if isinstance(d, str)})


def bindings(cleave, path):
    """arguments, or None where a size is not known"""
    names = symbols(cleave, path)
    if names is None:
        return None
    base = os.path.basename(path)
    sizes = dict(SIZES, **(DECODE if "decode" in base else FEWER.get(base, {})))
    if any(n not in sizes for n in names):
        return None
    return ["--bind", ",".join(f"{n}={sizes[n]}" for n in names)] if names else []


def value(got, objective):
    """milliseconds by the objective, of all copies; infinite where nothing fits"""
    if not got or not got.get("fits"):
        return math.inf
    plan = got["plan"]
    if objective == "latency":
        return plan["latency_ns"] / 1e6
    pipeline = plan.get("pipeline", {})
    ns = plan["period_ns"]
    if pipeline.get("chosen") != "filled" and "run_ns" in pipeline:
        ns = pipeline["run_ns"] / pipeline["microbatches"]
    return ns / len(plan.get("copies", [0])) / 1e6


def text(ms):
    return "none fits" if math.isinf(ms) else f"{ms:.3f}"


def mesh_of(got):
    if not got or "plan" not in got:
        return got["error"]["message"] if got else "out of time"
    p = got["plan"]
    used = p["stages"]
    if not p.get("mesh"):
        return f"{used}x1"
    return f"{used}x(" + " ".join(f"{a['name']}={a['size']}" for a in p["mesh"]["axes"]) + ")"


def bench(a, path, objective):
    """prints a row; False where the joint plan is worse than one of the others"""
    name = os.path.basename(path).replace(".onnx", "")
    bind = bindings(a.cleave, path)
    if bind is None:
        print(f"{name:34} {objective:10} not run: sizes of its symbols are not known")
        return True
    base = [a.cleave, "plan", path, "--no-output", "--json", "--cluster", a.cluster, "--devices", str(a.devices),
            "--objective", objective, "--configs", CONFIGS, *bind]
    joint, wall, peak = run(base, a.run)
    pipe, pipe_wall, _ = run(base + ["--max-tp", "1"], a.run)
    tensor, tensor_wall, _ = run(base + ["--mesh", str(a.devices)], a.run)
    j, p, t = (value(x, objective) for x in (joint, pipe, tensor))
    bound = (joint["plan"]["search"].get("bound_ns") or 0) / 1e6 if joint and "search" in joint.get("plan", {}) else 0
    gap = f"{100 * (1 - bound / j):.2f} %" if 0 < bound and not math.isinf(j) else "-"
    never = j <= p and j <= t
    print(f"{name:34} {objective:10} {mesh_of(joint):16} {text(j):>10} {bound:10.3f} {gap:>8} {wall:6.2f} "
          f"{peak / 1e6:5.0f} {text(p):>10} {pipe_wall:6.2f} {text(t):>10} {tensor_wall:6.2f}  "
          f"{'yes' if never else 'NO'}", flush=True)
    return never


def take_sizes(text):
    """of symbols, in place of those above"""
    for one in filter(None, text.split(",")):
        name, n = one.split("=")
        SIZES[name] = DECODE[name] = int(n)
    return text


def arguments(limit_s):
    """of a bench that plans each model of a folder"""
    ap = argparse.ArgumentParser()
    ap.add_argument("--sizes", type=take_sizes)
    ap.add_argument("cleave")
    ap.add_argument("folder")
    ap.add_argument("--devices", type=int, default=8)
    ap.add_argument("--cluster", default="dgx-h100")
    ap.add_argument("--only", default="")
    ap.add_argument("--objective", default="latency,throughput")
    ap.add_argument("--limit", type=float, default=limit_s)
    ap.add_argument("--run", type=float, default=120)
    return ap


def models(a):
    """paths of the folder's models, those that --only names"""
    words = [w for w in a.only.split(",") if w]
    for name in sorted(os.listdir(a.folder)):
        if name.endswith(".onnx") and (not words or any(w in name for w in words)):
            yield os.path.join(a.folder, name)


def main():
    a = arguments(limit_s=600).parse_args()
    start = time.monotonic()
    worse = 0
    print(f"{a.devices} devices of {a.cluster}; ms by the objective, seconds in wall time")
    print(f"{'model':34} {'objective':10} {'stages x mesh':16} {'ms':>10} {'bound':>10} {'gap':>8} {'s':>6} "
          f"{'MB':>5} {'pipeline':>10} {'s':>6} {'tensor':>10} {'s':>6}  never worse")
    for path in models(a):
        for objective in a.objective.split(","):
            if time.monotonic() - start > a.limit:
                print(f"{os.path.basename(path):34} {objective:10} not run: {a.limit:.0f} s are over")
                continue
            worse += not bench(a, path, objective)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
