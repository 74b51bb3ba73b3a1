#!/usr/bin/env python3
"""words.py - private words that once hid standard terms are gone from names, comments, messages and documents.

Usage: words.py ROOT. Exit 1 where one is found. docs/glossary.md has the words that are used instead, and those
of our own that remain. Blocks of documents that show output are not looked at.
"""
import os
import re
import sys

# as a word of a name, comment or document, in any of these forms
NOWHERE = ["desks?", "seekers?", "lessons?", "obey(?:s|ed|ing)?", "blobs?", "tolls?", "squeez(?:er?|es|ed|ing)", "reseat(?:s|ed|ing)?",
           "trunks?", "piles?", "crews?", "tells?", "teller", "told", "telling"]
# as a word of the name of a file, function, type or variable
NOT_IN_NAMES = ["firm"]
# the same in the solvers: an instance is a problem, an answer a solution
NOT_IN_SOLVERS = ["answers?", "instances?"]
# as the beginning of the name of a file of the solvers, or of what they export, behind clv_
NOT_FIRST = ["free_(?:line|local|lp|order|prove|runs|sets|split|bunch|bound|exact|dive)", "latency_(?:room|ends|front|shares|form)",
             "wide_", "messages_", "ascent", "short_", "runs_", "lines_", "pieces_", "stretch"]
# ONNX's operator, what a compressor does and the like: "word" in these files is not ours
THEIRS = {"squeeze": ("src/graph/", "src/sharding/", "proto/", "tests/", "src/lower/", "src/verify/", "cost/", "docs/", "src/problem/")}
FOLDERS = ["src", "cost", "solver", "proto", "run", "tests", "docs", "configs"]
CODE = (".c", ".h", ".proto", ".def")
OTHERS = (".md", ".1", ".3", ".py", ".sh", ".json", ".txt", ".cmake")
OWN = ("tests/layers/words.py",)  # these words have to be somewhere
ESCAPE = re.compile(r"\\.", re.S)
SHOWN = re.compile(r"```.*?```|^(?:    |\t)[^\n]*|`[^`\n]*`|\bhttps?://[^\s)]*", re.S | re.M)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def blank(m):
    return re.sub(r"[^\n]", " ", m.group())


def words(name):
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_")


def faults_in(path, text):
    nowhere = re.compile(f"(?:{'|'.join(NOWHERE)})$")
    solvers = NOT_IN_SOLVERS if path.startswith(("solver/", "tests/solver/", "src/problem/")) else []
    not_in_names = re.compile(f"(?:{'|'.join(NOT_IN_NAMES + solvers)})$")
    not_first = re.compile(f"(?:clv_|CLV_)(?:{'|'.join(NOT_FIRST)})", re.I)
    is_code = path.endswith(CODE)
    text = ESCAPE.sub(blank, text)
    if path.endswith(".md"):
        text = SHOWN.sub(blank, text)
    found = re.finditer(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", text, re.S) if is_code else re.finditer(r".+", text, re.S)
    prose = [m.span() for m in found]
    at = 0
    for m in NAME.finditer(text):
        while at < len(prose) and prose[at][1] <= m.start():
            at += 1
        in_prose = at < len(prose) and prose[at][0] <= m.start()
        for word in words(m.group()):
            theirs = any(word.startswith(w) and path.startswith(folders) for w, folders in THEIRS.items())
            if (nowhere.match(word) and not theirs) or (not in_prose and not_in_names.match(word)):
                yield text.count("\n", 0, m.start()) + 1, m.group()
        if path.startswith("solver/") and not_first.match(m.group()):
            yield text.count("\n", 0, m.start()) + 1, m.group()


def main(root):
    found = 0
    for top in [*FOLDERS, "README.md"]:
        paths = [os.path.join(base, f) for base, _, files in os.walk(os.path.join(root, top)) for f in files]
        for full in sorted(paths or [os.path.join(root, top)]):
            path = os.path.relpath(full, root)
            if not path.endswith((*CODE, *OTHERS)) or path.startswith(("tests/data", "tests/fuzz/corpus")) or path in OWN:
                continue
            base = os.path.basename(path).rsplit(".", 1)[0]
            if any(re.match(f"(?:{'|'.join(NOWHERE + NOT_IN_NAMES)})$", w) for w in words(base)) or \
                    (path.startswith("solver/") and re.match("|".join(NOT_FIRST), base)):
                print(f"{path}: the name of the file")
                found += 1
            with open(full, encoding="utf-8") as f:
                for line, name in faults_in(path, f.read()):
                    print(f"{path}:{line}: {name}")
                    found += 1
    print(f"{found} private words: docs/glossary.md has the field's")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
