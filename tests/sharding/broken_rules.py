"""broken_rules.py - rules that are wrong on purpose: the comparison must find each."""
import copy

import shards


def some_layouts(rule, key, old, new):
    for choice in rule["choices"]:
        for layout in choice["out"]:
            for axis in layout:
                axis[key] = new if axis[key] == old else axis[key]


def sums_for_maxima(rule):
    some_layouts(rule, "reduce", "sum", "max")


def bias_everywhere(rule):
    for operand in rule["in"]:
        operand["once"] = False


def no_borders(rule):
    for factor in rule["factors"]:
        factor["before"] = factor["after"] = 0


def nothing_changes(rule):
    rule["local"] = []


def numbers_of_the_whole(rule):
    for factor in rule["factors"]:
        factor["by_index"] = False


def dims_swapped(rule):
    rule["out"][0]["dims"].reverse()


def split_outermost(rule):
    some_layouts(rule, "outer", 2, 1)


def any_axis(rule):
    """As if nothing had to be whole: its choices are made here, for an input and output alike."""
    def layout(f):
        return [{"dim": f, "outer": 1, "nest": 0, "reduce": "none"}]
    rule["choices"] = [{"mesh": [2], "axes": [f], "in": [layout(f)], "out": [layout(f)]}
                       for f in range(len(rule["factors"]))]


# (what is wrong, operator, text that its case has, how to break the rule)
BREAKS = [
    (sums_for_maxima, "MatMul", "F(6, 4)"), (sums_for_maxima, "ReduceSum", "F"),
    (bias_everywhere, "Gemm", "F(6, 4)"), (bias_everywhere, "Conv", "pads"),
    (no_borders, "Conv", "group=2, pads"), (no_borders, "MaxPool", "F(1, 2, 12)"),
    (nothing_changes, "Conv", "group=2"), (nothing_changes, "Reshape", "F(6, 7)"),
    (nothing_changes, "Attention", "q_num_heads"), (nothing_changes, "Expand", "C[6, 7]"),
    (numbers_of_the_whole, "Gather", "F(7, 6)"), (dims_swapped, "Transpose", "F(6, 2, 7)"),
    (dims_swapped, "MatMul", "F(6, 4)"), (split_outermost, "Reshape", "C[12, 7]"),
    (any_axis, "Softmax", "F(6, 7)"), (any_axis, "CumSum", "F(6, 7)"),
    (any_axis, "LpNormalization", "F(6, 7)"),
]


def is_found(case, rule):
    """Whether some choice fails."""
    trial = shards.Trial(case, rule)
    for choice in rule["choices"]:
        try:
            trial.check(choice, "ceil", trial.splits(choice, "ceil"))
        except Exception:  # a shard that cannot be computed is found, too
            return True
    return False


def not_found(rules):
    """Broken rules that pass, and how many were tried."""
    missed = []
    for breaks, op, text in BREAKS:
        found = [c for c in rules if c.name == op and text in c.text and not rules[c]["why_whole"]]
        if not found:
            missed.append(f"no case of {op} with {text} to break")
            continue
        case = found[0]
        broken = copy.deepcopy(rules[case])
        breaks(broken)
        if broken == rules[case] or not is_found(case, broken):
            missed.append(f"{breaks.__name__} passes: {case.text}")
    return missed, len(BREAKS)
