#!/usr/bin/env python3
"""examples.py - the published examples of operator-level parallelism, lowered and run.

Usage: examples.py CLEAVE CLEAVE_RUN

(X W) V on four devices with the strategies ((4,1),(1,1)) and ((1,1),(1,4)): the rows of the first
product, the columns of the second, so an all-gather stands between them. And X W on eight devices
with Layout((2,2,2), ("dp","sp","mp")): X by ("mp", ("sp","dp")), W by (("sp","dp"), "None"), Y by
(("mp","sp","dp"), "None"): a row of X lies on the devices 0, 4, 2, 6, sums are over sp and dp, and Y
is scattered over all. Both have to give what the whole gives, on the devices that the text names.

covers: C.033 C.035 D.038
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RTOL = 1e-5


def call(*args):
    run = subprocess.run(args, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(args)} exits {run.returncode}: {run.stderr.strip()[-1000:]}")
    return run.stdout


def model_of(nodes, inputs, output, weights, path):
    f = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "example", [helper.make_tensor_value_info(n, f, d) for n, d in inputs],
        [helper.make_tensor_value_info(output[0], f, output[1])],
        [numpy_helper.from_array(v, n) for n, v in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)


def plan_of(cleave, model, path, axes, devices, splits, collectives=()):
    """A plan by hand: the fingerprint is the model's own."""
    call(cleave, "plan", "--max-tp", "1", "--devices", "1", "--no-output", "--plan-out", path, "-q",
         model)
    with open(path, encoding="utf-8") as f:
        made = json.load(f)
    n = made["operators"]["count"]
    plan = {k: made[k] for k in ("schema_version", "model", "fingerprint", "configuration",
                                 "objective", "outcome")}
    plan.update({
        "stages": 1,
        "devices": [{"name": f"d{i}", "stage": 0} for i in range(len(devices))],
        "operators": {"count": n, "device_runs": [[devices[0], n]],
                      "split_runs": [[s, 1] for s in splits]},
        "mesh": {"axes": [{"name": a, "size": s} for a, s in axes], "devices": [devices]},
        "collectives": list(collectives)})
    with open(path, "w", encoding="utf-8") as f:
        json.dump(plan, f)


def run(runner, what, x, folder, name):
    given, out = os.path.join(folder, "x.npy"), os.path.join(folder, name + ".out")
    np.save(given, x)
    call(runner, "run", what, "-i", f"x={given}", "--format", "npy", "-o", out, "-q")
    return np.load(os.path.join(out, "output_0.npy"))


def check(ok, what):
    if not ok:
        sys.exit(f"wrong: {what}")


def lowered(cleave, runner, model, plan, x, want, folder):
    """The folder of the devices, after every form gave the numbers of the whole."""
    for form in ("stages", "emulate", "devices"):
        out = os.path.join(folder, form)
        call(cleave, "lower", model, plan, "--form", form, "-o", out, "-q")
        got = run(runner, out, x, folder, form)
        check(np.allclose(got, want, rtol=RTOL, atol=1e-6), f"{form} differs by "
              f"{np.abs(got - want).max()}")
    with open(os.path.join(folder, "devices", "manifest.json"), encoding="utf-8") as f:
        return json.load(f)


def two_products(cleave, runner, folder):
    rng = np.random.default_rng(1)
    x, w, v = (rng.standard_normal(s).astype(np.float32) for s in ((8, 6), (6, 4), (4, 12)))
    model, plan = os.path.join(folder, "xwv.onnx"), os.path.join(folder, "xwv.json")
    model_of([helper.make_node("MatMul", ["x", "w"], ["xw"], "xw"),
              helper.make_node("MatMul", ["xw", "v"], ["y"], "xwv")],
             [("x", [8, 6])], ("y", [8, 12]), {"w": w, "v": v}, model)
    plan_of(cleave, model, plan, [("tp", 4)], [0, 1, 2, 3], ["tp=m", "tp=n"])
    want = run(runner, model, x, folder, "whole")
    check(np.allclose(want, x @ w @ v, rtol=1e-4), "the runtime's own product")
    m = lowered(cleave, runner, model, plan, x, want, folder)
    kinds = [c["kind"] for c in m["collectives"]]
    check(kinds == ["all-gather"], f"(X W) V has the collectives {kinds}, expected one all-gather")
    check(m["collectives"][0]["groups"] == [[0, 1, 2, 3]], "the all-gather is of all four devices")
    parts = [i["part"]["offsets"] for d in m["models"] for i in d["inputs"]]
    check(parts == [[0, 0], [2, 0], [4, 0], [6, 0]], f"X lies as {parts}")
    parts = [p["part"]["offsets"] for p in m["outputs"][0]["pieces"]]
    check(parts == [[0, 0], [0, 3], [0, 6], [0, 9]], f"the result lies as {parts}")


def layout(cleave, runner, folder):
    rng = np.random.default_rng(2)
    x, w = (rng.standard_normal(s).astype(np.float32) for s in ((8, 12), (12, 5)))
    model, plan = os.path.join(folder, "xw.onnx"), os.path.join(folder, "xw.json")
    model_of([helper.make_node("MatMul", ["x", "w"], ["y"], "xw")], [("x", [8, 12])], ("y", [8, 5]),
             {"w": w}, model)
    # The axes in the order in which they cut, so the devices stand in another order: the one at
    # (sp, dp, mp) is 4 dp + 2 sp + mp.
    devices = [4 * dp + 2 * sp + mp for sp in (0, 1) for dp in (0, 1) for mp in (0, 1)]
    scatter = {"kind": "reduce-scatter", "axes": "sp,dp", "stage": 0, "tensor": "y",
               "from": "{mp, -} sum(sp, dp)", "to": "{mp.sp.dp, -}", "bytes": 0, "ns": 0}
    plan_of(cleave, model, plan, [("sp", 2), ("dp", 2), ("mp", 2)], devices, ["sp=k dp=k mp=m"],
            [scatter])
    want = run(runner, model, x, folder, "whole2")
    m = lowered(cleave, runner, model, plan, x, want, folder)
    at = {d["device"]: d["inputs"][0]["part"]["offsets"] for d in m["models"]}
    first_row = [name for name, (row, _) in sorted(at.items(), key=lambda kv: kv[1]) if row == 0]
    check(first_row == ["d0", "d4", "d2", "d6"], f"the first rows of X lie on {first_row}")
    kinds = [c["kind"] for c in m["collectives"]]
    check(kinds == ["all-to-all"], f"X W has the collectives {kinds}, expected one, of blocks that "
          "each device adds up")
    check(sorted(p["part"]["offsets"] for p in m["outputs"][0]["pieces"]) ==
          [[i, 0] for i in range(8)], "Y is in eight parts")


def main():
    for one in (two_products, layout):
        with tempfile.TemporaryDirectory() as folder:
            one(sys.argv[1], sys.argv[2], folder)
    print("2 examples are as published")


if __name__ == "__main__":
    main()
