#!/usr/bin/env python3
"""random_graphs.py - small random graphs, planned at random, lowered in every form and run.

Usage: random_graphs.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS [--seeds FROM:TO] [--plans N] [--jobs N] [--brief]
                        [--keep FOLDER] [--shrink] [--refusals]

For each seed graph_maker.py makes a graph. What ONNX Runtime runs whole has to be the same under
plans chosen by the seed: cleave verify compares every tensor in the forms stages, devices and
emulate within its bound; devices with TensorRT's collectives and ort-options are run beside them; and
weights that are cut by the plan, and anew by another one, are put together to the same bytes.
--brief: all graphs are run at once in devices and emulate, and what differs there by more than most
do, and every tenth graph, are judged as above. --keep: where failed models and plans go. --shrink: each
is made as small as it still fails. --refusals: what was not lowered, by its sentence. Exit 1 if anything
fails.

covers: E.057
"""
import argparse
import collections
import concurrent.futures
import filecmp
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference

import conform
import graph_maker
import models

models.PLANS["stages 3"] = ["--max-tp", "1", "--devices", "3", "--stages", "3"]
PLANS = [p for p in models.PLANS if p != "data 2"]  # few of the graphs have a batch
LIKELY = [p for p in PLANS if p.startswith(("random", "uneven"))]
CHUNK = 60   # graphs that are run at once
CLOSER = 15  # of brief ones each such is judged as the others are
VERDICTS = (0, 4, 5, 6, 7)  # exit codes of cleave verify with a report


def within(got, want, growth, absolute):
    """The bound of docs/verifying.md."""
    fine = np.isfinite(want.astype(np.float64))
    got, want = got[fine].astype(np.float64), want[fine].astype(np.float64)
    rms = np.sqrt(np.mean(want ** 2)) if want.size else 0
    tiny = 2.0 ** -126 + absolute
    return bool((np.abs(got - want) <= growth * np.maximum(np.abs(want), rms) + tiny).all())


class Wrong(Exception):
    """What is wrong; kind distinguishes it from other faults."""

    def __init__(self, kind, words):
        super().__init__(f"{kind}: {words}")
        self.kind = kind


class NotRun(Exception):
    """The runtime does not run the whole model."""


class Judge(models.Judge):
    """Of one graph; folder is its own."""

    def __init__(self, args, seed, folder):
        super().__init__(args)
        self.folder, self.seed = folder, seed
        self.refused = collections.Counter()
        self.model_path = os.path.join(folder, "model.onnx")

    def at(self, name):
        return os.path.join(self.folder, name)

    def fresh(self, name):
        shutil.rmtree(self.at(name), ignore_errors=True)
        return self.at(name)

    def run(self, what, out, binds=()):
        """Numbers of bfloat16, which numpy has not, as those of 32 bits with the same first half."""
        return [(np.frombuffer(v.tobytes(), np.uint16).astype(np.uint32) << 16).view(np.float32)
                .reshape(v.shape) if v.dtype.kind == "V" else v for v in super().run(what, out, binds)]

    def verify(self, plan):
        run = subprocess.run([self.cleave, "verify", "--json", "--all", "--runner", self.runner,
                              self.model_path, plan], capture_output=True, text=True, check=False)
        if run.returncode not in VERDICTS:
            raise Wrong("verify", f"exits {run.returncode}: {(run.stderr or run.stdout)[-400:]}")
        reported = json.loads(run.stdout)
        if "original_fault" in reported:
            raise NotRun(reported["original_fault"])
        if "why_not_written" in reported:
            raise Wrong("plan", reported["why_not_written"])
        if not reported["proof"]["holds"]:
            raise Wrong("proof", json.dumps(reported["proof"])[:600])
        for f in reported.get("forms", []):
            if "not_compared" in f:
                self.refused[f["not_compared"]] += 1
            if "fault" in f:
                raise Wrong(f["form"], f["fault"])
            if "first" in f:
                raise Wrong(f["form"], json.dumps(f["tensors"][f["first"]]))
        if run.returncode == 4:
            raise Wrong("verify", run.stdout[-400:])
        tensors = reported["forms"][0]["tensors"] if reported["forms"] else []
        return [(t["growth"], t["absolute"]) for t in tensors]

    def other_forms(self, plan, growth, want):
        """The forms that verify does not run, within the same bound."""
        with open(plan, encoding="utf-8") as f:
            split = "mesh" in json.load(f)
        for form, how in (("devices", ["--collectives", "tensorrt"]), ("ort-options", [])):
            if split and form == "ort-options":
                continue
            out = self.fresh("lowered")
            run = subprocess.run([self.cleave, "lower", self.model_path, plan, "--form", form, *how,
                                  "-o", out, "-q"], capture_output=True, text=True, check=False)
            if run.returncode:
                self.refused[run.stderr] += 1
                continue
            try:
                got = self.run(out, self.fresh("lowered.out"))
            except RuntimeError as e:
                raise Wrong(f"{form} {how}", str(e)) from e
            worst = models.difference(got, want)
            if isinstance(worst, str):
                raise Wrong(f"{form} {how}", worst)
            for i, (g, w, allowed) in enumerate(zip(got, want, growth)):
                if not within(g, w, *allowed):
                    raise Wrong(f"{form} {how}", f"output {i} differs, growth {allowed}")

    def weights(self, plan, other):
        """Cut by one plan, then by the other, then put together."""
        cut, anew, back = self.fresh("cut"), self.fresh("anew"), self.fresh("back")
        os.mkdir(back)
        models.call(self.cleave, "shard", "--plan", plan, "-o", cut, "-q", self.model_path)
        models.call(self.cleave, "reshard", "--plan", other, "-o", anew, "-q", cut)
        models.call(self.cleave, "collect", "-o", os.path.join(back, "model.onnx"), "-q", anew)
        if not filecmp.cmp(self.model_path, os.path.join(back, "model.onnx"), False):
            raise Wrong("weights", "the model that was put together has other bytes")

    def judge(self, model, sizes, plans):
        """All plans; a fault is raised with the plan's name."""
        onnx.save(model, self.model_path)
        made, want = [], None
        for plan in plans:
            path = self.at(f"{len(made)}.json")
            try:
                if not self.plan(plan, self.model_path, sizes, path):
                    self.no_plan += 1
                    continue
                made.append(path)
                growth = self.verify(path)
                want = want or self.run(self.model_path, self.fresh("whole"), sizes)
                self.other_forms(path, growth, want)
                self.weights(path, made[0])
            except Wrong as e:
                raise Wrong(e.kind, f"{plan}: {e}") from e
            except RuntimeError as e:
                raise Wrong("command", f"{plan}: {e}") from e
            self.passed += 1


def plans_of(seed, n):
    rng = random.Random(seed)
    return [rng.choice(LIKELY if i == 0 or rng.random() < 0.5 else PLANS) for i in range(n)]


# -- one smaller --

def cut_off(model, outputs, inputs):
    """The nodes that these outputs need if these tensors are given; None if that is no model."""
    known = {v.name: v for v in [*model.graph.input, *model.graph.output,
                                 *shape_inference.infer_shapes(model, data_prop=True).graph.value_info]}
    if any(n not in known for n in [*outputs, *inputs]):
        return None
    needed, nodes = set(outputs), []
    for node in reversed(model.graph.node):
        if any(o in needed and o not in inputs for o in node.output):
            nodes.insert(0, node)
            needed.update(node.input)
            for a in node.attribute:
                for g in [a.g] if a.HasField("g") else []:
                    needed.update(i for n in g.node for i in n.input)
    small = onnx.ModelProto()
    small.CopyFrom(model)
    for field in ("node", "input", "output", "initializer"):
        small.graph.ClearField(field)
    small.graph.node.extend(nodes)
    small.graph.output.extend(known[n] for n in outputs)
    small.graph.input.extend(known[n] for n in {i.name: 0 for i in model.graph.input} | {
        i: 0 for i in inputs} if n in needed)
    small.graph.initializer.extend(w for w in model.graph.initializer if w.name in needed)
    return small if nodes and small.ByteSize() < model.ByteSize() else None


def smaller(model):
    outputs = [o.name for o in model.graph.output]
    weights = {w.name for w in model.graph.initializer}
    made = [o for n in model.graph.node for o in n.output if o]
    for name in made:
        yield cut_off(model, [name], [])
    for name in outputs:
        yield cut_off(model, [o for o in outputs if o != name], [])
    for name in reversed(made):
        if name not in weights:
            yield cut_off(model, outputs, [name])


def shrink(args, model, sizes, fault, plan, folder):
    """The smallest found that fails in the same way under a plan of the same kind."""
    def fails(small):
        for seed in range(1, 9):
            try:
                Judge(args, seed, folder).judge(small, sizes, [plan])
            except Wrong as e:
                if e.kind == fault.kind:
                    return e
            except NotRun:
                return None
        return None
    again = True
    while again:
        again = False
        for small in smaller(model):
            found = fails(small) if small else None
            if found:
                model, fault, again = small, found, True
                break
    onnx.save(model, os.path.join(folder, "model.onnx"))
    return model, fault


# -- many --

QUICK = (["devices"], ["devices", "--collectives", "tensorrt"], ["emulate"])


def words(sentence):
    """A sentence without the names and numbers in it."""
    return re.sub(r"'[^']*'|\d+", "*", sentence.split(".onnx: ")[-1].strip())


def sizes_in(sizes):
    return {name: int(n) for name, n in (s.split("=") for s in sizes)}


def inputs_of(model, sizes, seed, folder):
    """By name, files: floats from -1 to 1, whole numbers that may be indices 0 or 1."""
    rng, paths = np.random.default_rng(seed), {}
    size = sizes_in(sizes)
    os.mkdir(folder)
    for i, v in enumerate(model.graph.input):
        t = v.type.tensor_type
        shape = [size.get(d.dim_param, d.dim_value) for d in t.shape.dim]
        dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[t.elem_type]
        top = 256 if dtype.itemsize == 1 and dtype.kind == "u" else 2
        value = rng.uniform(-1, 1, shape) if dtype.kind == "f" else rng.integers(0, top, shape)
        paths[v.name] = os.path.join(folder, f"{i}.pb")
        with open(paths[v.name], "wb") as f:
            f.write(numpy_helper.from_array(np.asarray(value).astype(dtype), v.name)
                    .SerializeToString())
    return paths


def as_declared(model, sizes, outputs):
    """The runtime only warns where its shapes are not those of ONNX's inference."""
    size = sizes_in(sizes)
    for v in model.graph.output:
        tensor = onnx.load_tensor(outputs[v.name])
        if list(tensor.dims) != [size.get(d.dim_param, d.dim_value)
                                 for d in v.type.tensor_type.shape.dim]:
            return False
    return True


def lowered(args, seed, folder):
    """The judge of the graph, and entries for cleave-run batch: each plan in each form."""
    os.mkdir(folder)
    judge, entries = Judge(args, seed, folder), []
    (model, sizes), out = graph_maker.make(seed), os.path.join(folder, "whole")
    if not model:
        return judge, []
    onnx.save(model, judge.model_path)
    inputs = inputs_of(model, sizes, seed, judge.at("inputs"))
    given = [x for name, path in inputs.items() for x in ("-i", f"{name}={path}")]
    if subprocess.run([args.cleave_run, "run", judge.model_path, *given, "-o", out, "-q"],
                      capture_output=True, check=False).returncode:
        return judge, []
    outputs = {v.name: os.path.join(out, f"output_{i}.pb") for i, v in enumerate(model.graph.output)}
    if not as_declared(model, sizes, outputs):
        return judge, []
    for i, plan in enumerate(plans_of(seed, args.plans)):
        path = judge.at(f"{i}.json")
        try:
            if not judge.plan(plan, judge.model_path, sizes, path):
                continue
        except RuntimeError as e:
            entries.append({"seed": seed, "fault": f"{plan}: {e}"})
            continue
        for k, form in enumerate(QUICK):
            to = judge.at(f"{i}.{k}")
            run = subprocess.run([args.cleave, "lower", judge.model_path, path, "--form", *form, "-o",
                                  to, "-q"], capture_output=True, text=True, check=False)
            if run.returncode:
                judge.refused[run.stderr] += 1
                continue
            entries.append({"id": f"{seed}: {plan}: {' '.join(form)}", "model": to, "inputs": inputs,
                            "outputs": outputs, "rtol": 1e-4, "atol": 1e-5, "seed": seed})
        judge.passed += 1
    return judge, entries


def chunk(args, seeds, pool, refused, counts):
    """Runs many at once; the seeds that need a closer look, with what was reported of them."""
    suspects = {}
    with tempfile.TemporaryDirectory(dir=args.scratch, ignore_cleanup_errors=True) as folder:
        made = list(pool.map(lambda s: lowered(args, s, os.path.join(folder, str(s))), seeds))
        entries = []
        for judge, own in made:
            counts["thrown away" if not own else "graphs"] += 1
            counts["plans"] += judge.passed
            refused.update(words(r) for r in judge.refused.elements())
            entries += [e for e in own if "model" in e]
            suspects.update({e["seed"]: ("error", e["fault"]) for e in own if "fault" in e})
        reported = conform.run_batch(args.cleave_run, [
            {k: v for k, v in e.items() if k != "seed"} for e in entries], folder) if entries else []
        for entry, answer in zip(entries, reported):
            if answer["outcome"] != "equal":
                suspects.setdefault(entry["seed"], (
                    answer["outcome"], f"{answer['id']}: {answer.get('reason')}"))
    return suspects


def one(args, seed):
    """(outcome, words, judge)"""
    with tempfile.TemporaryDirectory(dir=args.scratch, ignore_cleanup_errors=True) as folder:
        judge = Judge(args, seed, folder)
        model, sizes = graph_maker.make(seed)
        plans = plans_of(seed, args.plans)
        if not model:
            return "thrown away", "not valid", judge
        try:
            judge.judge(model, sizes, plans)
            return "passed", "", judge
        except NotRun as e:
            return "thrown away", str(e), judge
        except Wrong as e:
            fault = e
            judge.refused.clear()
            if not lowered(argparse.Namespace(**{**vars(args), "plans": 1}), seed, judge.at("again"))[1]:
                return "thrown away", "not run whole as it is declared", judge
            if args.shrink:
                plan = str(e).split(": ")[1]
                model, fault = shrink(args, model, sizes, e, plan, folder)
            if args.keep:
                to = os.path.join(args.keep, str(seed))
                shutil.rmtree(to, ignore_errors=True)
                os.makedirs(args.keep, exist_ok=True)
                shutil.copytree(folder, to)
            return "failed", f"{len(model.graph.node)} nodes: {fault}", judge


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("cleave_run")
    p.add_argument("lower_layouts")
    p.add_argument("--seeds", default="0:200")
    p.add_argument("--plans", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--brief", action="store_true")
    p.add_argument("--keep")
    p.add_argument("--shrink", action="store_true")
    p.add_argument("--refusals", action="store_true")
    p.add_argument("--scratch")
    args = p.parse_args()
    args.forms, args.collectives = "", "ort"
    counts, refused = collections.Counter(), collections.Counter()

    def closer(seed, reported=("", "")):
        outcome, why, judge = one(args, seed)
        if outcome == "passed" and reported[0] not in ("", "differs"):
            outcome, why = "failed", reported[1]
        counts[outcome] += 1
        refused.update(words(r) for r in judge.refused.elements())
        if outcome == "failed":
            print(f"failed: seed {seed}: {why}", flush=True)
        elif outcome == "thrown away":
            refused["thrown away: " + words(why)[-160:]] += 1

    with tempfile.TemporaryDirectory(dir=args.scratch) as configs:
        args.cluster = models.slow_cluster(configs)
        seeds = range(*map(int, args.seeds.split(":")))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for at in range(0, len(seeds), CHUNK):
                some = seeds[at:at + CHUNK]
                looks = chunk(args, some, pool, refused, counts) if args.brief else {}
                looks.update({s: looks.get(s, ("", "")) for s in some[::CLOSER if args.brief else 1]})
                list(pool.map(lambda s, looks=looks: closer(s, looks[s]), sorted(looks)))
                if len(seeds) > 1000:
                    print(f"... {some[-1]}: {dict(counts)}", flush=True)
    if args.refusals:
        for sentence, n in refused.most_common():
            print(f"{n:6d} {sentence}")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
