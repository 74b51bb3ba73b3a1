"""forms.py - one model in the forms that exporters write, planned on each device: do they take the same?

score(cleave, exports) plans Llama-3 8B as PyTorch's exporter wrote it, with operators of opset 23, and with those of
com.microsoft and weights in 4 bits, all by --weights int4, and prints time and memory beside the largest difference. Prefills
are those of a serving loop, which computes logits of the last token: of all tokens one form returns them in FLOAT, others in
16 bits.
"""
import json
import os
import subprocess

FORMS = ("llama3_8b_decode.dyn.onnx", "llama3_8b_opset23_decode.dyn.onnx", "llama3_8b_genai_q4_decode.dyn.onnx")
CLUSTERS = ("dgx-a100-80", "dgx-h100", "dgx-h200", "dgx-b200", "l40s-pcie-8")
# runtime, batch, tokens of a run, tokens before them
RUNS = {"decode, batch 1": ("engine", 1, 1, 4095), "decode, batch 16": ("engine", 16, 1, 4095),
        "prefill": ("serving", 1, 2047, 1)}
WITHIN = 0.05  # figure 3 of what is to be reached


def plan(cleave, path, cluster, run):
    """(milliseconds, GiB)"""
    runtime, batch, tokens, past = run
    bind = f"batch_size={batch},sequence_length={tokens},past_sequence_length={past},total_sequence_length={past + tokens}"
    done = subprocess.run([cleave, "plan", "--json", "--no-output", "--devices", "1", "--cluster", cluster, "--runtime",
                           runtime, "--weights", "int4", "--bind", bind, path], capture_output=True, text=True, check=True)
    made = json.loads(done.stdout)["plan"]
    return made["latency_ns"] / 1e6, made["devices"][0]["peak_bytes"] / 2**30


def apart(values):
    return max(values) / min(values) - 1


def score(cleave, exports):
    paths = [os.path.join(exports, name) for name in FORMS]
    if not all(os.path.exists(path) for path in paths):
        return
    print("\nLlama-3 8B in three forms: export, opset 23, com.microsoft; milliseconds, GiB; how far apart")
    most_ms = most_gib = 0
    for cluster in CLUSTERS:
        for name, run in RUNS.items():
            ms, gib = zip(*(plan(cleave, path, cluster, run) for path in paths))
            most_ms, most_gib = max(most_ms, apart(ms)), max(most_gib, apart(gib))
            print(f"{cluster:12} {name:17}" + "".join(f" {v:8.3f}" for v in ms) + f" {apart(ms):6.1%}  " +
                  "".join(f" {v:7.3f}" for v in gib) + f" {apart(gib):6.1%}")
    print(f"at most {most_ms:.1%} apart in time, {most_gib:.1%} in memory; to be reached: {WITHIN:.0%}")
