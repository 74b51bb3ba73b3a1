#!/usr/bin/python3
"""abi.py - the binary interface of the library, held against tests/api/abi.txt.

    abi.py CC HEADER_FOLDER LIBRARY ABI_TXT [--accept]

The interface: exported symbols, declarations of functions, sizes of structs and offsets of their
fields, values of enums. Where it is not what the file says, that is an error; --accept writes the
file anew, and the version in src/include/cleave.h is to be raised. Pointers of 64 bits
only: elsewhere it exits with 77, which skips the test.
"""
import difflib
import os
import re
import struct
import subprocess
import sys
import tempfile


def exported(library):
    flags = ["-D"] if ".so" in os.path.basename(library) else ["-g"]
    out = subprocess.run(["nm", *flags, "--defined-only", library], check=True, text=True,
                         capture_output=True).stdout
    names = (line.split()[-1] for line in out.splitlines() if line.strip())
    return sorted({name for name in names if name.startswith("cleave_")})


def declarations(header):
    """The header's text without comments and preprocessor lines, cut at the semicolons outside
    braces; bodies of inline functions are left out."""
    text = re.sub(r"/\*.*?\*/", " ", open(header).read(), flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
    text = text.replace('extern "C" {', "")
    text = re.sub(r"static inline[^{]*\{.*?\n\}", "", text, flags=re.S)
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "{") - (c == "}")
        if c == ";" and depth <= 0:
            parts.append(" ".join(text[start:i].split()).replace("* ", "*"))
            start = i + 1
    return parts


def fields_of(body):
    """Names, also those of pointers to functions."""
    names = []
    for member in re.split(r";\s*", body):
        member = member.strip()
        if not member:
            continue
        pointer = re.search(r"\(\*(\w+)\)", member)
        if pointer:
            names.append(pointer.group(1))
            continue
        names += [re.search(r"(\w+)\s*(?:\[[^]]*\])*$", one).group(1) for one in member.split(",")]
    return names


def interface(cc, folder, library):
    lines, prints = [f"symbol {name}" for name in exported(library)], []
    for part in declarations(os.path.join(folder, "cleave.h")):
        one = re.match(r"typedef (enum|struct) \{(.*)\} (\w+)$", part)
        if part.startswith("CLEAVE_API "):
            lines.append("function " + part[len("CLEAVE_API "):].replace("( ", "("))
        elif one and one.group(1) == "enum":
            for value in one.group(2).split(","):
                if value.strip():
                    name = value.split("=")[0].strip()
                    prints.append(f'printf("enum {one.group(3)} {name} %d\\n", (int){name});')
        elif one:
            name = one.group(3)
            prints.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
            for field in fields_of(one.group(2)):
                prints.append(f'printf("field {name}.{field} %zu %zu\\n", '
                              f"offsetof({name}, {field}), sizeof((({name} *)0)->{field}));")
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "abi.c"), os.path.join(work, "abi")
        with open(source, "w") as f:
            f.write("#include <cleave.h>\n#include <stdio.h>\nint main(void)\n{\n"
                    + "\n".join(prints) + "\nreturn 0;\n}\n")
        subprocess.run([cc, "-std=c99", "-I", folder, source, "-o", program], check=True)
        lines += subprocess.run([program], check=True, text=True,
                                capture_output=True).stdout.splitlines()
    return lines


def main():
    cc, folder, library, path = sys.argv[1:5]
    if struct.calcsize("P") != 8:
        return 77
    lines = interface(cc, folder, library)
    declared = {re.search(r"(\w+)\(", line).group(1) for line in lines
                if line.startswith("function ")}
    symbols = {line.split()[1] for line in lines if line.startswith("symbol ")}
    for name in sorted(declared - symbols):
        print(f"cleave.h declares {name}, which the library does not export")
    for name in sorted(symbols - declared):
        print(f"the library exports {name}, which cleave.h does not declare")
    if declared != symbols:
        return 1
    if "--accept" in sys.argv[5:]:
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        return 0
    old = open(path).read().splitlines()
    diff = list(difflib.unified_diff(old, lines, "the interface of abi.txt", "that of this build",
                                     lineterm="", n=0))
    if not diff:
        return 0
    print("\n".join(diff))
    print("The binary interface is not that of tests/api/abi.txt. If that is meant, raise the version "
          "in src/include/cleave.h (before 1.0 the minor one where programs that "
          "are there could break, else the patch) and write the file anew:\n\n    "
          + " ".join(["tests/api/abi.py", cc, folder, library, path, "--accept"]))
    return 1


if __name__ == "__main__":
    sys.exit(main())
