"""rule_text.py - which of the cases "[...] ... | ..." of a rule in ops.def holds for a use."""
import re

import numpy as np

WHOLE = "whole:"


def alternatives(text):
    """(conditions, body) of each case."""
    out = []
    for part in text.split(" | "):
        found = re.match(r"\[([^\]]*)\]\s*(.*)", part.strip())
        out.append((found.group(1).split(","), found.group(2)) if found else ([], part.strip()))
    return out


def holds(condition, case):
    """Of one condition: v<13, r0=1, #2 (input 2 is there), out1, attr, attr=word,
    attr?default=number, and ! before any."""
    if condition.startswith("!"):
        return not holds(condition[1:], case)
    name, default, sign, wanted = re.fullmatch(
        r"(#?\w+)(?:\?(-?\w+))?(?:([=<])(-?\w+))?", condition).groups()
    if name == "v" and sign == "<":
        return case.opset < int(wanted)
    if re.fullmatch(r"r\d", name) and sign:
        k = int(name[1:])
        value = case.values()[k] if k < len(case.inputs) else None
        return value is not None and np.ndim(value) == int(wanted)
    if name.startswith("#"):
        k = int(name[1:])
        return k < len(case.inputs) and case.inputs[k] is not None
    if re.fullmatch(r"out\d", name) and not sign:
        k = int(name[3:])
        return k < len(case.outputs) and bool(case.outputs[k])
    value = case.attrs.get(name, default)
    if sign is None:
        return name in case.attrs
    if value is None:
        return False
    return int(value) < int(wanted) if sign == "<" else str(value) == wanted


def taken(text, case):
    """The number of the first case that holds, or None."""
    for number, (conditions, _) in enumerate(alternatives(text)):
        if all(holds(c, case) for c in conditions):
            return number
    return None


def that_split(text):
    """Numbers of the cases that are no mere reason to stay whole."""
    return [i for i, (_, body) in enumerate(alternatives(text)) if not body.startswith(WHOLE)]
