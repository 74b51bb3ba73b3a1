#!/usr/bin/env python3
"""bench.py - the figures that the project is held to, measured and printed; it never fails on time.

Usage: bench.py CLEAVE [--models FOLDER] [--tools FOLDER] [--scratch FOLDER] [--only NAME,...] [--tight]

Whole processes are timed: wall seconds, user+sys seconds and peak resident memory of the child as the
kernel counts them, the median of RUNS runs after one warm-up. Comparisons run in turn (A B A B ...) and
are printed as the median of the ratios pair by pair.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 5
COPY_PAIRS = 12
PREFILL = ("llama31_405b_prefill.dyn.onnx",
           ["--bind", "batch_size=1,sequence_length=2048,total_sequence_length=2048"])
LARGE = (("llama31_405b_decode.b16p8191.onnx", []), PREFILL)
ONNX_TESTDATA = "/usr/share/libonnx-testdata"


def run(argv):
    """(exit code, stdout, wall s, cpu s, peak bytes)"""
    start = time.monotonic()
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    out = p.stdout.read()
    err = p.stderr.read()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if p.returncode not in (0, 3):
        sys.stderr.write(err.decode(errors="replace"))
    return p.returncode, out.decode(errors="replace"), wall, usage.ru_utime + usage.ru_stime, \
        usage.ru_maxrss * 1024


def timed(argv, runs=RUNS):
    """medians of wall, cpu, peak; the code and output of the last run"""
    run(argv)
    rows = [run(argv) for _ in range(runs)]
    return (statistics.median(r[2] for r in rows), statistics.median(r[3] for r in rows),
            max(r[4] for r in rows), rows[-1][0], rows[-1][1])


def mb(n):
    return f"{n / 1e6:.0f} MB"


def find(models, name):
    for folder, _, names in os.walk(models):
        if name in names:
            return os.path.join(folder, name)
    return None


def plan(a, path, *more):
    """whole operators: joint.py measures shards"""
    return [a.cleave, "plan", path, "--no-output", "--json", "--max-tp", "1", *more]


def sharding_nodes(text):
    return [d.get("sharding_nodes", []) for d in json.loads(text)["plan"]["devices"]]


def bench_vit(a):
    """ViT-L/16 on two equal devices"""
    for name, bind in (("vit_l_16.b16.onnx", []), ("vit_l_16.dyn.onnx", ["--bind", "batch=16"])):
        path = find(a.models, name)
        if path:
            wall, cpu, peak, _, out = timed(plan(a, path, "--devices", "2", "--optimal_perf", *bind))
            print(f"  {name}: cut {sharding_nodes(out)[0]}  {wall:.3f} s wall, {cpu:.3f} s cpu, {mb(peak)}")


def bench_large(a):
    """Llama-3.1 405B on 16 devices; target under 1 s and 200 MB"""
    for name, bind in LARGE:
        path = find(a.models, name)
        if not path:
            continue
        for objective in ("latency", "throughput"):
            wall, cpu, peak, code, out = timed(plan(a, path, "--cluster", "dgx-h100-x2", "--devices", "16",
                                                    "--objective", objective, *bind))
            r = json.loads(out)["plan"]
            print(f"  {name} {objective}: {wall:.3f} s wall, {cpu:.3f} s cpu, {mb(peak)}, exit {code}, "
                  f"{r['search']['judged'] if 'search' in r and isinstance(r['search'], dict) else '?'} judged")


def cluster_of(a, n, mixed):
    """a file: n H100, or half of them A100, in servers of eight"""
    with open(os.path.join(HERE, "..", "..", "configs", "clusters", "dgx-h100-x2.json")) as f:
        cluster = json.load(f)
    cluster["name"] = f"{'mixed' if mixed else 'equal'}-{n}"
    cluster["devices"] = [{"kind": "h100-sxm", "count": n // 2, "name": "h"},
                          {"kind": "a100-80gb", "count": n // 2, "name": "a"}] if mixed else \
        [{"kind": "h100-sxm", "count": n, "name": "gpu"}]
    cluster["levels"][1]["size"] = n // 8
    path = os.path.join(a.scratch, cluster["name"] + ".json")
    with open(path, "w") as f:
        json.dump(cluster, f)
    return path


def show_bound(a, model, n, mixed, objective, *more):
    """plans for n devices, and prints how far from what is proven"""
    configs = os.path.abspath(os.path.join(HERE, "..", "..", "configs"))
    wall, cpu, peak, code, out = timed(plan(a, model, "--configs", configs, "--cluster", cluster_of(a, n, mixed),
                                            "--devices", str(n), "--objective", objective, *more), 3)
    p = json.loads(out)["plan"]
    s = p["search"]
    gap = "unknown" if s["gap"] is None else f"{100 * s['gap']:.3f} %"
    ns = p["latency_ns"] if objective == "latency" else p["period_ns"] / len(p.get("copies", [0]))
    print(f"  {n} {'mixed' if mixed else 'equal'} {objective}: {ns / 1e6:.3f} ms, bound "
          f"{(s['bound_ns'] or 0) / 1e6:.3f} ms, gap {gap}, {s['stopped']}, {wall:.2f} s wall, "
          f"{cpu:.2f} s cpu, {mb(peak)}")


def bench_bounds(a):
    """Llama-3.1 405B in pipeline stages on equal and unequal devices; target gap 1 % under 1 s"""
    for name, bind in LARGE:
        model = find(a.models, name)
        if model:
            print(f"  {name}")
        for n in (16, 64, 256) if model else ():
            for mixed in (False, True):
                for objective in ("throughput", "latency"):
                    show_bound(a, model, n, mixed, objective, *bind)


def bench_wide(a):
    """its prefill on about as many devices as layers, and more: what all layers read decides"""
    name, bind = PREFILL
    model = find(a.models, name)
    for n in (128, 256, 512) if model else ():
        for mixed in (False, True):
            show_bound(a, model, n, mixed, "throughput", *bind)


def bench_growth(a):
    """made graphs of 10^4 to 10^6 operators on 8 devices; target 10^6 under 10 s and 1.5 GB, n^1.1"""
    for kind in ("chain", "branches"):
        growth_of(a, kind)


def growth_of(a, kind):
    points = []
    for n in (10_000, 100_000, 1_000_000):
        path = os.path.join(a.scratch, f"{kind}{n}.onnx")
        subprocess.run([sys.executable, os.path.join(HERE, "make_models.py"), kind, str(n), path], check=True)
        wall, cpu, peak, code, out = timed(plan(a, path, "--devices", "8", "--optimal_perf"), 3)
        points.append((n, cpu))
        gap = json.loads(out)["plan"]["search"]["gap"]
        print(f"  {kind} of {n} operators: {wall:.3f} s wall, {cpu:.3f} s cpu, {mb(peak)}, exit {code}, "
              f"gap {'unknown' if gap is None else f'{100 * gap:.3f} %'}")
        os.remove(path)
    for (n0, t0), (n1, t1) in zip(points, points[1:]):
        print(f"  from {n0} to {n1}: time grows as n^{math.log(t1 / t0) / math.log(n1 / n0):.2f}")


def bench_annotate(a):
    """a file with 2 GB of weights annotated, against cp on the same disk; target 0.8 and 64 MB"""
    path = os.path.join(a.scratch, "weights2g.onnx")
    out, plan_file = path + ".out", path + ".plan.json"
    subprocess.run([sys.executable, os.path.join(HERE, "make_models.py"), "weights", str(2 << 30), path], check=True)
    run([a.cleave, "plan", path, "--devices", "2", "--no-output", "--plan-out", plan_file])
    peak = 0

    def fresh(argv):
        """into a file that is not there yet, with nothing left to write back"""
        if os.path.exists(out):
            os.remove(out)
        os.sync()
        return run(argv)

    # Each goes first in turn: the first to write gets the pages that the file before gave back, and a
    # virtual machine may take several times as long to find others.
    copy, ours = ["cp", path, out], [a.cleave, "annotate", path, "--plan", plan_file, "-o", out]
    times = {"cp": [], "annotate": []}
    for i in range(COPY_PAIRS):
        for name, argv in (("cp", copy), ("annotate", ours))[:: 1 if i % 2 else -1]:
            row = fresh(argv)
            times[name].append(row[2])
            peak = max(peak, row[4] if name == "annotate" else 0)
    for name, t in times.items():
        print(f"  {name}: {' '.join(f'{x:.2f}' for x in sorted(t))} s")
    speeds = [c / o for c, o in zip(times["cp"], times["annotate"])]
    print(f"  speed against cp: of the medians {statistics.median(times['cp']) / statistics.median(times['annotate']):.2f}, "
          f"of the fastest {min(times['cp']) / min(times['annotate']):.2f}, median of {COPY_PAIRS} pairs "
          f"{statistics.median(speeds):.2f} (min {min(speeds):.2f}, max {max(speeds):.2f}); peak {mb(peak)}")
    wall, _, peak, _, _ = timed([a.cleave, "inspect", path, "--json"])
    print(f"  opening and inspecting it: {wall * 1e3:.1f} ms, {mb(peak)}")
    for f in (path, out, plan_file):
        if os.path.exists(f):
            os.remove(f)


def plannable(a):
    sys.path.insert(0, os.path.join(HERE, "..", "corpus"))
    from sizes import binding_of
    for folder, _, names in sorted(os.walk(a.models)):
        for name in sorted(n for n in names if n.endswith(".onnx")):
            path = os.path.join(folder, name)
            code, out, *_ = run([a.cleave, "inspect", path, "--json"])
            if code:
                continue
            symbols = [s["name"] if isinstance(s, dict) else s for s in json.loads(out)["symbols"]]
            bind = []
            for s in symbols:
                bind += ["--bind", f"{s}={binding_of(s, symbols, {})}"]
            yield name, path, bind


def bench_same(a):
    """the same plan and bytes at any --jobs, on every run"""
    same = total = 0
    for name, path, bind in plannable(a):
        memory = ["--memory", "1TB"]
        ways = [memory, [*memory, "--first-fit"], [*memory, "--search", "documented"]]
        ways += memories(a, path, "4", bind) if a.tight else []
        for way in ways:
            texts = {written(a, [path, "--devices", "4", "--jobs", jobs, *way, *bind])
                     for jobs in ("1", "2", "7", "2")}
            total += 1
            same += len(texts) == 1
            if len(texts) != 1:
                print(f"  {name} {' '.join(way)}: {len(texts)} different results")
    print(f"  {same} of {total} plans: the same plan and the same bytes at jobs 1, 2, 7 and again 2")


def written(a, options):
    """all that a run writes: its model and its plan file, or nothing where no plan fits"""
    out, pl = os.path.join(a.scratch, "same.onnx"), os.path.join(a.scratch, "same.json")
    code, text, *_ = run([a.cleave, "plan", "-o", out, "--plan-out", pl, *options])
    bytes_of = [str(code), text.split("seconds")[0] if code else ""]
    for name in (out, pl):
        if os.path.exists(name):
            with open(name, "rb") as f:
                bytes_of.append(f.read())
            os.remove(name)
    return tuple(bytes_of)


# Parts of the memory that the plan balanced by weights needs, at which a fit has to be searched for.
TIGHT = (0.999, 0.95, 0.9, 0.8, 0.7, 0.6)


def memories(a, path, n, bind):
    """the --memory options to compare at: as described, or with --tight less than the first plan needs"""
    if not a.tight:
        return [[]]
    _, out, *_ = run(plan(a, path, "--devices", n, "--memory", "100TB", "--search", "documented",
                          "--first-fit", *bind))
    peak = max(d["peak_bytes"] for d in json.loads(out)["plan"]["devices"])
    return [["--memory", f"{int(peak * part)}B"] for part in TIGHT]


def searched(a, path, search, *more):
    """exit code, and of the plan: objective's measures and compilations"""
    code, out, *_ = run(plan(a, path, "--search", search, "--optimal_perf", *more))
    p = json.loads(out)["plan"]
    return code, {"latency": p["latency_ns"], "throughput": p["period_ns"]}, p["search"]["judged"]


def bench_search(a):
    """our search against the documented one, same subgraphs and compiler, on every model"""
    worse, judged, cases, fits = 0, [0, 0], 0, [0, 0]
    ratios = {"latency": [], "throughput": []}
    for name, path, bind in plannable(a):
        for n in ("2", "4", "8"):
            for memory in memories(a, path, n, bind):
                for objective in ("latency", "throughput"):
                    rows = [searched(a, path, search, "--devices", n, "--objective", objective, *memory, *bind)
                            for search in ("default", "documented")]
                    (c0, m0, j0), (c1, m1, j1) = rows
                    cases += 1
                    for i, row in enumerate(rows):
                        fits[i] += row[0] == 0
                        judged[i] += row[2]
                    bad = c0 != 0 and c1 == 0
                    if c0 == 0 and c1 == 0:
                        ratios[objective].append(m0[objective] / m1[objective] if m1[objective] else 1)
                        bad = m0[objective] > m1[objective]
                    worse += bad
                    if a.verbose or bad:
                        print(f"  {name} x{n} {objective} {' '.join(memory)}: "
                              f"ours {m0['latency']} ns, {m0['throughput']} ns a run, {j0} judged, exit {c0}; "
                              f"documented {m1['latency']} ns, {m1['throughput']} ns a run, {j1} judged, "
                              f"exit {c1}" + ("  WORSE" if bad else ""))
                        sys.stdout.flush()
    for objective, r in ratios.items():
        if r:
            print(f"  {objective}: ours / documented over {len(r)} plans: median {statistics.median(r):.4f}, "
                  f"min {min(r):.4f}, max {max(r):.4f}, geometric mean "
                  f"{math.exp(statistics.fmean(map(math.log, r))):.4f}")
    print(f"  of {cases} cases ours fits {fits[0]}, documented {fits[1]}; compilations: ours {judged[0]}, "
          f"documented {judged[1]}; ours is worse in {worse}")


def corpus_tool(a, name, *arguments):
    """Runs a tool of tests/corpus with the system's Python, which has onnx, and shows how it ended."""
    tool = os.path.join(HERE, "..", "corpus", name)
    done = subprocess.run(["/usr/bin/python3", tool, *arguments], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    for line in lines if a.verbose else [l for l in lines if l.startswith(("bad", "failed", "refused"))] + lines[-2:]:
        print(f"  {line}")
    if done.returncode:
        print(f"  exit {done.returncode}: {done.stderr.strip()[-300:]}")


def bench_corpus(a):
    """ONNX's own test models and ours: planned, annotated, stripped, judged by ONNX's checker; shapes
    against ONNX's inference"""
    for where in (ONNX_TESTDATA, a.models):
        print(f"  {where}:")
        corpus_tool(a, "corpus.py", a.cleave, where)
        if a.tools:
            corpus_tool(a, "compare_shapes.py", os.path.join(a.tools, "dump_shapes"), where, "--strip")


def bench_published(a):
    """parameters and matrix FLOPs against published figures"""
    full = os.path.join(a.models, "full") # the small ones have the same names and other sizes
    if a.tools:
        corpus_tool(a, "check_published.py", os.path.join(a.tools, "count"),
                    full if os.path.isdir(full) else a.models)


BENCHES = {"corpus": bench_corpus, "published": bench_published, "vit": bench_vit, "large": bench_large, "bounds": bench_bounds, "wide": bench_wide, "growth": bench_growth, "annotate": bench_annotate,
           "same": bench_same, "search": bench_search}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("--models", default=os.path.join(HERE, "..", "data", "models"))
    p.add_argument("--tools", help="folder of the programs dump_shapes and count; without, what needs them is left out")
    p.add_argument("--scratch", default="/tmp")
    p.add_argument("--only", default=",".join(BENCHES))
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--tight", action="store_true", help="search, same: with too little memory for balanced plans")
    a = p.parse_args()
    os.makedirs(a.scratch, exist_ok=True)
    for name in a.only.split(","):
        print(f"{name}: {BENCHES[name].__doc__}")
        sys.stdout.flush()
        BENCHES[name](a)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
