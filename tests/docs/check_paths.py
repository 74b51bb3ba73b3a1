#!/usr/bin/env python3
"""check_paths.py - every path and every relative link that a document names exists.

Usage: check_paths.py ROOT. Looks at README.md and all of docs/ that is Markdown, and for names of documents also at
comments of the product. Prints what is missing and exits with 1 then.

- A link [text](file#heading) has a file beside the page and, in Markdown, that heading.
- A word that begins with a folder of the source tree is a path from the root. It may have * and {a,b}; without an
  extension it may be a folder or name x.h and x.c together.
- A word in backquotes that has a slash and ends in .c, .h, .def or .py is such a path too, perhaps without src/.
"""
import glob
import os
import re
import sys

TOP = "src|cost|solver|proto|run|tests|docs|configs"
PATH = re.compile(rf"(?<![\w/.:@$~-])((?:{TOP})/[\w./*{{}},-]*)")
SHORT = re.compile(r"`([\w.*{},-]+/[\w./*{},-]+\.(?:c|h|def|py))`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED_IN_SOURCE = re.compile(r"(?<![\w/.-])(docs/[\w./-]+\.\w+)")


def markdown(root):
    yield os.path.join(root, "README.md")
    for folder, _, names in os.walk(os.path.join(root, "docs")):
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def alternatives(path):
    """a{b,c}d as abd and acd."""
    m = re.search(r"\{([^{}]*)\}", path)
    if not m:
        return [path]
    return [p for word in m.group(1).split(",")
            for p in alternatives(path[:m.start()] + word + path[m.end():])]


def exists(root, path):
    for base in (root, os.path.join(root, "src")):
        at = os.path.join(base, path)
        if glob.glob(at) or (not os.path.splitext(at)[1] and glob.glob(at + ".[chd]*")):
            return True
    return False


def headings(path, known={}):
    """The anchors of a page, as GitHub makes them."""
    if path not in known:
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"^```.*?^```", "", f.read(), flags=re.M | re.S)
        known[path] = set()
        for title in re.findall(r"^#+ +(.*?) *$", text, re.M):
            title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
            slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            n = 0
            while slug + (f"-{n}" if n else "") in known[path]:
                n += 1
            known[path].add(slug + (f"-{n}" if n else ""))
    return known[path]


def bad_links(page, text):
    text = re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
        if not os.path.exists(target):
            yield link
        elif anchor and target.endswith(".md") and anchor not in headings(target):
            yield link


def bad_paths(root, text):
    text = LINK.sub("", text)
    for word in PATH.findall(text) + SHORT.findall(text):
        word = word.rstrip(".,-/")
        if not all(exists(root, path) for path in alternatives(word)):
            yield word


def bad_in_source(root):
    for top in ("src", "cost", "solver", "proto", "run"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                page = os.path.join(folder, name)
                if name.endswith((".c", ".h", ".def", ".txt")):
                    with open(page, encoding="utf-8") as f:
                        for path in NAMED_IN_SOURCE.findall(f.read()):
                            if not glob.glob(os.path.join(root, path) + "*"):  # a comment may wrap inside
                                yield page, path


def main():
    root = os.path.abspath(sys.argv[1])
    wrong, pages = list(bad_in_source(root)), 0
    for page in markdown(root):
        with open(page, encoding="utf-8") as f:
            text = f.read()
        pages += 1
        wrong += [(page, word) for word in [*bad_links(page, text), *bad_paths(root, text)]]
    for page, word in wrong:
        print(f"{os.path.relpath(page, root)}: there is no {word}")
    print(f"{pages} pages, {len(wrong)} paths and links that lead nowhere")
    return 1 if wrong or pages < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
