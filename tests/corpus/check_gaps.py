#!/usr/bin/env python3
"""Plans of real models are proven to be near the best.

    check_gaps.py CLEAVE MODELS

MODELS is a folder with the models, perhaps packed by xz. Exit 1 where a plan does not fit or its gap is above what is listed.
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

DECODER = "batch_size={},sequence_length={},total_sequence_length={}"
# model, cluster, sizes, the greatest gap
PLANS = (
    # memory is short: some layers split their weights, others copy them
    ("llama3_70b_prefill.dyn.onnx", "dgx-h100", DECODER.format(8, 512, 512), 0.005),
    # products that are packed with each other run one after the other in all stages but few
    ("llama3_70b_prefill.dyn.onnx", "dgx-h100-x8", DECODER.format(1, 4096, 4096), 0.001),
    ("bert_base.dyn.onnx", "dgx-h100-x2", "batch_size=8,sequence_length=512", 0),
)


def unpacked(folder, name, scratch):
    path = os.path.join(folder, name)
    if os.path.exists(path):
        return path
    made = os.path.join(scratch, name)
    if not os.path.exists(made):
        with lzma.open(path + ".xz") as packed, open(made, "wb") as f:
            f.write(packed.read())
    return made


def main():
    cleave, folder = sys.argv[1:]
    ok = True
    with tempfile.TemporaryDirectory() as scratch:
        for name, cluster, sizes, most in PLANS:
            done = subprocess.run([cleave, "plan", "--json", "--no-output", "--worth", "0", "--cluster", cluster,
                                   "--bind", sizes, unpacked(folder, name, scratch)], capture_output=True, text=True)
            plan = json.loads(done.stdout)["plan"]
            gap = plan["search"]["gap"]
            near = plan["outcome"] == "fits" and gap is not None and gap <= most
            print(f"{name} on {cluster}, {sizes}: {plan['latency_ns'] / 1e6:.3g} ms, gap {gap}, at most {most}: "
                  f"{'ok' if near else 'too far from what is proven'}")
            ok &= near
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
