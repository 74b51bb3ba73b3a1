"""ref_move.py - what moves data without arithmetic: shapes, cutting and joining."""
import numpy as np
from onnx import numpy_helper

from reference import MS, axes_of, kernel


def ints(v):
    return [int(x) for x in np.asarray(v).ravel()]


@kernel("Constant")
def constant(call):
    for name, make in (("value", numpy_helper.to_array), ("value_float", np.float32),
                       ("value_floats", lambda v: np.array(v, np.float32)),
                       ("value_int", np.int64), ("value_ints", lambda v: np.array(v, np.int64))):
        if name in call.attrs:
            return np.asarray(make(call.attrs[name]))
    raise KeyError("value of a Constant")


@kernel("ConstantOfShape")
def constant_of_shape(call, shape):
    value = call.attr("value")
    value = np.zeros(1, np.float32) if value is None else numpy_helper.to_array(value)
    return np.full(ints(shape), value.ravel()[0], value.dtype)


@kernel("Shape")
def shape_of(call, x):
    rank = x.ndim
    start, end = call.attr("start", 0), call.attr("end", rank)
    return np.array(x.shape[start:end], np.int64)


@kernel("Size")
def size_of(call, x):
    return np.array(x.size, np.int64)


@kernel("Reshape")
def reshape(call, x, shape=None):
    wanted = ints(call.attr("shape") if shape is None else shape)
    if not call.attr("allowzero", 0):
        wanted = [x.shape[i] if d == 0 else d for i, d in enumerate(wanted)]
    return x.reshape(wanted)


@kernel("Flatten")
def flatten(call, x):
    axis = call.axis(x.ndim, default=1)
    return x.reshape(int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:])))


@kernel("Squeeze")
def squeeze(call, x, axes=None):
    return np.squeeze(x, axes_of(call, axes, x.ndim))


@kernel("Unsqueeze")
def unsqueeze(call, x, axes=None):
    n = len(ints(call.attr("axes") if axes is None else axes))
    return np.expand_dims(x, axes_of(call, axes, x.ndim + n))


@kernel("ExpandDims", domain=MS)
def expand_dims(call, x, axis):
    return np.expand_dims(x, ints(axis)[0])


@kernel("Transpose")
def transpose(call, x):
    return np.transpose(x, call.attr("perm"))


@kernel("Expand")
def expand(call, x, shape):
    return x * np.ones(ints(shape), x.dtype) if x.dtype != bool else np.broadcast_to(
        x, np.broadcast_shapes(x.shape, tuple(ints(shape))))


@kernel("Tile")
def tile(call, x, repeats, axis=None):
    if axis is not None:  # the first operator set: so many tiles on one axis
        count = ints(repeats)[0]
        return np.concatenate([x] * count, ints(axis)[0])
    return np.tile(x, ints(repeats))


@kernel("Concat")
def concat(call, *xs):
    return np.concatenate(xs, call.attr("axis", 1))


@kernel("Split")
def split(call, x, sizes=None):
    axis = call.axis(x.ndim)
    sizes = call.attr("split") if sizes is None else ints(sizes)
    if sizes is None:
        n = call.attr("num_outputs") or call.n_out
        part = -(-x.shape[axis] // n)
        sizes = [min(part, x.shape[axis] - part * i) for i in range(n)]
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


@kernel("Slice")
def slice_(call, x, starts=None, ends=None, axes=None, steps=None):
    starts = call.attr("starts") if starts is None else ints(starts)
    ends = call.attr("ends") if ends is None else ints(ends)
    axes = axes_of(call, axes, x.ndim, tuple(range(len(starts))))
    steps = [1] * len(starts) if steps is None else ints(steps)
    cut = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps):
        size = x.shape[axis]
        if step < 0 and end < -size:
            end = None
        cut[axis] = slice(start, end, step)
    return x[tuple(cut)]


@kernel("Pad")
@kernel("Pad", domain=MS)
def pad(call, x, pads=None, value=None, axes=None):
    pads = ints(call.attr("pads", call.attr("paddings")) if pads is None else pads)
    value = call.attr("value", 0.0) if value is None else np.asarray(value).ravel()[0]
    axes = axes_of(call, axes, x.ndim, tuple(range(x.ndim)))
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = (pads[i], pads[i + len(axes)])
    cut = tuple(slice(max(0, -b), x.shape[d] - max(0, -e)) for d, (b, e) in enumerate(widths))
    widths = [(max(0, b), max(0, e)) for b, e in widths]
    mode = call.attr("mode", "constant")
    if mode == "constant":
        return np.pad(x[cut], widths, constant_values=value)
    return np.pad(x[cut], widths, {"wrap": "wrap", "edge": "edge", "reflect": "reflect"}[mode])


@kernel("Crop")
def crop(call, x):
    left, top, right, bottom = call.attr("border")
    if "scale" in call.attrs:
        height, width = call.attr("scale")
        return x[:, :, top:top + height, left:left + width]
    return x[:, :, top:x.shape[2] - bottom, left:x.shape[3] - right]


@kernel("CenterCropPad")
def center_crop_pad(call, x, shape):
    axes = axes_of(call, None, x.ndim, tuple(range(x.ndim)))
    for axis, size in zip(axes, ints(shape)):
        have = x.shape[axis]
        if have > size:
            start = (have - size) // 2
            x = np.take(x, np.arange(start, start + size), axis)
        elif have < size:
            widths = [(0, 0)] * x.ndim
            widths[axis] = ((size - have) // 2, size - have - (size - have) // 2)
            x = np.pad(x, widths)
    return x


@kernel("Trilu")
@kernel("Trilu", domain=MS)
def trilu(call, x, k=None):
    k = 0 if k is None else ints(k)[0]
    rows, columns = np.indices(x.shape[-2:])
    kept = columns - rows >= k if call.attr("upper", 1) else columns - rows <= k
    return np.where(kept, x, np.zeros((), x.dtype))


@kernel("EyeLike")
def eye_like(call, x):
    from onnx import mapping
    dtype = mapping.TENSOR_TYPE_TO_NP_TYPE[call.attr("dtype")] if "dtype" in call.attrs else x.dtype
    return np.eye(x.shape[0], x.shape[1], call.attr("k", 0), dtype=dtype)


@kernel("Range")
@kernel("Range", domain=MS)
def range_(call, start, limit, delta=None):
    delta = np.ones((), start.dtype) if delta is None else delta
    return np.arange(start, limit, delta, dtype=start.dtype)


@kernel("ReverseSequence")
def reverse_sequence(call, x, lengths):
    time, batch = call.attr("time_axis", 0), call.attr("batch_axis", 1)
    moved = np.moveaxis(x, (time, batch), (0, 1))
    out = moved.copy()
    for b, n in enumerate(ints(lengths)):
        out[:n, b] = moved[:n, b][::-1]
    return np.moveaxis(out, (0, 1), (time, batch))


@kernel("Upsample")
def upsample(call, x, scales=None):
    scales = call.attr("scales") if scales is None else scales
    if call.attr("mode", "nearest") == "linear":
        return resize_of(x, tuple(int(np.floor(s * f)) for s, f in zip(x.shape, scales)),
                         list(map(float, scales)), "linear", "asymmetric", "floor", -0.75)
    for axis, scale in enumerate(scales):
        size = int(np.floor(x.shape[axis] * scale))
        x = np.take(x, np.floor(np.arange(size) / scale).astype(int), axis)
    return x


def resize_weights(n_in, n_out, scale, mode, transform, nearest, a, length=None):
    """Row i: how much of each input element is in output element i."""
    out = np.zeros((n_out, n_in))
    length = n_out if length is None else length
    for i in range(n_out):
        if transform == "half_pixel":
            at = (i + 0.5) / scale - 0.5
        elif transform == "pytorch_half_pixel":
            at = (i + 0.5) / scale - 0.5 if length > 1 else 0.0
        elif transform == "tf_half_pixel_for_nn":
            at = (i + 0.5) / scale
        elif transform == "align_corners":
            at = 0.0 if length == 1 else i * (n_in - 1) / (length - 1)
        else:
            at = i / scale
        if mode == "nearest":
            index = {"round_prefer_floor": np.ceil(at - 0.5),
                     "round_prefer_ceil": np.floor(at + 0.5), "floor": np.floor(at),
                     "ceil": np.ceil(at)}[nearest]
            out[i, int(np.clip(index, 0, n_in - 1))] += 1
            continue
        base = int(np.floor(at))
        f = at - base
        if mode == "linear":
            taps = {0: 1 - f, 1: f}
        else:
            taps = {-1: ((a * (f + 1) - 5 * a) * (f + 1) + 8 * a) * (f + 1) - 4 * a,
                    0: ((a + 2) * f - (a + 3)) * f * f + 1,
                    1: ((a + 2) * (1 - f) - (a + 3)) * (1 - f) * (1 - f) + 1,
                    2: ((a * (2 - f) - 5 * a) * (2 - f) + 8 * a) * (2 - f) - 4 * a}
        for tap, weight in taps.items():
            out[i, int(np.clip(base + tap, 0, n_in - 1))] += weight
    return out


def resize_of(x, sizes, scales, mode, transform, nearest, a):
    y = x.astype(np.float64)
    for axis, size in enumerate(sizes):
        if scales[axis] == 1.0 and size == x.shape[axis]:
            continue
        weights = resize_weights(x.shape[axis], size, scales[axis], mode, transform, nearest, a,
                                 x.shape[axis] * scales[axis])
        y = np.moveaxis(np.tensordot(weights, y, ([1], [axis])), 0, axis)
    return y.astype(x.dtype)


@kernel("Resize")
def resize(call, x, roi=None, scales=None, sizes=None):
    if call.opset < 11:
        roi, scales = None, roi
    axes = axes_of(call, None, x.ndim, tuple(range(x.ndim)))
    full = [1.0] * x.ndim
    target = list(x.shape)
    for k, axis in enumerate(axes):
        if sizes is not None and np.size(sizes):
            target[axis] = ints(sizes)[k]
            full[axis] = target[axis] / x.shape[axis]
        else:
            full[axis] = float(scales[k])
            target[axis] = int(np.floor(x.shape[axis] * full[axis]))
    transform = call.attr("coordinate_transformation_mode",
                          "half_pixel" if call.opset >= 11 else "asymmetric")
    nearest = call.attr("nearest_mode", "round_prefer_floor" if call.opset >= 11 else "floor")
    if transform == "tf_crop_and_resize" or call.attr("exclude_outside", 0):
        raise NotImplementedError("Resize of a region, or that leaves out what is outside")
    return resize_of(x, target, full, call.attr("mode", "nearest"), transform, nearest,
                     call.attr("cubic_coeff_a", -0.75))


@kernel("UnfoldTensor", domain=MS)
def unfold_tensor(call, x):
    axis, size, step = call.axis(x.ndim, "dim", -1), call.attr("size"), call.attr("step", 1)
    starts = np.arange(0, x.shape[axis] - size + 1, step)
    parts = np.take(x, starts[:, None] + np.arange(size), axis)  # (.., starts, size, ..)
    return np.moveaxis(parts, axis + 1, -1)
