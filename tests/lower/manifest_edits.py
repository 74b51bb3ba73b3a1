#!/usr/bin/env python3
"""manifest_edits.py - a manifest that was edited is refused by cleave-run, which has no plan to hold it against.

Usage: manifest_edits.py CLEAVE CLEAVE_RUN LOWER_LAYOUTS MODEL [EVERY]

The model is split at random over 2x2 devices and lowered; then each edit below is made, with a digest made
anew: cleave-run has to refuse it, with code 65 and one line, and what contradicts another part of the manifest, or the
nodes, for what it is. The others are made by hand too, which leaves the digest as it was, and as manifests of version 1.
EVERY: only every so many of the edits. Exit 1 if a wrong manifest runs, or the right one does not.
"""
import copy
import ctypes
import ctypes.util
import json
import os
import subprocess
import sys
import tempfile


class Xxh128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXHASH.XXH3_128bits.restype = Xxh128
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def with_digest(manifest):
    manifest = {k: v for k, v in manifest.items() if k != "digest"}
    body = json.dumps(manifest)[:-1] + ", "
    sum128 = XXHASH.XXH3_128bits(body.encode(), len(body.encode()))
    return f'{body}"digest": "{sum128.high:016x}{sum128.low:016x}"}}'


def swap(a, b, key):
    a[key], b[key] = b[key], a[key]


def of_kind(m, kind):
    return next((c for c in m["collectives"] if c["kind"] == kind), None)


def parts(m):
    return [i for one in m["models"] for i in one["inputs"] if "part" in i]


def pieces(m):
    return next(o["pieces"] for o in m["outputs"] if len(o["pieces"]) > 1)


def alike(m):
    """Two inputs of one model that have the same part, so that either would do for the runtime."""
    for one in m["models"]:
        for a in one["inputs"]:
            for b in one["inputs"]:
                if a is not b and a["name"] < b["name"] and a.get("part") == b.get("part"):
                    return a, b
    return m["models"][0]["inputs"][:2]


def move(box, by):
    d = next((d for d, o in enumerate(box["offsets"]) if o > 0), 0)
    box["offsets"][d] += by


def first(m):
    return m["collectives"][0]


# name: what is done, and does it contradict something else than digest and checksum of the routes
EDITS = {
    "groups reversed": (lambda m: [g.reverse() for g in first(m)["groups"]], True),
    "groups of one member": (lambda m: first(m).update(groups=[[k] for g in first(m)["groups"] for k in g]), True),
    "one group of all": (lambda m: first(m).update(groups=[sum(first(m)["groups"], [])]), True),
    "a group left out": (lambda m: first(m)["groups"].pop(), True),
    "all groups left out": (lambda m: first(m).update(groups=[]), True),
    "members swapped between groups": (lambda m: first(m).update(
        groups=[[first(m)["groups"][0][0], first(m)["groups"][1][1]],
                [first(m)["groups"][1][0], first(m)["groups"][0][1]]]), False),
    "groups in another order": (lambda m: first(m)["groups"].reverse(), False),
    "a member twice": (lambda m: first(m)["groups"][0].__setitem__(1, first(m)["groups"][0][0]), True),
    "a member in two groups": (lambda m: first(m)["groups"][0].__setitem__(1, first(m)["groups"][1][1]), True),
    "a member that is no model": (lambda m: first(m)["groups"][0].__setitem__(1, 9), True),
    "a member too many": (lambda m: first(m)["groups"][0].append(first(m)["groups"][1][0]), True),
    "an entry dropped": (lambda m: m["collectives"].pop(0), True),
    "the last entry dropped": (lambda m: m["collectives"].pop(), True),
    "all entries dropped": (lambda m: m.update(collectives=[]), True),
    "an entry doubled": (lambda m: m["collectives"].append(copy.deepcopy(first(m))), True),
    "entries swap nodes": (lambda m: swap(of_kind(m, "all-gather"), of_kind(m, "all-reduce"), "node"), True),
    "kind: all-reduce is a gather": (lambda m: (of_kind(m, "all-reduce").pop("reduce"),
                                                of_kind(m, "all-reduce").update(kind="all-gather", axis=0)), True),
    "kind: a gather is an all-to-all": (lambda m: of_kind(m, "all-gather").update(kind="all-to-all"), True),
    "kind: unknown": (lambda m: first(m).update(kind="all"), True),
    "kind: missing": (lambda m: first(m).pop("kind"), True),
    "reduce: max": (lambda m: of_kind(m, "all-reduce").update(reduce="max"), True),
    "reduce: mean": (lambda m: of_kind(m, "all-reduce").update(reduce="mean"), True),
    "reduce: unknown": (lambda m: of_kind(m, "all-reduce").update(reduce="most"), True),
    "reduce: missing": (lambda m: of_kind(m, "all-reduce").pop("reduce"), True),
    "reduce: of a gather": (lambda m: of_kind(m, "all-gather").update(reduce="sum"), True),
    "axis: another": (lambda m: of_kind(m, "all-gather").update(axis=of_kind(m, "all-gather")["axis"] + 1), True),
    "axis: missing": (lambda m: of_kind(m, "all-gather").pop("axis"), True),
    "axis: of a reduction": (lambda m: of_kind(m, "all-reduce").update(axis=0), True),
    "bytes of a collective": (lambda m: first(m).update(bytes=first(m)["bytes"] + 1), False),
    "pieces swapped": (lambda m: swap(pieces(m)[0], pieces(m)[1], "part"), False),
    "pieces of other models": (lambda m: swap(pieces(m)[0], pieces(m)[1], "model"), False),
    "a piece twice": (lambda m: pieces(m)[0].update(model=pieces(m)[1]["model"]), False),
    "a piece left out": (lambda m: pieces(m).pop(), True),
    "a piece added": (lambda m: pieces(m).append(copy.deepcopy(pieces(m)[0])), True),
    "a piece moved": (lambda m: move(pieces(m)[-1]["part"], -1), True),
    "a piece of no output": (lambda m: pieces(m)[0].update(name="nothing"), True),
    "a piece of no model": (lambda m: pieces(m)[0].update(model=9), True),
    "outputs swapped": (lambda m: swap(m["outputs"][1], m["outputs"][2], "pieces"), False),
    "an output left out": (lambda m: m["outputs"].pop(), False),
    "inputs swapped": (lambda m: swap(*alike(m), "tensor"), False),
    "inputs of the model swapped": (lambda m: swap(*alike(m), "name"), False),
    "an input's part moved": (lambda m: move(next(i for i in parts(m) if any(i["part"]["offsets"]))["part"], -1),
                              False),
    "parts of two models swapped": (lambda m: swap(m["models"][0]["inputs"][0], m["models"][3]["inputs"][0], "part"),
                                    False),
    "an input's part left out": (lambda m: parts(m)[0].pop("part"), True),
    "an input left out": (lambda m: m["models"][0]["inputs"].pop(), True),
    "an input twice": (lambda m: m["models"][0]["inputs"].append(m["models"][0]["inputs"][0]), True),
    "an input from a model": (lambda m: m["models"][0]["inputs"][0].update({"from": 1}), True),
    "models in another order": (lambda m: m["models"].insert(0, m["models"].pop(1)), False),
    "files of two models swapped": (lambda m: swap(m["models"][0], m["models"][1], "file"), False),
    "one file for two models": (lambda m: m["models"][0].update(file=m["models"][1]["file"]), True),
    "a model left out": (lambda m: m["models"].pop(), True),
    "a model without outputs": (lambda m: m["models"][1].update(outputs=[]), True),
    "another form": (lambda m: m.update(form="stages"), True),
    "an unknown form": (lambda m: m.update(form="device"), True),
    "a file not listed": (lambda m: m["files"].pop(0), True),
    "no files": (lambda m: m.update(files=[]), True),
    "a transfer that nobody takes": (lambda m: m["transfers"].append({"tensor": "x", "from": 0, "to": 1}), True),
    "another stage": (lambda m: m["models"][1].update(stage=1), True),
    "another fingerprint": (lambda m: m["model"].update(fingerprint="0" * 16), False),
    "no digest": (lambda m: m.pop("digest", None), False),
    "another digest": (lambda m: m.update(digest="0" * 32), False),
}

UNBOUND = ("another fingerprint", "no digest", "another digest")  # decide nothing of what is run


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(runner, folder, what, text, wrong):
    with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as f:
        f.write(text)
    run = call(runner, "run", "--random", "--timeout", "20", folder)
    if run.returncode == 0:
        wrong.append(f"{what}: it runs")
    elif run.returncode != 65 or run.stderr.count("\n") != 1:
        wrong.append(f"{what}: code {run.returncode}, expected 65 and a line: {run.stderr.strip()}")
    return run


def check_exchanged(runner, folder, right, wrong):
    """The files of two devices, each in the place of the other, with all of the manifest made anew."""
    manifest = json.loads(right)
    a, b = manifest["files"][:2]
    paths = [os.path.join(folder, f["file"]) for f in (a, b)]
    for again in range(2):
        os.rename(paths[0], paths[0] + ".was")
        os.rename(paths[1], paths[0])
        os.rename(paths[0] + ".was", paths[1])
        swap(a, b, "bytes")
        swap(a, b, "xxh3")
        if again:
            return
        run = check(runner, folder, "files of two devices exchanged", with_digest(manifest), wrong)
        if " was lowered as " not in run.stderr:
            wrong.append(f"files of two devices exchanged: {run.stderr.strip()}")


def main():
    cleave, runner, layouts, model, every = (sys.argv[1:] + ["1"])[:5]
    edits = dict(list(EDITS.items())[::int(every)])
    wrong = []
    with tempfile.TemporaryDirectory() as temp:
        plan, folder = os.path.join(temp, "plan.json"), os.path.join(temp, "lowered")
        for command in ([layouts, model, "--mesh", "2x2", "--random", "3", "--out", plan],
                        [cleave, "lower", "--form", "devices", "-o", folder, model, plan]):
            run = call(*command)
            if run.returncode != 0:
                sys.exit(f"{' '.join(command)}: {run.stderr}")
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
            right = f.read()
        if call(runner, "run", "--random", folder).returncode != 0:
            wrong.append("the right manifest does not run")
        for name, (edit, is_seen) in edits.items():
            manifest = json.loads(right)
            before = copy.deepcopy(manifest)
            edit(manifest)
            if manifest == before:
                wrong.append(f"{name}: it changes nothing")
            if not is_seen:
                check(runner, folder, name, json.dumps(manifest, indent=2), wrong)
            if name in UNBOUND:
                continue
            run = check(runner, folder, f"{name}, digest made anew", with_digest(manifest), wrong)
            if is_seen and ("digest" in run.stderr or "checksum" in run.stderr):
                wrong.append(f"{name}: {run.stderr.strip()}")
            if not is_seen and not ("checksum" in run.stderr and ", expected " in run.stderr):
                wrong.append(f"{name}: {run.stderr.strip()}")
            if os.environ.get("SHOW"):
                print(f"{name}: {run.stderr.strip()}")
            if not is_seen:
                manifest.pop("digest", None)
                check(runner, folder, f"{name}, as version 1", json.dumps(manifest | {"schema_version": 1}), wrong)
        check_exchanged(runner, folder, right, wrong)
        manifest = json.loads(right)
        with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as f:
            f.write(with_digest(manifest))
        run = call(runner, "run", "--random", folder)
        if run.returncode != 0:
            wrong.append(f"laid out anew, with its digest made anew: {run.stderr.strip()}")
        seen = sum(is_seen for _, is_seen in edits.values())
    print("\n".join(wrong), file=sys.stderr)
    print(f"{len(edits)} edits, {seen} of them with a digest made anew: {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
