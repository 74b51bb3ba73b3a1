#!/usr/bin/env python3
"""refused.py - machines that this is not for are refused in one sentence, by CMake and by the compiler.

Usage: refused.py ROOT. Exit 77 (skipped) without clang, which knows all machines, or without CMake.
"""
import os
import shutil
import subprocess
import sys
import tempfile

# of clang; the word that the sentence has
TARGETS = {
    "s390x-linux-gnu": "little-endian machines",
    "aarch64_be-linux-gnu": "little-endian machines",
    "i686-linux-gnu": "64-bit machines",
    "x86_64-linux-gnux32": "64-bit machines",
    "aarch64-linux-gnu": None,
    "x86_64-linux-gnu": None,
}
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET {target})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
"""


def run(*words):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return p.returncode, " ".join(p.stdout.split())


def check(what, target, word, answer):
    code, text = answer
    is_refused = word is not None and code != 0 and word in text
    is_taken = word is None and "machines" not in text
    if is_refused or is_taken:
        return 0
    print(f"{what} for {target}: exit {code}, expected {word or 'no refusal'}: {text[-600:]}")
    return 1


def main():
    root = os.path.abspath(sys.argv[1])
    if not shutil.which("clang") or not shutil.which("cmake"):
        print("no clang or no CMake: other machines cannot be tried")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "a.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write('#include "base/status.h"\n')
        for target, word in TARGETS.items():
            flags = ["-ffreestanding", "-I" + os.path.join(root, "src"), "-fsyntax-only"]
            wrong += check("clang", target, word, run("clang", "--target=" + target, *flags, source))
            file = os.path.join(folder, target + ".cmake")
            with open(file, "w", encoding="utf-8") as f:
                f.write(TOOLCHAIN.format(target=target))
            wrong += check("cmake", target, word, run("cmake", "-S", root, "-B", os.path.join(folder, target),
                                                      "-DCMAKE_TOOLCHAIN_FILE=" + file, "-DCLEAVE_TESTS=OFF"))
    print(f"{len(TARGETS)} targets, {wrong} wrong answers")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
