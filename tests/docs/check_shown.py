#!/usr/bin/env python3
"""check_shown.py - the commands that a page shows print what the page shows.

Usage: check_shown.py PAGE.md SOURCE_FOLDER CLEAVE CLEAVE_RUN [--write]

Each ```sh block is run, in one folder that has the paths of the source; a ```text block behind it is what it
prints. Numbers, their units, quoted names and how equal outputs are may differ where the block begins with
```text measured.
CLEAVE_RUN "": blocks that call cleave-run, also through verify, are left out. --write: the page gets what
was printed.
"""
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```sh\n(.*?)```\n(?:\n?```text(?P<measured> measured)?\n(?P<shown>.*?)```)?", re.S)
ROUNDING = r", bit by bit|; largest error \S+, where \S+ is allowed, in '[^'\n]*'( of request \d+)?"
MEASURED = re.compile(ROUNDING + r"|'[^'\n]*'|\b[0-9a-f]{16}\b|-?\d[\d.]*(e[-+]\d+)?( ([KMG]iB|B|[mun]?s)\b)?")


def same(got, shown, measured):
    """Whether it is what the page shows, at least in its words."""
    if not measured:
        return got == shown
    got, shown = (" ".join(MEASURED.sub("#", text).split()) for text in (got, shown))
    return got == shown


def prepare(folder, source, cleave, runner):
    os.makedirs(os.path.join(folder, "build/release"))
    os.symlink(cleave, os.path.join(folder, "build/release/cleave"))
    if runner:
        os.symlink(runner, os.path.join(folder, "build/release/cleave-run"))
    os.makedirs(os.path.join(folder, "bin"))  # the python that runs this, which has onnx
    os.symlink(sys.executable, os.path.join(folder, "bin/python3"))
    for name in ("tests", "docs", "configs"):
        os.symlink(os.path.join(source, name), os.path.join(folder, name))


def printed(block, folder, runner):
    """What its lines printed; None where it was left out."""
    out = ""
    if not runner and ("cleave-run" in block or "cleave verify" in block):
        return None
    path = os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]
    for line in block.replace("\\\n", " ").splitlines():
        r = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False,
                           env=dict(os.environ, PATH=path))
        if r.returncode != 0:
            sys.exit(f"'{line}' ended with {r.returncode}: {r.stdout}{r.stderr}")
        out += r.stdout
    return out


def main():
    page, source, cleave, runner = sys.argv[1:5]
    with open(page, encoding="utf-8") as f:
        text = f.read()
    wrong, n, new, at = 0, 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, os.path.abspath(source), os.path.abspath(cleave),
                runner and os.path.abspath(runner))
        for block in BLOCK.finditer(text):
            got = printed(block.group(1), folder, runner)
            shown = block.group("shown")
            if shown is None or got is None:
                continue
            n += 1
            if not same(got, shown, block.group("measured")):
                wrong += 1
                if "--write" not in sys.argv:
                    print(f"{block.group(1)}prints\n{got}and the page shows\n{shown}")
                new += [text[at:block.start("shown")], got]
                at = block.end("shown")
    if "--write" in sys.argv:
        with open(page, "w", encoding="utf-8") as f:
            f.write("".join(new) + text[at:])
        return
    print(f"{n} listings, {wrong} wrong")
    sys.exit(1 if wrong or n == 0 else 0)


main()
