"""Runs every command with --json on real models and holds what is printed, and the plan files,
against the schemas of docs/formats.

usage: check_json.py CLEAVE SOURCE_FOLDER [MODEL ...]
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

CLEAVE, SOURCE = sys.argv[1], Path(sys.argv[2])
MODELS = {
    "bert.dyn.onnx": "batch_size=2,sequence_length=16",
    "gnmt.static.onnx": "",
    "llama_gqa_decode.dyn.onnx": "batch_size=1,sequence_length=1,past_sequence_length=8,"
    "total_sequence_length=9",
    "resnet.static.onnx": "",
    "vit_l_16.b16.onnx": "",
}
SAYS_LITTLE = '{"version": 1, "outcome": "fits", "latency_ms": 2.5}'
schemas = {
    f"{n}.schema.json": json.loads((SOURCE / f"docs/formats/{n}.schema.json").read_text())
    for n in ("plan", "inspect", "result", "constraints")
}


def hold(name, data, what):
    schema = schemas[f"{name}.schema.json"]
    resolver = jsonschema.RefResolver("", schema, store=schemas)
    errors = list(jsonschema.Draft202012Validator(schema, resolver=resolver).iter_errors(data))
    for e in errors[:5]:
        print(f"{what}: {'/'.join(map(str, e.path))}: {e.message}")
    return not errors


def run(schema, code, *arguments):
    """One JSON object, exit status code; True when the schema allows it."""
    what = " ".join(["cleave", *arguments])
    r = subprocess.run([CLEAVE, *arguments], capture_output=True, text=True)
    if r.returncode != code:
        print(f"{what}: exit status {r.returncode}, expected {code}: {r.stderr}")
        return False
    return hold(schema, json.loads(r.stdout), what)


RULES = [
    {"name": "first", "why": "so", "place": "*", "on": [0, 1], "not_stage": 7},
    {"place": {"op_type": "Mat*"}, "not_on": "gpu1", "stage": [0, 1]},
    {"together": ["nobody", {"tensor": "x"}]},
    {"max_stages": 2},
]
SPLIT_RULES = [
    {"split": ["a", {"tensor": "nobody*"}], "dim": -1, "over": ["tp"]},
    {"split": {"op_type": "None"}, "factor": "n", "over": "tp"},
    {"whole": [{"op_type": "Gather"}, {"tensor": "no*"}], "over": "tp"}, {"whole": "nobody"},
    {"data_parallel": "tp"},
]
CONFLICT = [{"name": "here", "place": "*", "on": 0}, {"place": "*", "on": 1}]
# Each is refused by the schema and by the reader.
BAD_RULES = [
    {}, {"place": "a"}, {"place": "a", "on": []}, {"place": "a", "on": -1}, {"on": 1},
    {"together": "a", "on": 1}, {"together": "a", "max_stages": 1}, {"apart": "a"}, {"apart": ["a"]},
    {"place": "", "on": 1}, {"place": {"op_type": ""}, "on": 1}, {"place": {}, "on": 1},
    {"place": {"op_type": "a", "tensor": "b"}, "on": 1}, {"max_stages": 0}, {"max_stages": 1.5},
    {"place": [["a"]], "on": 1}, {"place": "a", "stage": -1}, {"name": 3, "max_stages": 1}, 7,
    {"more": 1, "max_stages": 1}, {"each_apart": []}, {"boundary_after": 1},
    {"split": "a", "dim": 0}, {"split": "a", "over": "tp"}, {"split": [], "dim": 0, "over": "tp"},
    {"split": "a", "dim": 0, "factor": "n", "over": "tp"}, {"split": "a", "dim": 0.5, "over": "tp"},
    {"split": "a", "dim": 64, "over": "tp"}, {"split": "a", "factor": "", "over": "tp"},
    {"split": "a", "dim": 0, "over": []}, {"split": "a", "dim": 0, "over": ["tp", "tp"]},
    {"split": "a", "dim": 0, "over": ["a", "b", "c", "d"]}, {"whole": "a", "dim": 0}, {"whole": ""},
    {"whole": [["a"]]}, {"data_parallel": ""}, {"data_parallel": "dp", "over": "tp"},
    {"max_stages": 1, "over": "tp"}, {"together": "a", "factor": "n"}, {"whole": {"tensor": ""}},
    {"whole": {"tensor": "a", "op_type": "b"}},
]


def check_rules(m, b, folder):
    """Rules, conflicting ones and bad ones, by the schema of constraints files and by the command."""
    ok = True
    file = folder / "rules.json"
    for rules, code in ((RULES, 0), (CONFLICT, 3)):
        file.write_text(json.dumps({"rules": rules}))
        ok &= hold("constraints", {"rules": rules}, "the rules")
        ok &= run("result", code, "plan", "--json", *b, "--devices", "2", "--constraints", str(file),
                  "--no-output", "--plan-out", str(folder / "p.json"), m)
    ok &= hold("plan", json.loads((folder / "p.json").read_text()), "the plan file with rules")
    ok &= hold("constraints", {"rules": SPLIT_RULES}, "the rules on tensors")
    schema = jsonschema.Draft202012Validator(schemas["constraints.schema.json"])
    for rule in BAD_RULES:
        file.write_text(json.dumps({"rules": [rule]}))
        if schema.is_valid({"rules": [rule]}):
            print(f"the schema of constraints accepts {rule}")
            ok = False
        ok &= run("result", 65, "plan", "--json", *b, "--constraints", str(file), "--no-output", m)
    return ok


def check(path, bind, folder):
    m, o = str(path), str(folder / "o.onnx")
    b = ["--bind", bind] if bind else []
    ok = run("inspect", 0, "inspect", "--json", m)
    ok &= run("inspect", 0, "inspect", "--json", *b, m)
    for more in (["--devices", "2"], ["--objective", "throughput"], ["--first-fit"],
                 ["--search", "documented", "--devices", "2"], ["--cluster", "ipu-pod4"]):
        ok &= run("result", 0, "plan", "--json", *b, *more, "-o", o, m)
    ok &= run("result", 3, "plan", "--json", *b, "--devices", "2", "--memory", "100B", "-o", o, m)
    for compiler, code in (("false", 3), (f"echo '{SAYS_LITTLE}'", 0)):
        ok &= run("result", code, "plan", "--json", *b, "--max-candidates", "4", "--compiler",
                  compiler, "-o", o, m)
        if code == 0:
            reported = json.loads((folder / "o.onnx.plan.json").read_text())
            ok &= hold("plan", reported, f"the plan file of {path.name} by a command")
    ok &= run("result", 0, "plan", "--json", *b, "--devices", "2", "-o", o, m)
    plan = folder / "o.onnx.plan.json"
    ok &= hold("plan", json.loads(plan.read_text()), f"the plan file of {path.name}")
    ok &= run("result", 0, "annotate", "--json", "--plan", str(plan), "-o", o + "2", m)
    ok &= run("result", 0, "strip", "--json", "-o", o + "3", o)
    ok &= run("result", 65, "strip", "--json", "-o", o + "3", m)
    ok &= run("result", 65, "plan", "--json", "--bind", "nothing=1", m)
    if path.name == "gnmt.static.onnx":
        ok &= check_rules(m, b, folder)
    return ok


good = True
for name, bind in MODELS.items():
    if len(sys.argv) > 3 and name not in sys.argv[3:]:
        continue
    with tempfile.TemporaryDirectory() as folder:
        good &= check(SOURCE / "tests/data/models" / name, bind, Path(folder))
sys.exit(0 if good else 1)
