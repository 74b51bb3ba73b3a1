#!/usr/bin/env python3
"""check_forms.py - the forms that practice runs models in, beside those that cleave plan chooses.

    check_forms.py CLEAVE MODELS... [--page FILE] [--write FILE] [--only WORD]

../data/forms_of_practice.json has the cases: a model, a cluster, an objective, the form that practice uses with its sources, and
the options that ask cleave plan for it. MODELS are folders of models, perhaps packed by xz; those named *.made.onnx are made
(made_models.py). Each case is planned twice, as it is and in the form of practice; both plans are judged alike. Prints a row
for each. A case whose forms or figures differ has to have its reason in the file, and no other; where the file says 'worth', its
plan is within 2 % of practice, else it is better. --page: that page must have what is printed, to the digit; --write writes it
there.
"""
import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile
import textwrap

import made_models
from joint import value  # of ../bench, where made_models looks

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "forms_of_practice.json")
WORTH = 1.02  # of cleave plan --worth
KINDS = {"gain": "Better than practice by this judge, and why:",
         "worth": "Within `--worth` (2 %) of practice, and why:",
         "doubt": "Better by this judge, and not to be believed:"}
BEGIN, END = "<!-- made by tests/corpus/check_forms.py: begin -->\n", "<!-- end -->\n"


def digits(x, n=3):
    return f"{float(f'{x:.{n}g}'):g}"


def find(folders, name, scratch):
    """its path: as it lies in one of them, unpacked, or made; None for a name that is not known"""
    new = os.path.join(scratch, name)
    for path in (new, *(os.path.join(folder, name) for folder in folders)):
        if os.path.exists(path):
            return path
        if os.path.exists(path + ".xz"):
            with lzma.open(path + ".xz") as packed, open(new, "wb") as f:
                f.write(packed.read())
            return new
    return made_models.make(scratch, name)


def plan(cleave, path, case, options):
    args = [cleave, "plan", "--json", "--no-output", "--cluster", case["cluster"], "--objective", case["objective"], *options]
    args += ["--bind", case["bind"]] if case.get("bind") else []
    done = subprocess.run([*args, path], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"case {case['id']}: {' '.join(args)} {path}: ends with {done.returncode}: {done.stderr}{done.stdout[:300]}")
    return json.loads(done.stdout)


def parts(made, objective):
    """(arithmetic, memory, starts, communication) in milliseconds: by latency of one device of each stage, added up; by
    throughput of the busiest device"""
    sums = {}
    for kernel in made["kernels"]:
        sums[kernel["device"]] = [a + b / 1e6 for a, b in zip(sums.get(kernel["device"], (0, 0, 0, 0)), kernel["ns"])]
    if objective == "throughput":
        return max(sums.values(), key=sum)
    return [sum(column) for column in zip(*sums.values())]


def wrap(text):
    return textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


class Figures:
    """what a plan is by the judge"""

    def __init__(self, got, case):
        made, objective = got["plan"], case["objective"]
        forms = made.get("choice", {}).get("alternatives")
        self.form = forms[0]["form"] if forms else "1 device" if len(made["devices"]) == 1 else None
        self.latency, self.ms = made["latency_ns"] / 1e6, value(got, objective)
        self.gib = max(d["peak_bytes"] for d in made["devices"]) / 2**30
        self.parts = parts(made, objective)

    def text(self, objective):
        return f"{digits(self.ms)} ms" if objective == "latency" else f"{digits(1000 / self.ms)} runs/s"

    def explain(self, name, objective):
        names = ("arithmetic", "memory", "starts", "communication")
        shown = ", ".join(f"{word} {digits(ms)}" for word, ms in zip(names, self.parts) if ms > 0.01 * sum(self.parts))
        latency = f", latency {digits(self.latency)}" if objective == "throughput" else ""
        return f"{name}: {shown} ms{latency}; {digits(self.gib)} GiB a device"


def differs(case, own, practice):
    return own.form != case["form"] or practice.ms > own.ms * WORTH


def judge(case, own, practice, wrong):
    """adds to wrong what the file says differently"""
    same = not differs(case, own, practice)
    if practice.form not in (None, case["form"]):
        wrong.append(f"case {case['id']}: {case['form']} is asked for, {practice.form} is what comes")
    if same == ("why" in case):
        wrong.append(f"case {case['id']}: {own.form} is {'as in practice and has a' if same else 'another and has no'} reason")
    if not same and (own.ms > practice.ms * (WORTH if case.get("kind") == "worth" else 1) or
                     case.get("kind") == "worth" and own.ms < practice.ms):
        wrong.append(f"case {case['id']}: {own.form} takes {own.ms:.4f} ms, {case['form']} {practice.ms:.4f}: "
                     f"not of kind {case.get('kind')}")


def row(case, own, practice):
    o = case["objective"]
    sources = ", ".join(map(str, case["sources"]))
    return (f"| {case['id']} | {case['model']} | {case['cluster']} | {o} | {case['form']} | {sources} | "
            f"{own.form} | {own.text(o)} | {practice.text(o)} | "
            f"{practice.ms / own.ms:.2f} |")


def page(book, found):
    """its made part"""
    same = sum(own.form == case["form"] for case, own, _ in found)
    lines = [f"Of {len(found)} cases {same} have the form of practice.", "",
             "| # | model | cluster | objective | practice | [sources](#sources) | Cleave | Cleave's | practice's | gain |",
             "|---:|---|---|---|---|---|---|---:|---:|---:|", *(row(*f) for f in found)]
    for kind, title in KINDS.items():
        lines += ["", title, ""]
        for case, own, practice in found:
            if case.get("kind") == kind and differs(case, own, practice):
                o = case["objective"]
                lines += wrap(f"- **{case['id']}**: {case['why']}")
                lines[-1] += "  "  # a new line behind it
                lines += wrap(f"  {own.explain(own.form, o)}. {practice.explain(case['form'], o)}.")
    lines += ["", "## Sources", ""]
    for n, s in enumerate(book["sources"], 1):
        lines += wrap(f"{n}. [{s['title']}]({s['url']}): {s['says']}")
    return "\n".join(lines) + "\n"


def between(path):
    """the page before its made part, that part, and what is behind it"""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    head, rest = text.split(BEGIN)
    made, tail = rest.split(END)
    return head, made, tail


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--page")
    parser.add_argument("--write")
    parser.add_argument("--only", default="", help="cases with that word in model, cluster or objective")
    args = parser.parse_args()
    if args.only and (args.page or args.write):
        sys.exit("a page has all cases: --only goes without it")
    with open(CASES, encoding="utf-8") as f:
        book = json.load(f)
    found, wrong = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for case in book["cases"]:
            if not any(args.only in case[key] for key in ("model", "cluster", "objective")):
                continue
            path = find(args.models, case["file"], scratch)
            if not path:
                sys.exit(f"case {case['id']}: there is no {case['file']} in {', '.join(args.models)}")
            options = list(case["options"].split())
            if "rules" in case:
                rules = os.path.join(scratch, "rules.json")
                with open(rules, "w", encoding="utf-8") as f:
                    json.dump({"rules": book["rules"][case["rules"]]}, f)
                options += ["--constraints", rules]
            own = Figures(plan(args.cleave, path, case, []), case)
            practice = Figures(plan(args.cleave, path, case, options), case)
            judge(case, own, practice, wrong)
            found.append((case, own, practice))
            o = case["objective"]
            print(row(*found[-1]) + f" {own.explain(own.form, o)}. {practice.explain(case['form'], o)}.", flush=True)
    made = page(book, found)
    if args.write:
        head, _, tail = between(args.write)
        with open(args.write, "w", encoding="utf-8") as f:
            f.write(head + BEGIN + made + END + tail)
    if args.page:
        shown = between(args.page)[1].split("\n")
        wrong += [f"{args.page} has\n  {a}\nexpected\n  {b}" for a, b in zip(shown, made.split("\n")) if a != b]
        if len(shown) != len(made.split("\n")):
            wrong.append(f"{args.page} has {len(shown)} made lines, not {len(made.split(chr(10)))}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
