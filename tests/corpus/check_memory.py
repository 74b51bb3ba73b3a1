#!/usr/bin/env python3
"""Memory that a prefill of Llama-3 70B needs on 8 devices: by hand, and of plans.

    check_memory.py CLEAVE MODELS [--page FILE]

MODELS is a folder with the model, perhaps packed by xz. By hand, as serving engines split over 8 devices (tensor
parallel): a device has an eighth of all weights and of the keys and values, and of one layer at a time what is alive in its gated MLP: the residual stream and its norm, whole, and an
eighth of gate and up. Serving loops compute logits of the last token; the file returns those of all, in FLOAT, beside the hidden
states that they are made of, if that is more. The least memory with which a plan is found is within a tenth of the one with
--runtime serving, of the other with --runtime engine. --page: the page has the numbers by hand. Exit 1 where one of it does
not hold.
"""
import argparse
import lzma
import os
import re
import subprocess
import sys
import tempfile

MODEL = "llama3_70b_prefill.dyn.onnx"
DEVICES = 8
PARAMETERS = 70_553_706_560
LAYERS, HIDDEN, MLP, KV_HEADS, HEAD, BYTES = 80, 8192, 28672, 8, 128, 2
WORDS, FLOAT_BYTES = 128256, 4
TOKENS = (32768, 131072)
GIB = 2 ** 30
LEAST = re.compile(r"it would fit with .*: --memory ([\d.]+)(|K|M|G)i?B")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def by_hand(tokens):
    """bytes on a device: weights, keys and values, activations of a layer, logits of all tokens and what they are of"""
    return (PARAMETERS * BYTES / DEVICES,
            tokens * LAYERS * 2 * KV_HEADS * HEAD * BYTES / DEVICES,
            tokens * (2 * HIDDEN + 2 * MLP / DEVICES) * BYTES,
            tokens * (HIDDEN * BYTES + WORDS * FLOAT_BYTES / DEVICES))


def least(cleave, path, runtime, tokens, memory):
    """bytes on each device with which a plan is found, to one part in 64, where none is with so many; 0: one is"""
    done = subprocess.run([cleave, "plan", "--runtime", runtime, "--devices", str(DEVICES), "--memory", f"{memory}B",
                           "--bind", f"batch_size=1,sequence_length={tokens},total_sequence_length={tokens}",
                           "--no-output", path], capture_output=True, text=True)
    found = LEAST.search(done.stdout)
    if done.returncode == 3 and found:
        return int(float(found.group(1)) * UNITS[found.group(2)])
    if done.returncode == 0:
        return 0
    sys.exit(done.stderr or done.stdout)


def check(args, path):
    page = open(args.page, encoding="utf-8").read() if args.page else None
    ok = True
    for tokens in TOKENS:
        weights, caches, layer, logits = by_hand(tokens)
        served, whole = weights + caches + layer, weights + caches + max(layer, logits)
        row = f"| {tokens} | " + " | ".join(f"{p / GIB:.2f}" for p in (weights, caches, layer, served, logits, whole)) + " |"
        print(row)
        for runtime, hand in (("serving", served), ("engine", whole)):
            need = least(args.cleave, path, runtime, tokens, int(0.9 * hand))
            print(f"  {runtime}: plans from {need / GIB:.2f} GiB, {need / hand:.3f} times as much as by hand", flush=True)
            ok &= 0.9 * hand < need <= 1.1 * hand
        if page is not None and row not in page:
            print(f"the page lacks: {row}")
            ok = False
    return 0 if ok else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("models")
    parser.add_argument("--page")
    args = parser.parse_args()
    path = os.path.join(args.models, MODEL)
    if os.path.exists(path):
        return check(args, path)
    with tempfile.TemporaryDirectory() as folder, lzma.open(path + ".xz") as packed:
        path = os.path.join(folder, MODEL)
        with open(path, "wb") as f:
            f.write(packed.read())
        return check(args, path)


if __name__ == "__main__":
    sys.exit(main())
