#!/usr/bin/env python3
"""faults.py - faults of plans, manifests and lowered files are found when a folder is verified.

Usage: faults.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS MODEL_OR_FOLDER ... [--each N] [--first N] [--show]

Each seed takes a model, splits it at random, and lowers it in one form. The right folder has to be called right.
Then one fault is put, N times each:
  plan      a number, name or word of the plan is another one; the folder stays
  manifest  an edit of tests/lower/manifest_edits.py, or a number or word that is another one
  file      an element, operator or operand of a model or a byte of its weights (tests/verify/sabotage.py)
All checksums and digests are made anew. `cleave verify MODEL PLAN FOLDER` has to say so (exit code 4 or 5), or a
reader to refuse it (65, 6, 7). Exit code 0 is right only where the fault means the same: of a plan, where the folder
that is lowered of it is the same, byte for byte but for the plan that its manifest repeats; of a manifest where its
keys are, but for the name that the model's file had, or where its plan means the same; of files where all bytes are.
Exit 1 if a fault is missed or a right folder is accused.
"""
import argparse
import collections
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "lower")]
import manifest_edits  # noqa: E402
import models  # noqa: E402
import sabotage  # noqa: E402

MESHES = ["2", "3", "2x2", "2:1,2"]
MANIFEST = "manifest.json"
NOTED = ("digest", "notes", "configuration", "compiler", "search")  # for people
FORMS = [["devices"], ["emulate"], ["stages"], ["devices", "--collectives", "tensorrt"]]


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    elif value is not None:
        yield path


def change_leaf(value, path, rng):
    for key in path[:-1]:
        value = value[key]
    old = value[path[-1]]
    if isinstance(old, bool):
        value[path[-1]] = not old
    elif isinstance(old, str):
        value[path[-1]] = rng.choice(["x", old + "1", ""])
    else:
        value[path[-1]] = max(0, old + rng.choice([-1, 1, 2])) if old else 1
    return f"{'.'.join(map(str, path))}: {old} is {value[path[-1]]}"


def spoil_json(value, rng):
    """One leaf, taken by key first, so that long lists are not all that is tried."""
    keys = [k for k, v in value.items() if k not in NOTED and list(leaves(v))]
    key = rng.choice(keys + ["operators"] * len(keys) * ("operators" in value))
    return change_leaf(value, (key, *rng.choice(list(leaves(value[key])))), rng)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def content(folder, name, but):
    """Of a file; of the manifest without these keys, if there are any."""
    with open(os.path.join(folder, name), "rb") as f:
        data = f.read()
    return {k: v for k, v in json.loads(data).items() if k not in but} if but and name == MANIFEST else data


def same_tree(a, b, but=()):
    return sorted(os.listdir(a)) == sorted(os.listdir(b)) and all(
        content(a, n, but) == content(b, n, but) for n in os.listdir(a))


class Campaign:
    def __init__(self, args, temp):
        self.args, self.temp = args, temp
        self.plan, self.folder, self.spoiled = (os.path.join(temp, n) for n in ("plan.json", "right", "spoiled"))
        self.counts, self.wrong = collections.Counter(), []

    def verify(self, *what):
        return call(self.args.cleave, "verify", "--seed", sabotage.SEED, "--runner", self.args.cleave_run, *what)

    def make(self, model, seed):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.form = FORMS[seed // len(MESHES) % len(FORMS)]
        try:
            models.call(self.args.lower_layouts, model, "--mesh", MESHES[seed % len(MESHES)], "--random", str(seed),
                        "--out", self.plan, *models.sizes_of(self.args.cleave, model))
        except RuntimeError:
            return False
        return call(self.args.cleave, "lower", "--form", *self.form, "-o", self.folder, model,
                    self.plan).returncode == 0

    def is_same_plan(self, model, plan):
        again = os.path.join(self.temp, "again")
        shutil.rmtree(again, ignore_errors=True)
        run = call(self.args.cleave, "lower", "--form", *self.form, "-o", again, model, plan)
        return run.returncode == 0 and same_tree(again, self.folder, but=("plan", "digest"))

    def has_same_plan(self, model):
        """Is the plan in the spoiled manifest all that is other, and one that means the same?"""
        spoiled, right = (json.loads(read(os.path.join(f, MANIFEST))) for f in (self.spoiled, self.folder))
        other = os.path.join(self.temp, "other.json")
        with open(other, "w", encoding="utf-8") as f:
            json.dump(spoiled.get("plan"), f)
        return all(spoiled.get(k) == right[k] for k in right if k not in ("plan", "digest")) and \
            self.is_same_plan(model, other)

    def put(self, what, rng, seed):
        """What was done, where the plan is, and whether it means the same."""
        shutil.rmtree(self.spoiled, ignore_errors=True)
        shutil.copytree(self.folder, self.spoiled)
        manifest_path = os.path.join(self.spoiled, MANIFEST)
        if what == "plan":
            plan, other = json.loads(read(self.plan)), os.path.join(self.temp, "other.json")
            said = spoil_json(plan, rng)
            with open(other, "w", encoding="utf-8") as f:
                json.dump(plan, f)
            return said, other, None
        if what == "file":
            kind, said = sabotage.Spoiler(self.spoiled, f"{seed} {what}").spoil()
            return f"{kind} {said}", self.plan, same_tree(self.folder, self.spoiled)
        manifest = json.loads(read(manifest_path))
        before = copy.deepcopy(manifest)
        said = None
        if rng.random() < 0.7:
            said = rng.choice(sorted(manifest_edits.EDITS))
            try:
                manifest_edits.EDITS[said][0](manifest)
            except (IndexError, KeyError, StopIteration, AttributeError, TypeError):
                manifest, said = copy.deepcopy(before), None
        if not said or "digest" in said:
            said = spoil_json(manifest, rng)
        with open(manifest_path, "w", encoding="utf-8") as f:
            f.write(manifest_edits.with_digest(manifest))
        for m in (manifest, before):
            m.pop("digest", None)
            if isinstance(m.get("model"), dict):
                m["model"].pop("name", None)
        return said, self.plan, manifest == before

    def judge(self, model, seed, what):
        name = f"{os.path.basename(model)} seed {seed} {'-'.join(self.form)} {what}"
        said, plan, is_same = self.put(what, random.Random(f"{seed} {what}"), seed)
        run = self.verify(model, plan, self.spoiled)
        if run.returncode == 0 and what == "manifest":  # its own plan is read where none is given
            run = self.verify(model, self.spoiled)
            is_same = is_same or (run.returncode == 0 and self.has_same_plan(model))
        words = (run.stderr or run.stdout).strip().splitlines()
        if self.args.show:
            print(f"{name}: {said}: {run.returncode} {words[-1] if words else ''}")
        if run.returncode == 0 and is_same is None:
            is_same = self.is_same_plan(model, plan)
        verdict = {0: "means the same" if is_same else "missed", 4: "found", 5: "not proven", 6: "not written",
                   7: "does not run", 2: "refused", 65: "refused", 64: "refused"}.get(run.returncode, "ends oddly")
        self.counts[f"{what}: {verdict}"] += 1
        if verdict in ("missed", "ends oddly"):
            self.wrong.append(f"{name}: {said}: {verdict}, code {run.returncode}")
        elif run.returncode == 4 and is_same:
            self.wrong.append(f"{name}: {said}: accused, but means the same")

    def run(self, paths):
        seed, done = self.args.first, 0
        while done < self.args.each:
            model, seed = paths[seed % len(paths)], seed + 1
            if not self.make(model, seed):
                continue
            right = self.verify(model, self.plan, self.folder)
            if right.returncode != 0:
                self.wrong.append(f"{model} seed {seed} {self.form}: a right folder: {right.returncode} "
                                  f"{right.stdout[-300:]}{right.stderr}")
            alone = self.verify(model, self.folder)
            if alone.stdout.splitlines()[1:] != right.stdout.splitlines()[1:] or alone.returncode != right.returncode:
                self.wrong.append(f"{model} seed {seed} {self.form}: by the plan in it: {alone.returncode} "
                                  f"{alone.stdout[-300:]}{alone.stderr}")
            self.counts["right folders"] += 1
            done += 1
            for what in ("plan", "manifest", "file"):
                self.judge(model, seed, what)


def main():
    parser = argparse.ArgumentParser()
    for operand in ("cleave", "cleave_run", "lower_layouts"):
        parser.add_argument(operand)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    paths = [p for m in args.models for p in
             (sorted(os.path.join(m, n) for n in os.listdir(m) if n.endswith(".onnx")) if os.path.isdir(m) else [m])]
    with tempfile.TemporaryDirectory() as temp:
        campaign = Campaign(args, temp)
        campaign.run(paths)
    for key in sorted(campaign.counts):
        print(f"{campaign.counts[key]:6} {key}")
    print("\n".join(campaign.wrong), file=sys.stderr)
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
