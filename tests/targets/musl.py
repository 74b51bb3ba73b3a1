#!/usr/bin/env python3
"""musl.py - every source of the library and the commands compiles with musl's headers, without a warning.

Usage: musl.py BUILD ROOT. BUILD has compile_commands.json, from which the flags are. Exit 77 (skipped) without musl-gcc.
The libraries of this system are made for glibc, so nothing is linked; of them, headers alone are taken.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

THIRD_PARTY = ("glpk.h", "xxhash.h", "uv.h", "uv", "cjson", "protobuf-c", "coin")
FOLDERS = ("src", "proto", "cost", "solver", "run")
WITH_VALUE = ("-o", "-isystem", "-MF", "-MT", "-MQ")


def words_of(command, own):
    """The flags of a compile command for musl-gcc: what points into the system's headers is left out."""
    kept, words = [], shlex.split(command)
    skip = words.index("-c") if "-c" in words else len(words)
    i = 1 if "ccache" not in words[0] else 2
    while i < skip:
        word = words[i]
        if word in WITH_VALUE:
            if word == "-isystem" and not words[i + 1].startswith("/usr/"):
                kept += [word, words[i + 1]]
            i += 2
            continue
        if not word.startswith(("-I/usr/", "-fsanitize", "-g", "-MD", "-MMD")):
            kept.append(word)
        i += 1
    return ["musl-gcc", *kept, "-isystem", own, "-Werror", "-fsyntax-only"]


def main():
    build, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not shutil.which("musl-gcc"):
        print("no musl-gcc (package musl-tools): musl is not tried")
        return 77
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    with tempfile.TemporaryDirectory() as own:
        for name in THIRD_PARTY:
            if os.path.exists("/usr/include/" + name):
                os.symlink("/usr/include/" + name, os.path.join(own, name))
        jobs = {}
        for e in entries:
            path = os.path.join(e["directory"], e["file"])
            if os.path.relpath(path, root).split(os.sep)[0] in FOLDERS:
                jobs[path] = (words_of(e["command"], own) + [path], e["directory"])

        def compile_one(job):
            p = subprocess.run(job[0], cwd=job[1], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            return p.returncode, p.stdout

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(compile_one, jobs.values()))
    bad = [text for code, text in answers if code != 0]
    for text in bad:
        print(text)
    print(f"{len(jobs)} sources, {len(bad)} do not compile with musl")
    return 1 if bad or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
