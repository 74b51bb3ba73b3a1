#!/usr/bin/env python3
"""check_folder.py - lowered folders, held against their schema, their files and the plan.

Usage: check_folder.py SOURCE_FOLDER MODEL PLAN FOLDER...

Of each folder: the manifest is as docs/formats/manifest.schema.json wants it; every file is listed with
its size, and no other file is there; what a model takes from another is one of its outputs, and one of
the inputs that the file has; parts of an output cover it once; copies are those of the plan. Of
ort-options every node has the annotation of the plan's device and the settings name it; of olive the
splits that Olive would make are the plan's stages; and both leave the model as it was. Every model names
the manifest that it goes with.
"""
import itertools
import json
import os
import sys

import jsonschema
import onnx

FREE = {"Constant", "DequantizeLinear", "Identity"}  # Olive copies or removes them
ROUTES = "cleave.routes"  # in the metadata of each model


class Wrong(Exception):
    pass


def need(fact, sentence):
    if not fact:
        raise Wrong(sentence)


# -- the manifest --

def check_files(folder, manifest):
    listed = {f["file"]: f["bytes"] for f in manifest["files"]}
    need(len(listed) == len(manifest["files"]), "a file is listed twice")
    there = {}
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            there[os.path.relpath(path, folder)] = os.path.getsize(path)
    need(there.pop("manifest.json", None) is not None, "there is no manifest.json")
    need(there == listed, f"listed are {listed}, there are {there}")


def names_of(folder, file):
    graph = onnx.load(os.path.join(folder, file), load_external_data=False).graph
    weights = {w.name for w in graph.initializer}
    return ({i.name for i in graph.input} - weights, {o.name for o in graph.output},
            {n.name for n in graph.node if n.name})


def check_models(folder, manifest):
    models = manifest["models"]
    for m in models:
        props = onnx.load(os.path.join(folder, m["file"]), load_external_data=False).metadata_props
        said = [p.value for p in props if p.key == ROUTES]
        need(said == [f"{manifest['routes']} {m['file']}"], f"{m['file']} goes with the manifest {said}")
    files = [names_of(folder, m["file"]) for m in models]
    whole = {i["name"] for i in manifest["inputs"]}
    for i, m in enumerate(models):
        need({t["name"] for t in m["inputs"]} == files[i][0], f"{m['file']} has other inputs")
        need({t["name"] for t in m["outputs"]} == files[i][1], f"{m['file']} has other outputs")
        for t in m["inputs"]:
            if t["from"] == "model":
                need(t["tensor"] in whole, f"the model has no input {t['tensor']}")
                continue
            need(t["from"] < i or manifest["form"] == "devices", f"{m['file']} reads a later model")
            need(t["tensor"] in files[t["from"]][1], f"nobody sends {t['tensor']}")
    for t in manifest["transfers"]:
        taken = {(u["from"], u["tensor"]) for u in models[t["to"]]["inputs"]}
        need((t["from"], t["tensor"]) in taken, f"the transfer of {t['tensor']} has no input")
    for c in manifest.get("collectives", []):
        ranks = list(itertools.chain(*c["groups"]))
        need(len(set(ranks)) == len(ranks), f"{c['node']}: a model is in two groups")
        need(len({len(g) for g in c["groups"]}) == 1, f"{c['node']}: groups of two sizes")
        for rank in ranks:
            need(c["node"] in files[rank][2], f"model {rank} has no node {c['node']}")


def cells(part):
    """Every element of a part, by its place in the view."""
    return itertools.product(*[range(o, o + n) for o, n in zip(part["offsets"], part["dims"])])


def check_outputs(manifest):
    for out in manifest["outputs"]:
        pieces = [p["part"] for p in out["pieces"] if "part" in p]
        need(pieces or len(out["pieces"]) == 1, f"{out['name']} has whole pieces more than once")
        need(not pieces or len(pieces) == len(out["pieces"]), f"{out['name']}: parts and wholes")
        total = 1
        for d in out.get("dims", []):
            total *= d
        if pieces and total <= 100000:
            seen = [c for p in pieces for c in cells(p)]
            need(len(seen) == len(set(seen)) == total, f"{out['name']} is not covered once")


# -- forms that keep the model --

def without_properties(model, node_key=None, keys=()):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for holder, names in [(copy, keys)] + [(n, (node_key,)) for n in copy.graph.node]:
        kept = [p for p in getattr(holder, "metadata_props", []) if p.key not in names]
        if hasattr(holder, "metadata_props"):
            del holder.metadata_props[:]
            holder.metadata_props.extend(kept)
    return copy.SerializeToString(deterministic=True)


def raw_properties(node):
    """metadata_props of a node, also where onnx.py is older than them: field 9."""
    if hasattr(node, "metadata_props"):
        return {p.key: p.value for p in node.metadata_props}
    from google.protobuf.internal import decoder
    data, at, found = node.SerializeToString(), 0, {}
    while at < len(data):
        key, at = decoder._DecodeVarint(data, at)
        if key & 7 == 0:
            _, at = decoder._DecodeVarint(data, at)
            continue
        need(key & 7 == 2, "a node has a field of fixed size")
        n, at = decoder._DecodeVarint(data, at)
        if key >> 3 == 9:
            entry = onnx.StringStringEntryProto.FromString(data[at:at + n])
            found[entry.key] = entry.value
        at += n
    return found


def devices_of(plan):
    """The device of each node, by its position in the file."""
    of = []
    for device, n in plan["operators"]["device_runs"]:
        of += [device] * n
    return of


def check_ort(model, manifest, folder, original, plan):
    text = manifest["settings"]["session.layer_assignment_settings"]
    with open(os.path.join(folder, "session_options.json"), encoding="utf-8") as f:
        need(json.load(f) == manifest["settings"], "session_options.json says something else")
    rules = {}
    for rule in text.split(";"):
        device, names = rule.strip().rstrip(")").split("(")
        for name in names.split(","):
            need(name.strip().startswith("="), f"'{name}' is no exact match")
            need(name.strip()[1:] not in rules, f"'{name}' stands twice")
            rules[name.strip()[1:]] = device
    for node, device in zip(model.graph.node, devices_of(plan)):
        got = raw_properties(node).get("layer_ann")
        need(got == plan["devices"][device]["name"], f"{node.name} is annotated {got}")
        need(got in rules, f"no rule has {got}")
    need(len(model.graph.node) == len(original.graph.node), "nodes are missing")


def assignment(name, splits):
    """Components dropped from the end until there is one."""
    parts = name.replace("/", ".").lstrip(".").split(".") if name else []
    while parts:
        if ".".join(parts) in splits:
            return splits[".".join(parts)]
        parts.pop()
    return None


def olive_splits(graph, splits):
    """The split of each node: by its name, and not before what it reads; what is left is with the
    earliest reader."""
    writer, through, of = {}, {}, {}
    for i, n in enumerate(graph.node):
        writer.update({o: i for o in n.output if o})

    def parents(i):
        for t in graph.node[i].input:
            while t in writer and graph.node[writer[t]].op_type == "Identity":
                t = graph.node[writer[t]].input[0]
            if t in writer:
                yield writer[t]

    order, state = [], {}
    for root in range(len(graph.node)):
        stack = [(root, iter(list(parents(root))))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            i, rest = stack[-1]
            child = next((p for p in rest if p not in state), None)
            if child is None:
                order.append(i)
                stack.pop()
            else:
                state[child] = 1
                stack.append((child, iter(list(parents(child)))))
    for i in order:
        n = graph.node[i]
        if n.op_type in ("Constant", "Identity"):
            continue
        named = None if n.op_type in ("QuantizeLinear", "DequantizeLinear") \
            else assignment(n.name, splits)
        known = [of[p] for p in parents(i) if p in of] + ([] if named is None else [named])
        if known:
            of[i] = max(known)
    readers = {}
    for i in order:
        for p in parents(i):
            readers.setdefault(p, []).append(i)
    for i in reversed(order):
        if i not in of and graph.node[i].op_type not in ("Constant", "Identity"):
            of[i] = min((of[r] for r in readers.get(i, []) if r in of), default=0)
    return of


def check_olive(model, manifest, plan):
    found = [p.value for p in model.metadata_props if p.key == "split_assignments"]
    need(found == [manifest["settings"]["split_assignments"]], "metadata and manifest differ")
    pairs = [a.split("=") for a in found[0].split(";")]
    splits = {name: int(number) for name, number in pairs}
    need(len(splits) == len(pairs), "a prefix stands twice")
    need(sorted(set(splits.values())) == list(range(plan["stages"])), "splits are not the stages")
    of, devices = olive_splits(model.graph, splits), devices_of(plan)
    for i, node in enumerate(model.graph.node):
        stage = plan["devices"][devices[i]]["stage"]
        need(node.op_type in FREE or of[i] == stage,
             f"{node.name} comes into split {of.get(i)}, and is in stage {stage}")
    for name in splits:  # none can be shorter: what stays apart would not
        short = name.rpartition(".")[0]
        if short:
            under = {plan["devices"][devices[i]]["stage"] for i, n in enumerate(model.graph.node)
                     if n.name and n.op_type not in FREE | {"QuantizeLinear"}
                     and (n.name.replace("/", ".").lstrip(".") + ".").startswith(short + ".")}
            need(len(under) > 1, f"{name} could be {short}")


def check_copies(manifest, plan):
    """The devices of each copy, by name; of one model none."""
    copies = [[plan["devices"][d]["name"] for d in copy] for copy in plan.get("copies", [])]
    expected = copies if manifest["form"] in ("stages", "devices") else []
    need(manifest.get("copies", []) == expected, f"copies are {manifest.get('copies')}, expected {expected}")
    for m in manifest["models"] if expected else []:
        need(m["device"] in expected[0], f"{m['file']} is for {m['device']}, which is not in the first copy")


def check(source, original, plan, folder):
    with open(os.path.join(source, "docs/formats/manifest.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(manifest):
        raise Wrong(f"{error.json_path}: {error.message}")
    need(manifest["model"]["fingerprint"] == plan["fingerprint"], "another fingerprint")
    check_files(folder, manifest)
    check_models(folder, manifest)
    check_outputs(manifest)
    check_copies(manifest, plan)
    if manifest["form"] in ("ort-options", "olive"):
        model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
        if manifest["form"] == "olive":
            check_olive(model, manifest, plan)
            same = without_properties(model, None, ("split_assignments", ROUTES))
        else:
            check_ort(model, manifest, folder, original, plan)
            for n in model.graph.node:
                if not hasattr(n, "metadata_props"):
                    n.DiscardUnknownFields()
            same = without_properties(model, "layer_ann", (ROUTES,))
        need(same == without_properties(original), "the model is not as it was")


def main():
    source, model, plan_path = sys.argv[1:4]
    original = onnx.load(model, load_external_data=False)
    with open(plan_path, encoding="utf-8") as f:
        plan = json.load(f)
    wrong = 0
    for folder in sys.argv[4:]:
        try:
            check(source, original, plan, folder)
        except Wrong as sentence:
            print(f"{folder}: {sentence}")
            wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
