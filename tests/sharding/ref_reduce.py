"""ref_reduce.py - reductions, Arg, cumulative sums, Softmax and its kin, TopK, losses."""
import numpy as np

from reference import MS, axes_of, kernel


def reduction(name, function):
    @kernel(name)
    def run(call, x, axes=None):
        found = axes_of(call, axes, x.ndim)
        if not found:
            if call.attr("noop_with_empty_axes", 0):
                found = ()
            else:
                found = tuple(range(x.ndim))
        out = function(x, axis=found, keepdims=bool(call.attr("keepdims", 1)))
        return np.asarray(out).astype(x.dtype)


reduction("ReduceL1", lambda x, **k: np.sum(np.abs(x), **k))
reduction("ReduceL2", lambda x, **k: np.sqrt(np.sum(np.square(x), **k)))
reduction("ReduceLogSum", lambda x, **k: np.log(np.sum(x, **k)))
reduction("ReduceLogSumExp", lambda x, **k: np.log(np.sum(np.exp(x.astype(np.float64)), **k)))
reduction("ReduceMax", np.max)
reduction("ReduceMean", np.mean)
reduction("ReduceMin", np.min)
reduction("ReduceProd", np.prod)
reduction("ReduceSum", np.sum)
reduction("ReduceSumSquare", lambda x, **k: np.sum(np.square(x), **k))


def arg(name, function):
    @kernel(name)
    def run(call, x):
        axis = call.axis(x.ndim)
        if call.attr("select_last_index", 0):
            out = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis)
        else:
            out = function(x, axis=axis)
        return (np.expand_dims(out, axis) if call.attr("keepdims", 1) else out).astype(np.int64)


arg("ArgMax", np.argmax)
arg("ArgMin", np.argmin)


def cumulative(name, function, neutral):
    @kernel(name)
    def run(call, x, axis):
        axis = int(np.asarray(axis).ravel()[0])
        if call.attr("reverse", 0):
            x = np.flip(x, axis)
        if call.attr("exclusive", 0):
            x = np.roll(x, 1, axis)
            first = [slice(None)] * x.ndim
            first[axis] = slice(0, 1)
            x[tuple(first)] = neutral
        out = function(x, axis=axis, dtype=x.dtype)
        return np.flip(out, axis) if call.attr("reverse", 0) else out


cumulative("CumSum", np.cumsum, 0)
cumulative("CumProd", np.cumprod, 1)


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def log_softmax(x, axis):
    x = x - np.max(x, axis=axis, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


def hardmax(x, axis):
    out = np.zeros_like(x)
    np.put_along_axis(out, np.expand_dims(np.argmax(x, axis=axis), axis), 1, axis)
    return out


def normalised_exponential(name, function):
    @kernel(name)
    def run(call, x):
        if call.opset >= 13:
            return function(x, call.axis(x.ndim, default=-1)).astype(x.dtype)
        axis = call.axis(x.ndim, default=1)  # all from the axis on count as one
        flat = x.reshape(int(np.prod(x.shape[:axis])), -1)
        return function(flat, 1).reshape(x.shape).astype(x.dtype)


normalised_exponential("Softmax", softmax)
normalised_exponential("LogSoftmax", log_softmax)
normalised_exponential("Hardmax", hardmax)


@kernel("BiasSoftmax", domain=MS)
def bias_softmax(call, x, bias):
    axis = call.axis(x.ndim, default=1)
    if bias.shape[0] not in (1, x.shape[0]):  # for rows one after another, or in turn
        times = x.shape[0] // bias.shape[0]
        turns = not call.attr("is_inner_broadcast", 1)
        bias = np.concatenate([bias] * times) if turns else np.repeat(bias, times, 0)
    y = x + bias
    flat = y.reshape(int(np.prod(x.shape[:axis])), -1)
    return softmax(flat, 1).reshape(x.shape).astype(x.dtype)


@kernel("TopK")
def top_k(call, x, k=None):
    axis = call.axis(x.ndim, default=-1)
    k = int(np.asarray(call.attr("k") if k is None else k).ravel()[0])
    key = x.astype(np.float64)
    order = np.argsort(-key if call.attr("largest", 1) else key, axis=axis, kind="stable")
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis), order.astype(np.int64)


def weighted_loss(call, log_probabilities, target, weight):
    """Loss of each element, and what it weighs."""
    ignore = call.attr("ignore_index")
    classes = log_probabilities.shape[1]
    given = np.where((target < 0) | (target >= classes), 0, target)
    loss = -np.take_along_axis(log_probabilities, np.expand_dims(given, 1), 1).squeeze(1)
    weighs = np.ones(target.shape, log_probabilities.dtype) if weight is None else weight[given]
    if ignore is not None:
        weighs = np.where(target == ignore, 0, weighs)
    return loss * weighs, weighs


def reduced_loss(call, loss, weighs, weighted):
    how = call.attr("reduction", "mean")
    if how == "none":
        return loss
    if how == "sum":
        return np.sum(loss)
    return np.sum(loss) / np.sum(weighs)


@kernel("NegativeLogLikelihoodLoss")
def nll_loss(call, x, target, weight=None):
    loss, weighs = weighted_loss(call, x, target, weight)
    return np.asarray(reduced_loss(call, loss, weighs, weight is not None)).astype(x.dtype)


@kernel("SoftmaxCrossEntropyLoss")
def softmax_loss(call, x, target, weight=None):
    logs = log_softmax(x, 1)
    loss, weighs = weighted_loss(call, logs, target, weight)
    out = np.asarray(reduced_loss(call, loss, weighs, weight is not None)).astype(x.dtype)
    return out, logs.astype(x.dtype)


@kernel("Det")
def det(call, x):
    return np.asarray(np.linalg.det(x)).astype(x.dtype)


@kernel("Inverse", domain=MS)
def inverse(call, x):
    return np.linalg.inv(x).astype(x.dtype)
