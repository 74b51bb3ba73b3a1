#!/usr/bin/env python3
"""check_rules.py - under every layout that a rule admits, the parts give the whole's result.

Usage: check_rules.py DUMP_RULES ROOT [WORD] [--mesh 2x3 ...] [--apart 3] [--every N]

Each case of cases_*.py becomes an operator of a model. dump_rules prints its rule and all choices
that are admitted on some meshes; shards.py computes each of them device by device in the reference
arithmetic, and compares. broken_rules.py makes some rules wrong, to see that it shows. Exit 1 if a
choice differs from the whole, if a wrong rule passes, or if some case of a rule in ops.def splits
none of ours. WORD: only operators of that name, and every choice's fault. --apart: each
factor that is a multiple is taken apart first, as heads are, so that parts are whole units. --every: one case in so many.

covers: A.051 A.052 A.053 A.054 A.055 A.056 A.057 A.058 A.060 A.061 A.062 C.004
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import broken_rules
import cases
import reference
import rule_text
import shards

MESHES = ["2", "3", "2x2", "2x3", "3x2"]
FAULTS_SHOWN = 3  # of one case; more are counted


def call_dump(program, *args):
    run = subprocess.run([program, *args], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{program} exits {run.returncode}: {run.stderr.strip()[:2000]}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def rules_of(program, meshes, apart, chosen):
    """case -> its rule, and its choices on all meshes. Cases of the same operator sets share a
    model: starting a program is slow under a sanitizer."""
    groups, rules = collections.defaultdict(list), {}
    for case in chosen:
        groups[tuple(case.opsets().items())].append(case)
    with tempfile.TemporaryDirectory() as folder:
        for number, group in enumerate(groups.values()):
            path = os.path.join(folder, f"{number}.onnx")
            with open(path, "wb") as f:
                f.write(cases.model_of(group).SerializeToString())
            for mesh in meshes:
                sizes = [int(n) for n in mesh.split("x")]
                dump = call_dump(program, path, "--mesh", mesh, "--apart", apart)
                for case, reported in match(group, dump):
                    rule = rules.setdefault(case, {**reported, "choices": []})
                    rule["choices"] += [{**c, "mesh": sizes} for c in reported["choices"]]
    return rules


def match(group, reported):
    """The dump is in the graph's order; an operator's first output names its case."""
    by_output = {next(o["tensor"] for o in rule["out"] if o["tensor"]): rule for rule in reported}
    for i, case in enumerate(group):
        first = next(n for n in case.outputs if n)
        yield case, by_output[f"{i}_{first}" if len(group) > 1 else first]


DOMAINS = {"STD": "", "ML": "ai.onnx.ml", "TRAIN": "ai.onnx.preview.training", "MS": cases.MS}


def rules_in(ops_def):
    """Operator -> the text of its rule."""
    out = {}
    with open(ops_def, encoding="utf-8") as f:
        for domain, op, rule in re.findall(r'^CLV_OP\((\w+), (\w+),.*"(.*)"\)$', f.read(), re.M):
            out[f"{DOMAINS[domain]}.{op}" if DOMAINS[domain] else op] = rule
    return out


class Tally:
    def __init__(self):
        self.choices = self.compared = self.runs = self.faults = 0
        self.split = collections.Counter()  # case -> choices that split something
        self.whole = {}                     # operator -> why


def check_case(case, rule, tally, show):
    if rule["why_whole"]:
        tally.whole.setdefault(case.name, rule["why_whole"])
        return
    if rule.get("by_shape"):
        tally.split[case.text] += 1  # its outputs are constants of the plan
        return
    if (case.domain, case.op) not in reference.KERNELS:
        print(f"{case.name}: has a rule, but no reference kernel")
        tally.faults += 1
        return
    try:
        trial = shards.Trial(case, rule)
    except NotImplementedError as e:
        sys.exit(f"{case.text}: {e}")
    faults = []
    for choice in rule["choices"]:
        if all(f < 0 for f in choice["axes"]):
            continue
        for policy, splits in trial.policies(choice).items():
            tally.choices += 1
            try:
                trial.check(choice, policy, splits)
            except Exception as e:  # a kernel that cannot take such a shard is a fault, too
                said = str(e) if isinstance(e, shards.Fault) else f"{type(e).__name__}: {e}"
                axes = [rule["factors"][f]["name"] if f >= 0 else "-" for f in choice["axes"]]
                mesh = "x".join(map(str, choice["mesh"]))
                faults.append(f"  {','.join(axes)} on {mesh} ({policy}): {said}")
        tally.split[case.text] += 1
    tally.compared += trial.n_compared
    tally.runs += trial.n_runs
    tally.faults += len(faults)
    if faults:
        print(f"{case.text}\n  {describe(rule)}")
        print("\n".join(faults if show else faults[:FAULTS_SHOWN]))
        if len(faults) > FAULTS_SHOWN and not show:
            print(f"  and {len(faults) - FAULTS_SHOWN} more")


def describe(rule):
    """The rule in the notation of docs/sharding.md, with sizes."""
    name = lambda f: rule["factors"][f]["name"] or str(rule["factors"][f]["size"])
    show = lambda o: "-" if o is None else "(" + ",".join(
        "*".join(map(name, d)) or "_" for d in o["dims"]) + ")" + ("^" if o["once"] else "")
    factors = ", ".join(f"{f['name']}={f['size']} {f['kind']}" + (
        f" {f['reduce']}" if f["kind"] == "reduced" else "") for f in rule["factors"])
    return (",".join(map(show, rule["in"])) + "->" + ",".join(map(show, rule["out"]))
            + " with " + factors)


def check_all_have_cases(texts, chosen, tally):
    """Every case of every rule splits one of ours; operators without a rule are listed with their
    reasons."""
    took = {(c.name, rule_text.taken(texts[c.name], c)) for c in chosen if tally.split[c.text]}
    for name, text in sorted(texts.items()):
        splitting = rule_text.that_split(text)
        if not splitting:
            print(f"whole: {name} {text[len(rule_text.WHOLE):].strip()}")
        for number in splitting:
            if (name, number) not in took:
                why = f" ({tally.whole[name]})" if name in tally.whole else ""
                print(f"{name}: case {number} of its rule splits none of ours{why}")
                tally.faults += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump_rules")
    parser.add_argument("root")
    parser.add_argument("word", nargs="?")
    parser.add_argument("--mesh", action="append")
    parser.add_argument("--apart", default="1")
    parser.add_argument("--every", type=int, default=1)  # one case in so many
    args = parser.parse_args()
    start, tally = time.time(), Tally()
    chosen = [c for c in cases.all_cases() if args.word in (None, c.name, c.op)][::args.every]
    rules = rules_of(args.dump_rules, args.mesh or MESHES, args.apart, chosen)
    for case in chosen:
        check_case(case, rules[case], tally, args.word)
    if not args.word and args.apart == "1" and args.every == 1:
        missed, n = broken_rules.not_found(rules)
        tally.faults += len(missed)
        missed.append(f"{n - len(missed)} of {n} rules made wrong on purpose are found")
        print("\n".join(missed))
        check_all_have_cases(rules_in(os.path.join(args.root, "src", "graph", "ops.def")), chosen,
                             tally)
    split = {c.name for c in chosen if tally.split[c.text]}
    print(f"{len(split)} operators, {len(chosen)} cases, {tally.choices} layouts, {tally.runs} "
          f"shards computed, {tally.compared} comparisons in {time.time() - start:.1f} s")
    print(f"{tally.choices - tally.faults} passed, {tally.faults} failed")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
