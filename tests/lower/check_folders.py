#!/usr/bin/env python3
"""check_folders.py - real models lowered into all forms, each folder held against its schema and the plan.

Usage: check_folders.py CLEAVE SOURCE_FOLDER [MODEL ...]

covers: E.057
"""
import json
import os
import subprocess
import sys
import tempfile

import onnx

from check_folder import Wrong, check

MODELS = {
    "bert.dyn.onnx": "batch_size=2,sequence_length=16",
    "gnmt.static.onnx": "",
    "llama_gqa_decode.dyn.onnx": "batch_size=1,sequence_length=1,past_sequence_length=8,"
                                 "total_sequence_length=9",
    "resnet.static.onnx": "",
    "vit_l_16.b16.onnx": "",  # its weights are not there: ranges need none of them
}
WHOLE = ["--max-tp", "1", "--stages"]
PLANS = {
    "two": ["--devices", "2"] + WHOLE + ["2"],
    "four": ["--devices", "4"] + WHOLE + ["4"],
    "split": ["--devices", "4", "--mesh", "2x2"],
    "both": ["--devices", "4", "--mesh", "2", "--stages", "2"],
}
FORMS = {
    "two": ["stages", "devices", "ort-options", "olive"],
    "four": ["stages", "olive"],
    "split": ["devices", "emulate"],
    "both": ["devices", "emulate", "stages"],
}


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True, check=False)
    return r.returncode, r.stdout + r.stderr


def main():
    cleave, source = sys.argv[1:3]
    n, wrong = 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, bind in MODELS.items():
            if len(sys.argv) > 3 and name not in sys.argv[3:]:
                continue
            model = os.path.join(source, "tests/data/models", name)
            original = onnx.load(model, load_external_data=False)
            kinds = ["ranges"] if name.startswith("vit") else ["external", "safetensors", "ranges"]
            for plan, options in PLANS.items():
                path = os.path.join(scratch, "plan.json")
                code, said = run(cleave, "plan", "-q", *options, *(["--bind", bind] if bind else []),
                                 "--no-output", "--plan-out", path, model)
                if code:
                    sys.exit(f"{name} {plan}: {said}")
                with open(path, encoding="utf-8") as f:
                    made = json.load(f)
                for form in FORMS[plan]:
                    for kind in kinds:
                        if kind == "safetensors" and form in ("ort-options", "olive"):
                            continue
                        n += 1
                        folder = os.path.join(scratch, str(n))
                        code, said = run(cleave, "lower", model, path, "--form", form, "--weights",
                                         kind, "-o", folder)
                        try:
                            if code:
                                raise Wrong(said)
                            check(source, original, made, folder)
                        except Wrong as sentence:
                            print(f"{name} {plan} {form} {kind}: {sentence}")
                            wrong += 1
    print(f"{n} folders, {wrong} wrong")
    sys.exit(1 if wrong or n < (100 if len(sys.argv) <= 3 else 10) else 0)


main()
