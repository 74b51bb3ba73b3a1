#!/usr/bin/env python3
"""measured.py - predictions held against measured times of real accelerators.

Usage: measured.py CLEAVE FOLDER [--exports FOLDER] [--served]

FOLDER has a folder for each device with measured kernels and collectives, and served.csv: whole models as they
were served. Prints, for each device, the errors of its measured times on those rows (cleave calibrate --score);
then what plans say of served models (served.py), and with exported models of one in several forms (forms.py); and of models
that were measured whole (../corpus/check_measured_models.py).
"""
import argparse
import os
import subprocess
import sys
import tempfile

import forms
import served

WHOLE_MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "corpus", "check_measured_models.py")
DEVICES = {"a100_sxm": "a100-80gb", "h100_sxm": "h100-sxm", "h200_sxm": "h200", "b200_sxm": "b200", "l40s": "l40s"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cleave")
    parser.add_argument("folder")
    parser.add_argument("--exports", help="folder of exported models, which are taken instead of those of decoder_model.py")
    parser.add_argument("--served", action="store_true", help="served models only")
    args = parser.parse_args()
    for name, device in DEVICES.items() if not args.served else []:
        path = os.path.join(args.folder, name)
        if os.path.isdir(path):
            print(f"\n{device}: errors of its measured times on {path}", flush=True)
            subprocess.run([args.cleave, "calibrate", "--score", path, "--device", device])
    if os.path.exists(os.path.join(args.folder, "served.csv")):
        with tempfile.TemporaryDirectory() as scratch:
            served.score(args.cleave, args.folder, args.exports, scratch)
    if args.exports:
        forms.score(args.cleave, args.exports)
    if not args.served:
        print("\nwhole models, as they ran on H100 and H200", flush=True)
        subprocess.run([sys.executable, WHOLE_MODELS, args.cleave, *(["--exports", args.exports] if args.exports else [])])
    return 0


if __name__ == "__main__":
    sys.exit(main())
