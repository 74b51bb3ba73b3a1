#!/usr/bin/env python3
"""predict.py - are candidates on this machine's processor as fast, and as large, as predicted?

  predict.py CLEAVE CLEAVE_RUN SCRATCH [--cluster FILE] [--rounds N] [--json FILE] [--only MODEL]
             [--optimize none|basic|all] [--runtime NAME]

30 plans of 5 models (cpu_models.py): whole on one device; two stages by search; two cuts by hand;
the batch over two devices; weights over two devices. Each is planned for the cluster that `cleave
calibrate` describes, lowered, and run with one thread a device, all plans in turn, round by round. The
runtime optimises graphs, and plans are of the kernels that it makes of them (--runtime onnxruntime).
The time of a plan is its period, by the clock: from one sample's end to the next one's, while devices
work at once. Beside it stands the processor time of the busiest device, for machines that are busy with
something else. docs/calibration.md says what is compared, and what came of it. Takes some 3 GB of disk
and a minute.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPEAT = 10  # runs of a plan in a round, for the processor time
PIPELINE = 40  # runs one behind the other, for the period
# Of what a device holds where each has all weights: the least that fits, so that they are split.
TENSOR_MEMORY = [0.6, 0.8, 0.9, 0.95, 1]
WIDER = 3  # models whose memory is compared: those whose time is are mostly the runtime's own
MODELS = ["mlp", "bert", "llama", "resnet", "convnext"]
WHOLE = ["--devices", "1", "--max-tp", "1"]
STAGES = ["--devices", "2", "--max-tp", "1", "--stages", "2", "--copies", "1", "--objective", "throughput"]
DATA = ["--devices", "2", "--mesh", "dp=2", "--stages", "1", "--data-parallel"]
TENSOR = ["--devices", "2", "--mesh", "tp=2", "--stages", "1"]


def call(*args):
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(args)}\n{done.stderr}")
    return done.stdout


def try_call(*args):
    return subprocess.run(args, capture_output=True).returncode == 0


class Plan:
    def __init__(self, model, kind, form, *options):
        self.model, self.kind, self.form, self.options = model, kind, form, options
        self.name = f"{model}.{kind}"
        self.period_ms = None

    def make(self, a, folder):
        path, plan = (os.path.join(folder, p) for p in (self.model + ".onnx", self.name + ".json"))
        for options in self.options:
            if try_call(a.cleave, "plan", path, "--cluster", a.cluster, *options, "--no-output",
                        "--runtime", a.runtime, "--plan-out", plan, "-q"):
                break
        else:
            sys.exit(f"{self.name}: no plan")
        self.plan = json.load(open(plan))
        self.predicted_ms = self.plan["period_ns"] / 1e6
        self.peak = max(d["peak_bytes"] for d in self.plan["devices"])
        self.folder = os.path.join(folder, self.name)
        shutil.rmtree(self.folder, ignore_errors=True)
        call(a.cleave, "lower", path, plan, "--form", self.form, "-o", self.folder, "-q")
        with open(os.path.join(self.folder, "manifest.json")) as f:
            self.cpu_runs = [[] for _ in json.load(f)["models"]]

    def run(self, a, warmup, repeat, pipeline=0):
        return json.loads(call(a.runner, "run", self.folder, "--random", "--threads", "1",
                               "--optimize", a.optimize, "--warmup", str(warmup), "--repeat",
                               str(repeat), "--pipeline", str(pipeline), "--json"))

    def time(self, a):
        answer = self.run(a, 2, REPEAT, PIPELINE)
        for runs, m in zip(self.cpu_runs, answer["models"]):
            runs += m["cpu_runs_ms"]
        period_ms = answer["pipeline"]["period_ms"]
        self.period_ms = min(self.period_ms or period_ms, period_ms)

    @property
    def cpu_ms(self):
        """The fastest tenth does not count: clocks of virtual machines at times lose a thread's time."""
        return max(sorted(runs)[len(runs) // 10] for runs in self.cpu_runs)

    def hold(self, a, empty):
        """Bytes of the fullest device: what its model made the process grow by, loaded and run once;
        of devices that run at once, an equal part of what all did. Beyond an empty model."""
        answer = self.run(a, 0, 1)
        models = answer["models"]
        if self.form == "devices":
            return (answer["peak_bytes"] - empty["peak_bytes"]) / len(models)
        return max(m["loaded_bytes"] + m["run_peak_bytes"] for m in models) - \
            empty["loaded_bytes"] - empty["run_peak_bytes"]


def plans_of(a, model, folder):
    names = node_names(os.path.join(folder, model + ".onnx"))

    def cut(part):
        return ["--devices", "2", "--sharding-nodes", f"{names[int(len(names) * part)]}=0"]

    plans = [Plan(model, "whole", "stages", WHOLE), Plan(model, "stages", "stages", STAGES),
             Plan(model, "early", "stages", cut(0.3)), Plan(model, "late", "stages", cut(0.75)),
             Plan(model, "data", "devices", DATA)]
    for plan in plans:
        plan.make(a, folder)
    tensor = Plan(model, "tensor", "devices",
                  *(TENSOR + ["--memory", f"{int(plans[-1].peak * part)}B"]
                    for part in TENSOR_MEMORY))
    tensor.make(a, folder)
    return plans + [tensor]


def node_names(path):
    import onnx
    return [n.name for n in onnx.load(path, load_external_data=False).graph.node]


def tau(pairs):
    """Kendall's tau-b over (predicted, measured), and how many pairs are in order."""
    agree = against = tied_p = tied_m = 0
    for i, (p, m) in enumerate(pairs):
        for q, n in pairs[:i]:
            s = (p > q) - (p < q)
            t = (m > n) - (m < n)
            agree += s * t > 0
            against += s * t < 0
            tied_p += s == 0 and t != 0
            tied_m += t == 0 and s != 0
    all_p, all_m = agree + against + tied_m, agree + against + tied_p
    return (agree - against) / ((all_p * all_m) ** 0.5 or 1), agree, agree + against


def median(of):
    of = sorted(of)
    return (of[(len(of) - 1) // 2] + of[len(of) // 2]) / 2


def empty_run(a):
    """What the runtime takes for a model that does nothing."""
    import onnx
    from onnx import TensorProto, helper
    path = os.path.join(a.scratch, "empty.onnx")
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy")
    onnx.save(helper.make_model(helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "e",
                                                  [x], [y]),
                                opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    answer = json.loads(call(a.runner, "run", path, "--random", "--threads", "1", "--optimize",
                             "none", "--json"))
    return {"peak_bytes": answer["peak_bytes"], **answer["models"][0]}


def report(plans):
    print(f"{'plan':18} {'predicted':>10} {'measured':>10} {'error':>7} {'cpu':>10}   "
          f"{'predicted':>10} {'held':>10} {'error':>7}")
    rows = []
    for p in plans:
        row = {"plan": p.name, "form": p.form, "predicted_ms": p.predicted_ms,
               "measured_ms": p.period_ms, "time_error": p.predicted_ms / p.period_ms - 1,
               "cpu_ms": p.cpu_ms, "cpu_error": p.predicted_ms / p.cpu_ms - 1,
               "peak_bytes": p.wide_peak, "held_bytes": p.held,
               "memory_error": p.wide_peak / p.held - 1}
        rows.append(row)
        print(f"{p.name:18} {p.predicted_ms:7.3f} ms {p.period_ms:7.3f} ms "
              f"{100 * row['time_error']:+6.1f}% {p.cpu_ms:7.3f} ms   {p.wide_peak / 1e6:7.2f} MB "
              f"{p.held / 1e6:7.2f} MB {100 * row['memory_error']:+6.1f}%")
    return rows


def order(rows, key):
    """Tau over all, its pairs, and within each model."""
    def pairs(rows):
        return [(r["predicted_ms"], r[key]) for r in rows]

    models = sorted({r["plan"].split(".")[0] for r in rows})
    within = {m: tau(pairs([r for r in rows if r["plan"].startswith(m + ".")]))[0] for m in models}
    over_all, agree, n = tau(pairs(rows))
    return {"tau": over_all, "pairs_in_order": agree, "pairs": n, "tau_within": within,
            "tau_within_mean": sum(within.values()) / len(within)}


def summary(rows):
    out = {"clock": {**order(rows, "measured_ms"),
                     "median_error": median([abs(r["time_error"]) for r in rows])},
           "processor": {**order(rows, "cpu_ms"),
                         "median_error": median([abs(r["cpu_error"]) for r in rows])},
           "median_memory_error": median([abs(r["memory_error"]) for r in rows])}
    print()
    for name, what in (("clock", "by the clock"), ("processor", "by processor time")):
        o = out[name]
        print(f"{what}: Kendall's tau over {len(rows)} plans {o['tau']:.3f} ({o['pairs_in_order']} of "
              f"{o['pairs']} pairs in order); within a model {o['tau_within_mean']:.3f} ("
              + ", ".join(f"{m} {t:.2f}" for m, t in o["tau_within"].items())
              + f"); median error {100 * o['median_error']:.1f} %")
    print(f"median error of memory {100 * out['median_memory_error']:.1f} %")
    return out


def plans_in(a, name, wider):
    folder = os.path.join(a.scratch, name)
    os.makedirs(folder, exist_ok=True)
    call(sys.executable, os.path.join(HERE, "cpu_models.py"), folder, str(wider))
    return [plan for model in MODELS if a.only in (None, model)
            for plan in plans_of(a, model, folder)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("cleave")
    p.add_argument("runner")
    p.add_argument("scratch")
    p.add_argument("--cluster", help="a calibrated one; without it, one is made")
    p.add_argument("--rounds", type=int, default=8)
    p.add_argument("--optimize", default="all", help="what the runtime does to graphs: none, basic, all")
    p.add_argument("--runtime", help="what is planned for; onnxruntime, or none with --optimize none")
    p.add_argument("--json")
    p.add_argument("--only")
    a = p.parse_args()
    a.runtime = a.runtime or ("none" if a.optimize == "none" else "onnxruntime")
    os.makedirs(a.scratch, exist_ok=True)
    if not a.cluster:
        a.cluster = os.path.join(a.scratch, "calibrated.json")
        print(call(a.cleave, "calibrate", "--runner", a.runner, "--devices", "2", "-o", a.cluster))
    plans, wide = plans_in(a, "narrow", 1), plans_in(a, "wide", WIDER)
    empty = empty_run(a)
    for plan, other in zip(plans, wide):
        plan.wide_peak, plan.held = other.peak, other.hold(a, empty)
        shutil.rmtree(other.folder)
    for k in range(a.rounds):
        print(f"round {k + 1} of {a.rounds}", file=sys.stderr)
        for plan in plans:
            plan.time(a)
    rows = report(plans)
    out = summary(rows)
    if a.json:
        json.dump({"plans": rows, **out}, open(a.json, "w"), indent=1)


if __name__ == "__main__":
    main()
