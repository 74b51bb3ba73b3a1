#!/usr/bin/env python3
"""copies.py - plans with copies, lowered and run: each request gives what the model gives, and they go round.

Usage: copies.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS MODEL_OR_FOLDER ... [--plans N] [--first N] [--jobs N] [--keep FOLDER]

Plan number s has 2 to 4 copies of 1 to 3 stages of 1, 2 or 2x2 devices, as the search finds it for slow devices
with fast links; every third has one stage whose operators are split in ways chosen at random (by LOWER_LAYOUTS),
written down again for each copy, with the devices of copies in any order and some idle. Its model is a small random
graph (tests/lower/graph_maker.py), of every fourth one that is given. It is lowered as stages and as devices; each
folder runs more requests than it has copies, as many, or one, and it is checked that

- request k ran on copy k modulo their number, and the manifest has the devices of each copy;
- each output of request k is what the model itself, run alone with the seed of that request, gives, as near as
  tests/lower has it, or else as near as cleave verify allows;
- cleave verify of the plan runs a request on each copy, and agrees.

Graphs that the runtime does not run, that are not as declared, or that have no such plan are thrown away for the
next ones. With CLEAVE_EFFORT=10 in the environment there are ten times as many. Exit 1 if anything fails.

covers: E.057
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lower"))
import graph_maker  # noqa: E402
import models  # noqa: E402
from random_graphs import within  # noqa: E402

FORMS = ("stages", "devices")
MESHES = {"1": 1, "2": 2, "2x2": 4}
DEVICES = 48
MODEL_EVERY, RANDOM_EVERY = 4, 3
TRIES = 40  # of graphs for one plan


class Wrong(Exception):
    """Something is not as it should be."""


class Unfit(Exception):
    """Of this model there is no such plan, or it does not run."""


def read(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def tensors_in(folder, n):
    """Numbers of bfloat16, which numpy has not, as those of 32 bits with the same first half."""
    values = [np.load(os.path.join(folder, f"output_{i}.npy")) for i in range(n)]
    return [(np.frombuffer(v.tobytes(), np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(v.shape)
            if v.dtype.kind == "V" else v for v in values]


class Campaign:
    def __init__(self, args, cluster, files):
        self.args, self.cluster, self.files = args, cluster, files

    def call(self, *words, ok=(0,)):
        return subprocess.run(words, capture_output=True, text=True, check=False) if ok is None else models.call(
            *words, ok=ok)

    # -- plans --

    def model_of(self, s, attempt, folder):
        """(path, sizes, name)"""
        if s % MODEL_EVERY == 0:
            path = self.files[(s // MODEL_EVERY + attempt) % len(self.files)]
            model = os.path.join(folder, os.path.basename(path))
            os.symlink(os.path.abspath(path), model)
            return model, models.sizes_of(self.args.cleave, model), os.path.basename(path)
        seed = 10 ** 6 + s * TRIES + attempt
        model, sizes = graph_maker.make(seed)
        if not model:
            raise Unfit("not valid")
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        return path, sizes, f"graph {seed}"

    def search(self, model, sizes, shape, path):
        bind = [x for size in sizes for x in ("--bind", size)]
        mesh = ["--max-tp", "1"] if shape["mesh"] == "1" else ["--mesh", shape["mesh"]]
        n = MESHES[shape["mesh"]] * shape["stages"] * shape["copies"]
        run = self.call(self.args.cleave, "plan", "--cluster", self.cluster, "--objective", "throughput", "--devices",
                        str(n), "--copies", str(shape["copies"]), "--stages", str(shape["stages"]), *mesh,
                        "--no-output", "--plan-out", path, "-q", *bind, model, ok=None)
        if run.returncode != 0:
            raise (Unfit if run.returncode == 3 or "stages" in run.stderr else Wrong)(run.stderr.strip()[-300:])

    def split_at_random(self, rng, model, sizes, shape, path):
        """One stage, whose copies are written down by hand, on devices in any order."""
        run = self.call(self.args.lower_layouts, model, "--mesh", shape["mesh"], "--random", str(rng.randrange(1000)),
                        "--out", path, *sizes, ok=None)
        if run.returncode != 0:
            raise Unfit(run.stderr.strip()[-300:])
        plan = read(path)
        n, copies = len(plan["devices"]), shape["copies"]
        total = n * copies + rng.randrange(3)
        order = rng.sample(range(total), n * copies)
        devices = [dict(plan["devices"][0], stage=-1, operators=0) for _ in range(total)]
        for i, d in enumerate(order):
            devices[d] = dict(plan["devices"][i % n])
        for d, device in enumerate(devices):
            device["name"] = f"d{d}"
        plan["devices"] = devices
        plan["copies"] = [order[c * n:(c + 1) * n] for c in range(copies)]
        plan["mesh"]["devices"] = [[order[d] for d in mesh] for mesh in plan["mesh"]["devices"]]
        plan["operators"]["device_runs"] = [[order[d], k] for d, k in plan["operators"]["device_runs"]]
        with open(path, "w", encoding="utf-8") as f:
            json.dump(plan, f)

    # -- runs --

    def alone(self, model, sizes, seed, out):
        """What the model gives for one request."""
        names = models.symbols_of(self.args.cleave, model)
        bind = [x for size in models.with_sums(names, sizes) for x in ("--bind", size)]
        run = self.call(self.args.cleave_run, "run", model, "--random", "--seed", str(seed), "--format", "npy", "-o",
                        out, "--threads", "1", "--json", *bind, ok=None)
        if run.returncode != 0:
            raise Unfit(f"the model does not run: {run.stderr.strip()[-200:]}")
        return tensors_in(out, len(json.loads(run.stdout)["outputs"]))

    def verify(self, model, path, copies):
        """By output, what is allowed: of the request whose bound is the widest."""
        run = self.call(self.args.cleave, "verify", "--json", "--runner", self.args.cleave_run, model, path, ok=None)
        if run.returncode not in (0, 4, 5, 6, 7):
            raise Wrong(f"verify exits {run.returncode}: {(run.stderr or run.stdout).strip()[-300:]}")
        said = json.loads(run.stdout)
        if "original_fault" in said:
            raise Unfit(said["original_fault"])
        if "why_not_written" in said or any("not_compared" in f for f in said["forms"]):
            raise Unfit("it cannot be written in all forms")
        if run.returncode != 0:
            raise Wrong(f"verify: {said['conclusion']}: {json.dumps(said['forms'])[-600:]}")
        if len(said["copies"]) != copies:
            raise Wrong(f"verify names copies {said['copies']}, expected {copies}")
        for f in said["forms"] if said["run"] else []:
            n = copies if f["form"] in FORMS else 1
            if f.get("requests", 1) != n or {t.get("request", 0) for t in f["tensors"]} != set(range(n)):
                raise Wrong(f"verify: form {f['form']} has {f.get('requests')} requests, expected {n}")
        allowed = {}
        for t in said["forms"][0]["tensors"] if said["run"] else []:
            seen = allowed.setdefault(t["name"], [0.0, 0.0])
            seen[0] = max(seen[0], t["growth"] or 0, 4 * (t.get("own") or 0))
            seen[1] = max(seen[1], t["absolute"] or 0)
        return allowed

    def run_form(self, form, model, path, folder, count):
        """The answer of cleave-run for so many requests, and the folder of outputs."""
        lowered, out = (os.path.join(folder, f"{form}{end}") for end in ("", ".out"))
        models.call(self.args.cleave, "lower", model, path, "--form", form, "-o", lowered, "-q")
        manifest, plan = read(os.path.join(lowered, "manifest.json")), read(path)
        names = [[plan["devices"][d]["name"] for d in copy] for copy in plan["copies"]]
        if manifest["copies"] != names:
            raise Wrong(f"{form}: the manifest has copies {manifest['copies']}, expected {names}")
        said = json.loads(models.call(
            self.args.cleave_run, "run", lowered, "--random", "--seed", "7", "--format", "npy", "-o", out, "--threads",
            "1", "--json", "--requests", str(count)))
        ran = [(q["request"], q["copy"]) for q in said["requests"]]
        if ran != [(k, k % len(names)) for k in range(count)]:
            raise Wrong(f"{form}: requests ran on copies {ran}")
        return said, out

    @staticmethod
    def compare(form, k, names, got, want, allowed):
        worst = models.difference(got, want)
        if isinstance(worst, str):
            raise Wrong(f"{form}: request {k}: {worst}")
        if worst <= models.RTOL:
            return
        for name, g, w in zip(names, got, want):
            if name not in allowed or not within(g, w, *allowed[name]):
                raise Wrong(f"{form}: request {k}: '{name}' differs, by {worst:.1e} of the largest")

    def judge(self, s, attempt, folder, counts):
        rng = random.Random(s)
        shape = {"copies": rng.choice((2, 3, 4)), "mesh": rng.choice(("1", "2", "2x2")), "stages": rng.choice((1, 2, 3))}
        by_hand = s % RANDOM_EVERY == 0
        if by_hand:
            shape.update(mesh=rng.choice(("2", "2x2")), stages=1)
        r = shape["copies"]
        count = rng.choice((r, r, 2 * r + 1, 2 * r + 1, 1, r + 1))
        model, sizes, name = self.model_of(s, attempt, folder)
        path = os.path.join(folder, "plan.json")
        want = [self.alone(model, sizes, 7 + k, os.path.join(folder, f"alone{k}")) for k in range(count)]
        if by_hand:
            self.split_at_random(rng, model, sizes, shape, path)
        else:
            self.search(model, sizes, shape, path)
        allowed = self.verify(model, path, r)
        for form in FORMS:
            said, out = self.run_form(form, model, path, folder, count)
            names = [t["name"] for t in said["outputs"]]
            for k in range(count):
                got = tensors_in(os.path.join(out, f"request_{k}") if k else out, len(names))
                self.compare(form, k, names, got, want[k], allowed)
                counts["outputs equal"] += len(names)
            counts[f"as {form}"] += 1
            counts["requests"] += count
        counts["plans"] += 1
        counts["by hand"] += by_hand
        counts["of models"] += s % MODEL_EVERY == 0
        counts[f"of {r} copies"] += 1
        counts["more requests than copies"] += count > r
        return f"{name}: {r} copies of {shape['stages']} x {shape['mesh']}{', by hand' if by_hand else ''}, {count} requests"

    def one(self, s):
        """(words, counts, failed)"""
        counts = collections.Counter()
        words = "nothing fits"
        for attempt in range(TRIES):
            with tempfile.TemporaryDirectory(dir=self.args.scratch, ignore_cleanup_errors=True) as folder:
                own = collections.Counter()
                try:
                    words = self.judge(s, attempt, folder, own)
                    return words, counts + own, False
                except Unfit as e:
                    words = str(e)
                    counts["thrown away"] += 1
                except (Wrong, RuntimeError, KeyError) as e:
                    if self.args.keep:
                        to = os.path.join(self.args.keep, str(s))
                        shutil.rmtree(to, ignore_errors=True)
                        shutil.copytree(folder, to)
                    return f"failed: plan {s}, attempt {attempt}: {type(e).__name__}: {e}", counts, True
        return f"failed: plan {s}: no model fits: {words}", counts, True


def cluster_in(folder):
    """Enough slow devices for 4 copies of 3 stages of 2x2."""
    path = models.slow_cluster(folder)
    cluster = read(path)
    cluster["name"] = "slow-48"
    cluster["devices"][0]["count"] = cluster["levels"][0]["size"] = DEVICES
    with open(path, "w", encoding="utf-8") as f:
        json.dump(cluster, f)
    return path


def runnable(cleave, given):
    files = []
    for m in given:
        files += sorted(os.path.join(m, f) for f in os.listdir(m) if f.endswith(".onnx")) if os.path.isdir(m) else [m]
    reported = [(f, json.loads(models.call(cleave, "inspect", "--json", f))) for f in files]
    return [f for f, r in reported if not any("missing" in note for note in r.get("warnings", []))]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("cleave_run")
    p.add_argument("lower_layouts")
    p.add_argument("models", nargs="+")
    p.add_argument("--plans", type=int, default=20)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--keep")
    p.add_argument("--scratch")
    p.add_argument("--verbose", action="store_true")
    args = p.parse_args()
    n = args.plans * int(os.environ.get("CLEAVE_EFFORT", "1"))
    counts, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory(dir=args.scratch) as configs:
        campaign = Campaign(args, cluster_in(configs), runnable(args.cleave, args.models))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for words, own, wrong in pool.map(campaign.one, range(args.first, args.first + n)):
                counts.update(own)
                failed += wrong
                if wrong or args.verbose:
                    print(words, flush=True)
    print(", ".join(f"{k} {what}" for what, k in counts.items()) + f", {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
