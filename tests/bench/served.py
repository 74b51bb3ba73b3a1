"""served.py - times of whole served models beside what plans of them say, and the host's work in between.

score(cleave, folder, exports) reads folder/served.csv, models as serving engines ran them with continuous batching, and
prints for decode steps what a step takes by `cleave plan --runtime serving`, the same with the prefills of other requests
that are mixed into it, and what was served; for the smallest batches the time to first token, as the plan of the prefill says it.

A row counts as a decode step if prefills of other requests, batch / osl in each step, take less than a tenth of it.
Where keys and values of so many requests do not fit at once, the engine keeps the rest waiting: the batch is then what fits.
"""
import csv
import itertools
import json
import os
import statistics
import subprocess

import decoder_model

CLUSTERS = {"h100_sxm": "dgx-h100", "h200_sxm": "dgx-h200"}
# FLOP/s that a prefill reaches on one device: six tenths of the data sheet's dense peak
PREFILL_RATE = {("h100_sxm", "bf16"): 0.6 * 989e12, ("h200_sxm", "fp8"): 0.6 * 1979e12}
PARAMETERS = {"8b": 8.03e9, "70b": 70.6e9}
# model of served.csv, system, precision: sizes of the graph, options of plan
SERVED = {("Llama-3.1-70B", "h200_sxm", "fp8"): ("70b", ["--weights", "fp8"]),
          ("Llama-3.1-8B", "h100_sxm", "bf16"): ("8b", [])}
# Keys and values are stored in 8 bits by TensorRT-LLM where weights are (its FP8 recipe, quantize.py of its Llama example),
# by vLLM in the model's own type unless --kv-cache-dtype says otherwise (its engine arguments).
NARROW_KV = {"trtllm"}
# TensorRT-LLM takes a request in when all it may write fits (its scheduler policy GUARANTEED_NO_EVICT, the default); vLLM when
# its prompt does, and puts requests back when memory is full, so that those are there that fit half done.
RESERVES = {"trtllm"}
# exported files that are taken where they are: of a decode step, and of a prefill
EXPORTS = {"8b": ("llama3_8b_decode.dyn.onnx", "llama3_8b_decode.dyn.onnx"),
           "70b": (None, "llama3_70b_prefill.dyn.onnx")}
PREFILL_SHARE = 0.1
# Deployments whose load generator has more clients than the engine has places, so that a request waits until one of the batch
# ends, osl * tpot / batch: the time to first token is longer by that for each output length (8B, one device, batch 8: 191,
# 318, 550 ms for 128, 256, 512). That is how they were measured, no property of the engine: it is here, not in a runtime.
WAITS = {("trtllm", "1.0.0rc3")}
# figure 2 of what is to be reached: median and worst error, tau, error of the time to first token
MEDIAN, WORST, TAU, TTFT = 0.15, 0.40, 0.9, 0.25


class Planner:
    """plans of one model on one system, each made once"""

    def __init__(self, cleave, system, sizes, options, exports, scratch):
        self.cleave, self.cluster, self.options, self.known = cleave, CLUSTERS[system], options, {}
        made = os.path.join(scratch, f"{sizes}.onnx")
        decoder_model.write(made, decoder_model.SIZES[sizes])
        of = [os.path.join(exports, name) if exports and name else "" for name in EXPORTS[sizes]]
        self.decode_model, self.prefill_model = (path if os.path.exists(path) else made for path in of)

    def plan(self, model, tp, binds, kv):
        """milliseconds of a run, of the host's part of it, and to a first token, 0 where it is no prefill; None: it does not
        fit"""
        key = (model, tp, tuple(binds.items()), kv)
        if key not in self.known:
            mesh = ["--devices", "1"] if tp == 1 else ["--devices", str(tp), "--mesh", str(tp), "--stages", "1"]
            bind = ",".join(f"{k}={v}" for k, v in binds.items())
            done = subprocess.run([self.cleave, "plan", "--runtime", "serving", "--cluster", self.cluster, "--no-output",
                                   "--json", model, "--bind", bind, *mesh, *self.options, *(["--kv", kv] if kv else [])],
                                  capture_output=True, text=True)
            plan = json.loads(done.stdout).get("plan", {})
            fits = plan.get("outcome") == "fits"
            self.known[key] = tuple(plan.get(k, 0) / 1e6 for k in ("latency_ns", "host_ns", "first_token_ns")) if fits else None
        return self.known[key]

    def step(self, tp, batch, context, kv):
        return self.plan(self.decode_model, tp, {"batch_size": batch, "sequence_length": 1,
                                                 "past_sequence_length": context - 1, "total_sequence_length": context}, kv)

    def prefill(self, tp, tokens, kv):
        """one request; a graph with a past has one of one token, since a dimension is never 0"""
        past = 0 if "prefill" in os.path.basename(self.prefill_model) else 1
        binds = {"batch_size": 1, "sequence_length": tokens, "total_sequence_length": tokens + past}
        return self.plan(self.prefill_model, tp, {**binds, **({"past_sequence_length": past} if past else {})}, kv)

    def batch_that_fits(self, tp, batch, tokens, kv):
        """the most requests of so many tokens that fit at once; at most batch, 0: none"""
        low, high = 0, batch + 1
        at = batch
        while high - low > 1:
            low, high = (at, high) if self.step(tp, at, tokens, kv) else (low, at)
            at = (low + high) // 2
        return low


class Row:
    """a row of served.csv, and what plans say of it, milliseconds"""

    def __init__(self, r, planner, sizes, precision):
        self.sizes, self.backend, self.tp, self.asked = sizes, r["backend"], int(r["tp"]), int(r["batch"])
        self.isl, self.osl = int(r["isl"]), int(r["osl"])
        self.tpot, self.ttft = float(r["tpot_ms"]), float(r["ttft_ms"])
        kv = precision if precision == "fp8" and self.backend in NARROW_KV else None
        rate = PREFILL_RATE[r["system"], precision] * self.tp
        share = self.asked / self.osl * 2e3 * PARAMETERS[sizes] * self.isl / rate
        self.is_decode = share < PREFILL_SHARE * self.tpot
        held = self.isl + (self.osl if self.backend in RESERVES else self.osl // 2)
        self.batch = planner.batch_that_fits(self.tp, self.asked, held, kv)
        self.step, self.host, _ = planner.step(self.tp, max(self.batch, 1), self.isl + self.osl // 2, kv) or (0, 0, 0)
        self.prefill, self.prefill_host, self.first_token = planner.prefill(self.tp, self.isl, kv) or (0, 0, 0)
        self.mixed = self.step + self.batch / self.osl * self.prefill
        self.wait = self.osl * self.mixed / self.asked if (self.backend, r["version"]) in WAITS else 0
        self.order = (self.backend, self.isl, self.osl, self.tp, self.asked)


def rows_of(cleave, folder, exports, scratch):
    """rows that are asked for, by model and system; those that no plan fits are left out"""
    found = {}
    with open(os.path.join(folder, "served.csv")) as f:
        served = list(csv.DictReader(f))
    for (model, system, precision), (sizes, options) in SERVED.items():
        planner = Planner(cleave, system, sizes, options, exports, scratch)
        rows = [Row(r, planner, sizes, precision) for r in served
                if model in r["model"] and r["system"] == system and r["precision"] == precision and
                r["pp"] == "1" and r["attention_dp"] == "1"]
        print(f"\n{sizes} on {system}: decode steps of {os.path.basename(planner.decode_model)}, "
              f"prefills of {os.path.basename(planner.prefill_model)}")
        found[sizes, system] = sorted((r for r in rows if r.batch and r.step and r.prefill), key=lambda r: r.order)
        print(f"{len(rows)} rows, {len(found[sizes, system])} with a plan")
    return found


def score_pairs(pairs):
    """Kendall's, of pairs of (predicted, measured), from those that differ in what was measured; 1 without any"""
    score = [((a[0] > b[0]) - (a[0] < b[0])) * ((a[1] > b[1]) - (a[1] < b[1])) for a, b in pairs if a[1] != b[1]]
    return sum(score) / len(score) if score else 1.0


def tau(rows, predict):
    """over all rows of each backend; and over tp and batch, of rows of the same prompts and outputs"""
    pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if a.backend == b.backend]
    alike = [(a, b) for a, b in pairs if (a.isl, a.osl) == (b.isl, b.osl)]
    return [score_pairs([((predict(a), a.tpot), (predict(b), b.tpot)) for a, b in of]) for of in (pairs, alike)]


def reached(value, target, least=False):
    return "reached" if (value >= target if least else value <= target) else f"not reached ({target:g})"


def print_errors(what, rows, predict):
    errors = sorted(abs(predict(r) / r.tpot - 1) for r in rows)
    if not errors:
        return
    median, worst = statistics.median(errors), errors[-1]
    every, alike = tau(rows, predict)
    print(f"{what}: {len(rows)} rows, median error {median:.1%} {reached(median, MEDIAN)}, worst {worst:.1%} "
          f"{reached(worst, WORST)}, tau over tp and batch {alike:.2f} {reached(alike, TAU, True)}, over all rows {every:.2f}")


def print_steps(name, rows):
    print(f"\n{name}, decode step: backend, prompt, output, tp, batch (that fits); served ms; predicted ms, ratio, of it the "
          "host; with prefills mixed in, ratio")
    for r in rows:
        batch = f"{r.asked}" if r.batch == r.asked else f"{r.asked} ({r.batch})"
        print(f"{r.backend:7} {r.isl:5} {r.osl:5} {r.tp:2} {batch:>9} {r.tpot:8.2f} {r.step:8.2f} {r.step / r.tpot:5.2f} "
              f"{r.host:6.2f} {r.mixed:8.2f} {r.mixed / r.tpot:5.2f}")
    for backend in [None, *sorted({r.backend for r in rows})]:
        of = [r for r in rows if backend in (None, r.backend)]
        print_errors(f"{name}, {backend or 'all'}, step alone", of, lambda r: r.step)
        print_errors(f"{name}, {backend or 'all'}, with prefills", of, lambda r: r.mixed)


def line_through(points):
    """a and b of y = a + b x of the least relative errors: points of (x, y, weight)"""
    w, wx, wy, wxx, wxy = (sum(f(x, y) * k * k for x, y, k in points) for f in (
        lambda x, y: 1, lambda x, y: x, lambda x, y: y, lambda x, y: x * x, lambda x, y: x * y))
    slope = (w * wxy - wx * wy) / (w * wxx - wx * wx)
    return (wy - slope * wx) / w, slope


def print_host(name, rows):
    """the host's work by these rows, as configs/runtimes/serving.json says it; and what half of the rows says of the rest"""
    device = lambda r: r.mixed - r.host - r.batch / r.osl * r.prefill_host
    # each prefill is a run of one sequence more
    fit = lambda of: line_through([(r.batch * (1 + 1 / r.osl), r.tpot - device(r), 1 / r.tpot) for r in of])
    error = lambda of, run, sequence: statistics.median(abs((device(r) + run + r.batch * sequence) / r.tpot - 1) for r in of)
    if len(rows) < 6:
        return
    (run, sequence), half = fit(rows), fit(rows[::2])
    print(f"{name}: the host {run:.2f} ms a run and {1e3 * sequence:.0f} us a sequence, median error {error(rows, run, sequence):.1%}; "
          f"by every second row {half[0]:.2f} ms and {1e3 * half[1]:.0f} us, on the others {error(rows[1::2], *half):.1%}")


def smallest_batches(rows):
    least = {}
    for r in rows:
        key = (r.backend, r.isl, r.osl, r.tp)
        least[key] = min(least.get(key, r.asked), r.asked)
    return [r for r in rows if r.asked == least[r.backend, r.isl, r.osl, r.tp]]


def line_of_least_deviations(points):
    """as line_through(), of the least sum of absolute errors (P. Holland, R. Welsch 1977: reweighted least squares)"""
    a, b = line_through(points)
    for _ in range(50):
        a, b = line_through([(x, y, k / max(abs(y - a - b * x) * k, 1e-3) ** 0.5) for x, y, k in points])
    return a, b


def contradicts(a, b):
    """Whether no prediction that grows with prompt and output and falls with devices is within TTFT of both rows."""
    same = (a.sizes, a.backend, a.asked) == (b.sizes, b.backend, b.asked)
    return same and a.isl <= b.isl and a.osl <= b.osl and a.tp >= b.tp and a.ttft * (1 - TTFT) > b.ttft * (1 + TTFT)


def most_within(rows):
    """How many rows such a prediction is within TTFT of, at most, though it knew them all: all but a least vertex cover of
    contradictions, which are a transitive relation, so a matching in its split graph has as many (R. Dilworth 1950)."""
    rivals = [[j for j, b in enumerate(rows) if contradicts(a, b)] for a in rows]
    partner = {}

    def find(i, tried):
        for j in rivals[i]:
            if j not in tried:
                tried.add(j)
                if j not in partner or find(partner[j], tried):
                    partner[j] = i
                    return True
        return False
    return len(rows) - sum(find(i, set()) for i in range(len(rows)))


def print_first_tokens(rows):
    """Time to first token: by the plan of one request's prefill, and with the wait for one of the batch to end (WAITS)"""
    waited = lambda r: r.first_token + r.wait
    print("\ntime to first token at the smallest batch: backend, prompt, output, tp, batch; served ms; prefill ms; time to first "
          "token by the plan ms, ratio; wait for a place ms; with it, ratio")
    for r in rows:
        print(f"{r.sizes:4}{r.backend:7} {r.isl:5} {r.osl:5} {r.tp:2} {r.asked:4} {r.ttft:8.1f} {r.prefill:8.1f} "
              f"{r.first_token:8.1f} {r.first_token / r.ttft:5.2f} {r.wait:8.1f} {waited(r):8.1f} {waited(r) / r.ttft:5.2f}")
    for sizes in [None, *sorted({r.sizes for r in rows})]:
        of = [r for r in rows if sizes in (None, r.sizes)]
        print_ttft_errors(f"{sizes or 'all'}, prefill alone", of, lambda r: r.prefill)
        print_ttft_errors(f"{sizes or 'all'}, time to first token by the plan", of, lambda r: r.first_token)
        print_ttft_errors(f"{sizes or 'all'}, with the wait for a place", of, waited)
        print(f"{sizes or 'all'}: no prediction that grows with prompts and outputs and falls with devices is within "
              f"{TTFT:.0%} of more than {most_within(of)}")
    print_front_end(rows)


def print_front_end(rows):
    """the front end by these rows, as configs/runtimes/serving.json says it; what half of the rows says of the rest, and what
    all but those of one model and backend say of those"""
    device = lambda r: r.prefill + r.wait
    fit = lambda of: line_of_least_deviations([(r.isl, r.ttft - device(r), 1 / r.ttft) for r in of])
    by = lambda request, token: lambda r: device(r) + request + token * r.isl
    print("front end by all rows: {:.0f} ms a request and {:.0f} us a token of the prompt".format(*scaled(fit(rows))))
    kinds = sorted({(r.sizes, r.backend) for r in rows})
    parts = [("every second row", rows[::2], rows[1::2]), ("the others", rows[1::2], rows[::2]),
             *((f"all but {' '.join(kind)}", [r for r in rows if (r.sizes, r.backend) != kind],
                [r for r in rows if (r.sizes, r.backend) == kind]) for kind in kinds)]
    for name, fitted, left in parts:
        line = fit(fitted)
        print_ttft_errors("  by {}: {:.0f} ms and {:.0f} us; on the rest".format(name, *scaled(line)), left, by(*line))


def scaled(line):
    """of milliseconds, and milliseconds a token in microseconds"""
    return line[0], 1e3 * line[1]


def print_ttft_errors(what, rows, predict):
    errors = [abs(predict(r) / r.ttft - 1) for r in rows]
    near = sum(e <= TTFT for e in errors)
    print(f"{what}: {len(errors)} rows, median error {statistics.median(errors):.1%}, worst {max(errors):.1%}, {near} within "
          f"{TTFT:.0%}: {'reached' if near == len(errors) else 'not reached'}")


def score(cleave, folder, exports, scratch):
    first = []
    for (sizes, system), rows in sorted(rows_of(cleave, folder, exports, scratch).items()):
        name, steps = f"{sizes} on {system}", [r for r in rows if r.is_decode]
        print_steps(name, steps)
        for backend in sorted({r.backend for r in steps}):
            print_host(f"{name}, {backend}", [r for r in steps if r.backend == backend])
        first += smallest_batches(rows)
    print_first_tokens(first)
