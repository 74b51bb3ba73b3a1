#!/usr/bin/env python3
"""edits.py - a plan says one thing: a plan that is edited by hand is read as what it then decides, or refused with
a sentence; what it repeats never counts beside that.

Usage: edits.py CLEAVE ROOT

Each edit says what annotate, lower and verify make of the plan: all of them refuse it, by words of one sentence, or
take it, and then the annotated model is the one that the same decisions give without anything repeated.
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

CLEAVE, ROOT = sys.argv[1:]
BIND = "batch_size=2,past_sequence_length=3,sequence_length=1,total_sequence_length=4"
MEGATRON = [("*/up_proj/MatMul", "n"), ("*/gate_proj/MatMul", "n"), ("*/down_proj/MatMul", "k"), ("*/o_proj/MatMul", "k")]
EXPERTS = [("*/w1/MatMul", "n"), ("*/w3/MatMul", "n"), ("*/w2/MatMul", "k")]
MODELS = {  # model: how it is split, options of its plan
    "tests/data/models/llama_gqa_decode.dyn.onnx": (MEGATRON, ["--mesh", "tp=4", "--devices", "4", "--bind", BIND]),
    "tests/data/runnable/mixtral_prefill.static.onnx": (EXPERTS, ["--mesh", "tp=2", "--stages", "2", "--devices", "4"]),
}
REPEATED = ["collectives", "found", "partial_sums", "uneven_parts"]
KINDS = ["slice", "neutral", "all-gather", "reduce-scatter", "all-reduce", "all-to-all", "permute"]
failed = []


def cleave(*args):
    r = subprocess.run([CLEAVE, *args], capture_output=True, text=True)
    return r.returncode, r.stderr.strip()


def fail(what, *words):
    failed.append(what)
    print(what, *words)


def outcomes(folder, model, plan):
    """(annotate, lower, verify) as (code, message), and the annotated model or None."""
    path, out, lowered = (os.path.join(folder, n) for n in ("p.json", "a.onnx", "lowered"))
    with open(path, "w") as f:
        json.dump(plan, f)
    subprocess.run(["rm", "-rf", out, lowered], check=True)
    said = [cleave("annotate", "-q", "--plan", path, "-o", out, model),
            cleave("lower", "-q", "--form", "devices", "--weights", "ranges", "-o", lowered, model, path),
            cleave("verify", "-q", "--proof-only", model, path)]
    if not os.path.exists(out):
        return said, None
    with open(out, "rb") as f:
        return said, f.read()


def refused(what, folder, model, plan, words):
    for (code, message), command in zip(outcomes(folder, model, plan)[0], ("annotate", "lower", "verify")):
        if code != 65 or words not in message or "p.json: " not in message:
            fail(f"{what}: {command} gives {code}, '{message}', expected 65, the file and '{words}'")


def taken(what, folder, model, plan):
    """As the plan without what it repeats."""
    said, annotated = outcomes(folder, model, plan)
    for (code, message), command in zip(said, ("annotate", "lower", "verify")):
        if code != 0:
            fail(f"{what}: {command} gives {code}, '{message}'")
    return annotated


def specs_of(folder, model, bind):
    """The specs of an annotated model, as version 1 repeated them in its plans."""
    r = subprocess.run([CLEAVE, "shards", "--json", *bind, os.path.join(folder, model)], capture_output=True, text=True)
    return json.loads(r.stdout)["nodes"]


def edited(plan, edit):
    q = copy.deepcopy(plan)
    edit(q)
    return q


def without_splits(q):
    q["operators"]["split_runs"] = [["", q["operators"]["count"]]]


def check(folder, model, splits, options):
    path, rules = os.path.join(folder, "plan.json"), os.path.join(folder, "rules.json")
    with open(rules, "w") as f:
        json.dump({"rules": [{"split": n, "factor": f, "over": "tp"} for n, f in splits]}, f)
    options = [*options, "--constraints", rules]
    name = os.path.basename(model)
    code, message = cleave("plan", "-q", *options, "-o", os.path.join(folder, "m.onnx"), "--plan-out", path, model)
    if code != 0:
        return fail(name, message)
    with open(path) as f:
        plan = json.load(f)
    with open(os.path.join(folder, "m.onnx"), "rb") as f:
        original = f.read()
    if "annotations" in plan or plan["schema_version"] != 2:
        fail(name, "the plan repeats specs")
    if taken(f"{name} as it is", folder, model, plan) != original:
        fail(f"{name}: annotate writes another model than plan")

    whole = edited(plan, without_splits)
    refused(f"{name} without splits", folder, model, whole, "")
    for key in REPEATED:
        whole.pop(key, None)
    annotated = taken(f"{name} without splits and what follows from them", folder, model, whole)
    if annotated == original or not annotated:
        fail(f"{name} without splits: annotate writes the split model")

    bare = edited(plan, lambda q: [q.pop(k, None) for k in REPEATED if k != "collectives"])
    if taken(f"{name} without what is repeated", folder, model, bare) != original:
        fail(f"{name}: what is repeated decides something")

    for i, one in enumerate(plan["collectives"][:6]):
        def turn(q, i=i):
            c = q["collectives"][i]
            c["from"], c["to"] = c["to"], c["from"]
        refused(f"{name} collective {i} turned round", folder, model, edited(plan, turn), "collectives: '")
        for key in ("from", "to"):
            refused(f"{name} collective {i} without '{key}'", folder, model,
                    edited(plan, lambda q, i=i, key=key: q["collectives"][i].pop(key)), f"has no '{key}'")
        for kind in KINDS:
            if kind not in (one["kind"], "permute", "all-to-all"):  # these may do what the others do
                refused(f"{name} collective {i} is {kind}", folder, model,
                        edited(plan, lambda q, i=i, kind=kind: q["collectives"][i].update(kind=kind)), "collectives: '")
    refused(f"{name} found", folder, model,
            edited(plan, lambda q: q["found"].append(dict(q["found"][0], count=q["found"][0]["count"] + 1))),
            "found: the plan says")
    if plan.get("partial_sums"):
        refused(f"{name} a sum that is none", folder, model,
                edited(plan, lambda q: q["partial_sums"][0].update(layout="{-} sum(nobody)")), "partial_sums: ")
    refused(f"{name} an uneven part", folder, model,
            edited(plan, lambda q: q.setdefault("uneven_parts", []).append(
                {"tensor": plan["collectives"][0]["tensor"], "axis": 0, "sizes": "1, 2"})), "uneven_parts: ")

    for binding in ("batch_size=0", "batch_size=", "batch_size", "=2", "batch_size=1e3"):
        refused(f"{name} the binding '{binding}'", folder, model,
                edited(plan, lambda q, b=binding: q.setdefault("bindings", []).insert(0, b)),
                f"bindings[0] is '{binding}', expected")

    # specs by hand beside splits
    nodes = [n for n in specs_of(folder, "m.onnx", [a for a in options if False]) if n.get("tensors")]
    if nodes:
        node = nodes[len(nodes) // 2]
        tensor = node["tensors"][0]["tensor"]
        one = {"node": node["node"], "specs": [{"tensor": tensor, "device": [99]}]}
        refused(f"{name} a spec by hand on a device that is not there", folder, model,
                edited(plan, lambda q: q.update(annotations=[one])), "99")


def check_version_1(folder):
    model = os.path.join(ROOT, "docs/examples/two_products.onnx")
    with open(os.path.join(ROOT, "tests/data/plans/two_products.v1.json")) as f:
        plan = json.load(f)
    annotated = taken("version 1", folder, model, plan)
    bare = copy.deepcopy(plan)
    del bare["annotations"]
    bare["schema_version"] = 2
    if taken("version 2", folder, model, bare) != annotated:
        fail("version 1 and 2 of one plan give different models")

    def each_spec(edit):
        for a in range(len(plan["annotations"])):
            for s in range(len(plan["annotations"][a]["specs"])):
                q = copy.deepcopy(plan)
                if edit(q["annotations"][a]["specs"][s]) is not False:
                    yield q

    def on_device_0(spec):
        spec["device"] = [0]
        spec.pop("sharded_dim", None)
        spec.pop("index_to_device_group_map", None)

    def other_axis(spec):
        if not spec.get("sharded_dim"):
            return False
        spec["sharded_dim"][0]["axis"] = 1 - spec["sharded_dim"][0]["axis"]
        return True

    n = 0
    for edit in (on_device_0, other_axis):
        for q in each_spec(edit):
            n += 1
            refused(f"version 1, {edit.__name__} {n}", folder, model, q, "the splits decide")
    if n < 4:
        fail("too few specs were edited")
    plan["annotations"][0]["stage"] = 7
    refused("version 1, a stage", folder, model, plan, "has stage 7")
    plan["schema_version"] = 3
    refused("version 3", folder, model, plan, "schema_version is 3, this program reads 1 to 2")


def check_specs_by_hand(folder):
    """Without a mesh they are written into the model; what runs does not know them, and says so."""
    model = os.path.join(ROOT, "docs/examples/two_products.onnx")
    path = os.path.join(folder, "plan.json")
    cleave("plan", "-q", "--devices", "2", "--max-tp", "1", "--stages", "2", "--no-output", "--plan-out", path, model)
    with open(path) as f:
        plan = json.load(f)
    taken("a plan without a mesh", folder, model, plan)
    plan["annotations"] = [{"node": 0, "specs": [
        {"tensor": "x", "device": [0, 1], "sharded_dim": [{"axis": 0, "simple_sharding": [{"num_shards": 2}]}]}]}]
    said, annotated = outcomes(folder, model, plan)
    if said[0][0] != 0 or not annotated:
        fail("specs by hand are not written", said[0][1])
    for code, message in said[1:]:
        if code == 0 or "by hand" not in message:
            fail("specs by hand are passed over", str(code), message)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for model, (splits, options) in MODELS.items():
            check(folder, os.path.join(ROOT, model), splits, options)
        check_version_1(folder)
        check_specs_by_hand(folder)
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
