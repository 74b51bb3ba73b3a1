#!/usr/bin/env python3
"""Whole models as they ran on accelerators beside what cleave plan predicts.

    check_measured_models.py CLEAVE [--exports FOLDER] [--page FILE]

tests/data/measured/*/whole_models.csv were measured by tests/bench/measure_models.py: networks in PyTorch, fused by
torch.compile, started by one CUDA graph. Plans are of files of the same networks: the decoder of decoder_model.py, and with
--exports exported files. Prints time and, of decoders, the memory in use; and how far predictions are off. Exit 1 where
predictions of decoders are off by more than WITHIN in the middle, by more than MOST anywhere, or in memory by more than
MEMORY; and where the summary that --page shows is another. Image networks and encoders are not held to it: what
torch.compile leaves apart there (bias and activation behind a convolution of cuDNN) other engines fuse.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench"))
import decoder_model  # noqa: E402

MEASURED = os.path.join(HERE, "..", "data", "measured")
FOLDERS = {"h100_sxm_torch": "dgx-h100", "h200_sxm_torch": "dgx-h200"}
WITHIN, MOST, MEMORY = 0.12, 0.35, 0.03
EXPORTS = {"resnet50": "resnet50.bn.dyn.onnx", "vit_l_16": "vit_l_16.dyn.onnx", "bert_base": "bert_base.dyn.onnx"}
DECODER = "llama3_8b"


def binds_of(row, is_decoder):
    """A graph with a past has one of one token: no dimension is 0."""
    batch, queries, past = (int(row[name] or 0) for name in ("batch", "queries", "past"))
    if is_decoder:
        past = past or 1
        return {"batch_size": batch, "sequence_length": queries, "past_sequence_length": past,
                "total_sequence_length": past + queries}
    return {"batch_size": batch, "sequence_length": queries} if queries else {"batch": batch}


def predict(cleave, cluster, path, row):
    """microseconds of the device, without what a serving loop's host adds, and bytes in use at most"""
    is_decoder = row["model"] == DECODER
    bind = ",".join(f"{k}={v}" for k, v in binds_of(row, is_decoder).items())
    last_logits = ["--runtime", "serving"] if is_decoder else ["--runtime", "engine"]
    args = [cleave, "plan", "--cluster", cluster, "--devices", "1", "--no-output", "--json", "--weights", "bf16", *last_logits,
            "--bind", bind, path]
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(args)}: {done.stderr.strip()}")
    plan = json.loads(done.stdout)["plan"]
    return (plan["latency_ns"] - plan.get("host_ns", 0)) / 1e3, plan["devices"][0]["peak_bytes"]


def rows_of(cleave, decoder, exports):
    """of each measured row that there is a file for: (folder, row, predicted us, predicted bytes)"""
    for folder, cluster in FOLDERS.items():
        with open(os.path.join(MEASURED, folder, "whole_models.csv")) as f:
            for row in csv.DictReader(f):
                name = EXPORTS.get(row["model"])
                path = decoder if row["model"] == DECODER else os.path.join(exports, name) if exports and name else ""
                if os.path.exists(path):
                    yield (folder, row, *predict(cleave, cluster, path, row))


def summary_of(rows):
    """lines of a table: of each device and phase of the decoder, how many, and the errors"""
    groups = {}
    for folder, row, us, peak in rows:
        if row["model"] == DECODER:
            phase = "decode" if row["queries"] == "1" else "prefill"
            groups.setdefault((folder.split("_")[0].upper(), phase), []).append((us / float(row["us"]), peak / float(row["memory_bytes"])))
    lines = []
    for (device, phase), ratios in groups.items():
        times, peaks = zip(*ratios)
        error = statistics.median(abs(t - 1) for t in times)
        lines.append(f"| {device} | {phase} | {len(times)} | {error:.1%} | {min(times):.2f} to {max(times):.2f} | "
                     f"{min(peaks):.3f} to {max(peaks):.3f} |")
    return lines, groups


def faults_of(groups):
    for (device, phase), ratios in groups.items():
        errors = [abs(time - 1) for time, _ in ratios]
        if statistics.median(errors) > WITHIN or max(errors) > MOST:
            yield f"{device} {phase}: off by {statistics.median(errors):.1%} in the middle, {max(errors):.1%} at most"
        if max(abs(peak - 1) for _, peak in ratios) > MEMORY:
            yield f"{device} {phase}: memory is off by more than {MEMORY:.0%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("--exports", help="folder of exported models")
    parser.add_argument("--page", help="a page that has the summary")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        decoder = os.path.join(scratch, "8b.onnx")
        decoder_model.write(decoder, decoder_model.SIZES["8b"])
        rows = list(rows_of(args.cleave, decoder, args.exports))
    print("device, model, attention, batch, tokens, past; measured and predicted ms, ratio; of memory the ratio")
    for folder, row, us, peak in rows:
        memory = f"{peak / float(row['memory_bytes']):.3f}" if row["model"] == DECODER else ""
        print(f"{folder[:4]} {row['model']:10} {row['attention'][:5]:6} {row['batch']:>3} {row['queries']:>5} {row['past']:>5}  "
              f"{float(row['us']) / 1e3:8.3f} {us / 1e3:8.3f} {us / float(row['us']):5.2f}  {memory}")
    lines, groups = summary_of(rows)
    print("\n".join(lines))
    faults = list(faults_of(groups))
    if args.page:
        page = open(args.page).read()
        faults += [f"{args.page} does not have the line\n  {line}" for line in lines if line not in page]
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
