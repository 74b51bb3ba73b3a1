#!/usr/bin/env python3
"""legal.py - every file that plan writes for the models of some folders: is it legal, and is it right?

Usage: legal.py CLEAVE FOLDER_OR_FILE... [--devices 2,3,4,8] [--objectives latency,throughput]
                [--layouts search,mesh] [--every N] [--bind NAME=VALUE,...] [--rows FILE] [--seconds N]
                [--limit SECONDS]

Each model is planned for each number of devices and each objective, by the whole search and over one mesh
of all devices, which splits where the search would not. What is written is given to 'shards --check', to
'verify' as annotations of anybody, to 'lower' as devices and side by side, to 'verify' as annotations with the folder of
devices, and to 'verify', which runs it where it can: with the first test data
set beside the model, else with random inputs. Weights that are not there are left out, as ranges.
Symbols without a value in --bind get one of sizes.py.

Plans of one model that decide the same, for more devices or the other objective, are run once: all else is
done for each file.

--rows: one line of JSON for each plan; those that are there already are not made again, so a run that
--seconds ended goes on with the next. --limit: of one command, 100 s. A table and each failure are printed.
Exit 1 if there is a failure: a crash, a plan that the checker refuses, or that cannot be lowered, or
that is not proven, or that computes something else. What is refused before a plan is made, a model
that the runtime itself does not run, and a command that took too long are counted with the reason.

covers: A.007 E.057
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from sizes import binding_of

REFUSED, UNREADABLE, NO_PLAN, TOO_LONG = (2, 65), 74, 3, 124
WEIGHTS_MAX = 1 << 30  # bytes beside a model; more are not copied
FORMS = ("devices", "emulate")
# Why a step cannot be done, which is no fault of the plan.
PRINCIPLE = ("is trained and writes its statistics in place",)  # devices side by side would share them
STEPS = ("check", "annotations", *("as " + form for form in FORMS), "with folder")
DECIDES = ("bindings", "stages", "operators", "mesh", "annotations")  # docs/formats/plan.md; and collectives


def call(args, *words):
    """(exit code, standard output, the line that says why)"""
    try:
        run = subprocess.run([args.cleave, *words], capture_output=True, text=True, timeout=args.limit,
                             stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired:
        return TOO_LONG, "", f"{words[0]} took more than {args.limit} s"
    return run.returncode, run.stdout, run.stderr.strip()[-400:]


def bindings(args, path):
    code, out, words = call(args, "inspect", path, "--json")
    if code != 0:
        return None, code, words
    symbols = [s["name"] if isinstance(s, dict) else s for s in json.loads(out)["symbols"]]
    return [w for s in symbols for w in ("--bind", f"{s}={binding_of(s, symbols, args.given)}")], 0, ""


def beside_of(path):
    """Bytes of a model and of what may be its weights."""
    return sum(e.stat().st_size for e in os.scandir(os.path.dirname(path) or ".") if e.is_file())


def lower(args, path, plan, form, folder):
    for weights in ("external", "ranges") if beside_of(path) < WEIGHTS_MAX else ("ranges",):
        code, _, words = call(args, "lower", path, plan, "--form", form, "--weights", weights,
                              "-o", os.path.join(folder, f"{form}.{weights}"))
        if code != UNREADABLE:
            break
    return code, words, os.path.join(folder, f"{form}.{weights}")


def verify(args, path, plan, with_data=True):
    """(verdict, why)"""
    data = os.path.join(os.path.dirname(path), "test_data_set_0")
    given = ["--inputs", data] if with_data and os.path.isdir(data) and os.listdir(data) else []
    big = beside_of(path) >= WEIGHTS_MAX
    code, out, words = call(args, "verify", path, plan, "--json", *(["--proof-only"] if big else given))
    try:
        v = json.loads(out)
        verdict, why = v["verdict"], v.get("original_fault") or v["conclusion"]
    except (ValueError, KeyError):
        return ("too long" if code == TOO_LONG else f"exit {code}"), words
    if verdict == "proven":
        return "proven, not run", v.get("why_not_run", "")
    if verdict == "does_not_run" and v.get("original_fault"):
        return "model does not run", why
    if verdict == "does_not_run" and given and ", but input '" in out:  # of other sizes than --bind says
        return verify(args, path, plan, with_data=False)
    return verdict, "" if verdict == "agrees" else why


def decided_by(path):
    """A digest of what a plan decides."""
    with open(path, encoding="utf-8") as f:
        plan = json.load(f)
    steps = [{k: v for k, v in c.items() if k not in ("bytes", "ns")} for c in plan.get("collectives", [])]
    stage_of = [(i, d["stage"]) for i, d in enumerate(plan["devices"]) if d["stage"] >= 0]
    words = json.dumps([[plan.get(k) for k in DECIDES], steps, stage_of], sort_keys=True)
    return hashlib.sha256(words.encode()).hexdigest()


def judge(args, job):
    path, devices, objective, layout = job
    row = {"model": path, "devices": devices, "objective": objective, "layout": layout}
    bind, code, words = bindings(args, path)
    if bind is None:
        return row | {"plan": code, "why": words}
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "out.onnx")
        plan = out + ".plan.json"
        how = ["--mesh", str(devices)] if layout == "mesh" else ["--deadline", str(args.limit / 4)]
        row["plan"], _, row["why"] = call(args, "plan", path, "--devices", str(devices), "--objective",
                                          objective, "--memory", "4TB", "-o", out, "--quiet", *bind, *how)
        if row["plan"] != 0:
            return row
        row["check"], shown, words = call(args, "shards", out, "--check", "--json", *bind)
        row["why_check"] = words or shown[-400:] if row["check"] else ""
        # what is annotated is read back as a plan of its own, which has to be as right
        row["annotations"], _, row["why_annotations"] = call(args, "verify", path, out, "--proof-only", *bind)
        folder = {}
        for form in FORMS:
            row["as " + form], row["why_as " + form], folder[form] = lower(args, path, plan, form, tmp)
        row["with folder"], _, row["why_with folder"] = call(
            args, "verify", path, out, folder["devices"], "--proof-only", *bind) if row["as devices"] == 0 else (0, "", "")
        row["decides"] = decided_by(plan)
        if (path, row["decides"]) not in args.verified:
            args.verified[path, row["decides"]] = verify(args, path, plan)
        row["verify"], row["why_verify"] = args.verified[path, row["decides"]]
    return row


def failures_of(row):
    """[(step, why)]"""
    if row["plan"] not in (0, *REFUSED, NO_PLAN, TOO_LONG):
        return [("plan", f"exit {row['plan']}: {row['why']}")]
    if row["plan"] != 0:
        return []
    found = [(s, f"exit {row[s]}: {row['why_' + s]}") for s in STEPS
             if row[s] not in (0, TOO_LONG)]
    if row["verify"] not in ("agrees", "proven, not run", "model does not run", "too long"):
        why = " ".join(row["why_as " + form] for form in FORMS) if row["verify"] == "not_written" else ""
        found.append(("verify", f"{row['verify']}: {row['why_verify']} {why}"))
    return [(step, why) for step, why in found if not any(p in why for p in PRINCIPLE)]


def why_not(row):
    """Why there is no plan, or it was not run: a kind of reason, without the names in it."""
    if row["plan"] != 0:
        kind, words = "no plan", row["why"]
    elif any(p in row["why_verify"] for p in PRINCIPLE):
        kind, words = "not in every form", row["why_verify"]
    elif row["verify"] in ("agrees", "differs", "not_proven", "not_written", "does_not_run"):
        return ""
    else:
        kind, words = row["verify"], row["why_verify"]
    return f"{kind}: " + re.sub(r"'[^']*'|\d+|(/\S+)", "_", words)[:160]


def report(rows):
    count = collections.defaultdict(collections.Counter)
    for r in rows:
        c = count[r["devices"], r["objective"], r["layout"]]
        c["asked for"] += 1
        if r["plan"] != 0:
            c["too long" if r["plan"] == TOO_LONG else "no plan"] += 1
            continue
        c["plans"] += 1
        for step in STEPS:
            c[step] += r[step] == 0
        c[r["verify"]] += 1
        c["too long"] += TOO_LONG in [r[step] for step in STEPS]
    shown = ["asked for", "no plan", "too long", "plans", *STEPS, "agrees", "proven, not run",
             "model does not run"]
    print("| devices | objective | layout | " + " | ".join(shown) + " |")
    print("|---" * (3 + len(shown)) + "|")
    for key in sorted(count):
        print("| " + " | ".join([*map(str, key), *(str(count[key][s]) for s in shown)]) + " |")
    failed = [(r, *f) for r in rows for f in failures_of(r)]
    why = collections.Counter(w for w in map(why_not, rows) if w)
    for words, times in why.most_common():
        print(f"{times} times {words}")
    for r, step, why in failed:
        print(f"failed: {step}: {r['model']} --devices {r['devices']} --objective {r['objective']} "
              f"{r['layout']}: {why}")
    print(f"{len(rows) - len({id(f[0]) for f in failed})} passed, {len(failed)} failed")
    return len(failed)


def models_in(places):
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, _, names in os.walk(place):
            yield from (os.path.join(folder, n) for n in names if n.endswith(".onnx"))


def key_of(row):
    return row["model"], row["devices"], row["objective"], row["layout"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("where", nargs="+")
    p.add_argument("--devices", default="2,3,4,8")
    p.add_argument("--objectives", default="latency,throughput")
    p.add_argument("--layouts", default="search,mesh")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--bind", default="")
    p.add_argument("--rows")
    p.add_argument("--seconds", type=float, default=float("inf"))
    p.add_argument("--limit", type=float, default=100)
    args = p.parse_args()
    args.given = dict(kv.rsplit("=", 1) for kv in args.bind.split(",") if kv)
    jobs = [(m, int(d), o, w) for m in sorted(models_in(args.where))[::args.every]
            for d in args.devices.split(",") for o in args.objectives.split(",")
            for w in args.layouts.split(",")]
    rows = {}
    if args.rows and os.path.exists(args.rows):
        with open(args.rows, encoding="utf-8") as f:
            rows = {key_of(r): r for r in map(json.loads, f)}
    args.verified = {(r["model"], r["decides"]): (r["verify"], r["why_verify"])
                     for r in rows.values() if "decides" in r}
    end, left = time.monotonic() + args.seconds, [j for j in jobs if j not in rows]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            open(args.rows or os.devnull, "a", encoding="utf-8") as f:
        work = lambda job: judge(args, job) if time.monotonic() < end else None
        for row in filter(None, pool.map(work, left)):
            rows[key_of(row)] = row
            f.write(json.dumps(row) + "\n")
            f.flush()
    done = [rows[j] for j in jobs if j in rows]
    failed = report(done)
    if len(done) < len(jobs):
        print(f"{len(jobs) - len(done)} of {len(jobs)} plans are left for the next run")
    return 1 if failed or not done else 0


if __name__ == "__main__":
    sys.exit(main())
