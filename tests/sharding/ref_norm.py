"""ref_norm.py - normalisations."""
import numpy as np

from reference import MS, kernel
from ref_elementwise import sigmoid


def normalised(x, axes, epsilon, centred=True):
    """(x - mean) / sqrt(variance + epsilon), and mean and inverse deviation."""
    x = x.astype(np.float64)
    mean = x.mean(axes, keepdims=True) if centred else 0.0
    inverse = 1 / np.sqrt(np.square(x - mean).mean(axes, keepdims=True) + epsilon)
    return (x - mean) * inverse, mean, inverse


def per_channel(v, rank, axis=1):
    return v.reshape([-1 if d == axis else 1 for d in range(rank)])


@kernel("LayerNormalization")
def layer_norm(call, x, scale, bias=None):
    axis = call.axis(x.ndim, default=-1)
    y, mean, inverse = normalised(x, tuple(range(axis, x.ndim)), call.attr("epsilon", 1e-5))
    y = y * scale if bias is None else y * scale + bias
    return y.astype(x.dtype), mean.astype(np.float32), inverse.astype(np.float32)


@kernel("RMSNormalization")
def rms_norm(call, x, scale):
    axis = call.axis(x.ndim, default=-1)
    y, _, _ = normalised(x, tuple(range(axis, x.ndim)), call.attr("epsilon", 1e-5), False)
    return (y * scale).astype(x.dtype)


@kernel("SimplifiedLayerNormalization")
def simplified_layer_norm(call, x, scale):
    axis = call.axis(x.ndim, default=-1)
    y, _, inverse = normalised(x, tuple(range(axis, x.ndim)), call.attr("epsilon", 1e-5), False)
    return (y * scale).astype(x.dtype), inverse.astype(np.float32)


@kernel("SkipLayerNormalization", domain=MS)
def skip_layer_norm(call, x, skip, gamma, beta=None, bias=None):
    total = x + skip if bias is None else x + skip + bias
    y, mean, inverse = normalised(total, (-1,), call.attr("epsilon", 1e-12))
    y = y * gamma if beta is None else y * gamma + beta
    return (y.astype(x.dtype), mean.astype(np.float32), inverse.astype(np.float32),
            total.astype(x.dtype))


@kernel("SkipSimplifiedLayerNormalization", domain=MS)
def skip_simplified_layer_norm(call, x, skip, gamma, bias=None):
    total = x + skip if bias is None else x + skip + bias
    y, _, inverse = normalised(total, (-1,), call.attr("epsilon", 1e-12), False)
    return ((y * gamma).astype(x.dtype), np.zeros_like(inverse, np.float32),
            inverse.astype(np.float32), total.astype(x.dtype))


@kernel("GroupNormalization")
def group_norm(call, x, scale, bias):
    groups = call.attr("num_groups")
    split = x.reshape((x.shape[0], groups, x.shape[1] // groups) + x.shape[2:])
    y, _, _ = normalised(split, tuple(range(2, split.ndim)), call.attr("epsilon", 1e-5))
    if call.opset < 21:  # one scale a group
        each = (1, groups) + (1,) * (split.ndim - 2)
        return (y * scale.reshape(each) + bias.reshape(each)).reshape(x.shape).astype(x.dtype)
    y = y.reshape(x.shape)
    return (y * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)).astype(x.dtype)


def ms_group_norm_of(call, x, gamma, beta):
    last = call.attr("channels_last", 1)
    x = np.moveaxis(x, -1, 1) if last else x
    groups = call.attr("groups")
    split = x.reshape((x.shape[0], groups, -1))
    y, _, _ = normalised(split, (2,), call.attr("epsilon", 1e-5))
    y = y.reshape(x.shape) * per_channel(gamma, x.ndim) + per_channel(beta, x.ndim)
    y = y * sigmoid(y) if call.attr("activation", 0) else y
    return np.moveaxis(y, 1, -1) if last else y


@kernel("GroupNorm", domain=MS)
def ms_group_norm(call, x, gamma, beta):
    return ms_group_norm_of(call, x, gamma, beta).astype(x.dtype)


@kernel("SkipGroupNorm", domain=MS)
def skip_group_norm(call, x, gamma, beta, skip, bias=None):
    if skip.ndim == 2:
        skip = skip[:, None, None, :]
    total = x + skip if bias is None else x + skip + bias
    return ms_group_norm_of(call, total, gamma, beta).astype(x.dtype), total


@kernel("InstanceNormalization")
def instance_norm(call, x, scale, bias):
    y, _, _ = normalised(x, tuple(range(2, x.ndim)), call.attr("epsilon", 1e-5))
    return (y * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)).astype(x.dtype)


@kernel("BatchNormalization")
def batch_norm(call, x, scale, bias, mean, variance):
    axes = tuple(d for d in range(x.ndim) if d != 1)
    epsilon, training = call.attr("epsilon", 1e-5), call.attr("training_mode", 0)
    used_mean, used_variance = (x.mean(axes), x.var(axes)) if training else (mean, variance)
    y = (x - per_channel(used_mean, x.ndim)) / np.sqrt(
        per_channel(used_variance, x.ndim) + epsilon)
    y = (y * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)).astype(x.dtype)
    if not training:
        return y
    m = call.attr("momentum", 0.9)
    return (y, (mean * m + used_mean * (1 - m)).astype(mean.dtype),
            (variance * m + used_variance * (1 - m)).astype(variance.dtype))


@kernel("MeanVarianceNormalization")
def mvn(call, x):
    axes = tuple(call.attr("axes", [0, 2, 3]))
    deviation = np.sqrt(np.square(x).mean(axes, keepdims=True) - x.mean(axes, keepdims=True) ** 2)
    return ((x - x.mean(axes, keepdims=True)) / (deviation + 1e-9)).astype(x.dtype)


@kernel("LpNormalization")
def lp_norm(call, x):
    axis, p = call.axis(x.ndim, default=-1), call.attr("p", 2)
    size = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return np.where(size == 0, 0, x / size).astype(x.dtype)


@kernel("LRN")
def lrn(call, x):
    size = call.attr("size")
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    total = np.zeros(x.shape)
    for c in range(x.shape[1]):
        near = x[:, max(0, c - before):min(x.shape[1], c + after + 1)]
        total[:, c] = np.square(near).sum(1)
    return (x / (call.attr("bias", 1.0) + call.attr("alpha", 1e-4) / size * total)
            ** call.attr("beta", 0.75)).astype(x.dtype)


@kernel("EmbedLayerNormalization", domain=MS)
def embed_layer_norm(call, ids, segments, words, positions, segment_table, gamma, beta,
                     mask=None, position_ids=None):
    if position_ids is None:
        position_ids = np.arange(ids.shape[1])[None, :]
    total = words[ids] + positions[position_ids]
    if segments is not None and segment_table is not None:
        total = total + segment_table[segments]
    y, _, _ = normalised(total, (-1,), call.attr("epsilon", 1e-12))
    counted = np.zeros(ids.shape[0]) if mask is None else (mask == 1).sum(-1)
    return tuple(v.astype(dtype) for v, dtype in (
        (y * gamma + beta, words.dtype), (counted, np.int32), (total, words.dtype)))


@kernel("QEmbedLayerNormalization", domain=MS)
def qembed_layer_norm(call, ids, segments, words, positions, segment_table, gamma, beta, mask,
                      *quantisation):
    """The five tables and vectors are quantised: five scales, then five zero points."""
    given = [words, positions, segment_table, gamma, beta]
    tables = [None if t is None else ((t.astype(np.float32) - z) * s).astype(np.float32)
              for t, s, z in zip(given, quantisation[:5], quantisation[5:])]
    return embed_layer_norm(call, ids, segments, *tables, mask)[:2]
