"""ref_conv.py - what looks through a window: Conv, its transpose, pooling, image operators."""
import itertools
import math

import numpy as np

from reference import MS, kernel
from ref_contract import activation


class Window:
    """Kernel, strides, dilations and padding of a convolution or pool over spatial sizes."""

    def __init__(self, call, sizes, kernel_sizes):
        n = len(sizes)
        self.kernel = list(kernel_sizes)
        self.strides = list(call.attr("strides") or [1] * n)
        self.dilations = list(call.attr("dilations") or [1] * n)
        pads = list(call.attr("pads") or [0] * 2 * n)
        self.begin, self.end = pads[:n], pads[n:]
        self.span = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        auto = call.attr("auto_pad", "NOTSET")
        ceil = call.attr("ceil_mode", 0)
        self.out = []
        for i in range(n):
            if auto in ("SAME_UPPER", "SAME_LOWER"):
                out = -(-sizes[i] // self.strides[i])
                pad = max((out - 1) * self.strides[i] + self.span[i] - sizes[i], 0)
                less, more = pad // 2, pad - pad // 2
                self.begin[i], self.end[i] = (less, more) if auto == "SAME_UPPER" else (more, less)
            else:
                if auto == "VALID":
                    self.begin[i] = self.end[i] = 0
                room = sizes[i] + self.begin[i] + self.end[i] - self.span[i]
                out = (-(-room // self.strides[i]) if ceil else room // self.strides[i]) + 1
                if ceil and (out - 1) * self.strides[i] >= sizes[i] + self.begin[i]:
                    out -= 1  # a window that starts in the padding behind
            self.out.append(out)
        self.sizes = list(sizes)

    def patches(self, x, fill):
        """x of (..., sizes) as (..., out, kernel), fill where a window is outside."""
        n = len(self.sizes)
        need = [(o - 1) * s + p for o, s, p in zip(self.out, self.strides, self.span)]
        after = [max(0, r - b - z) for r, b, z in zip(need, self.begin, self.sizes)]
        padded = np.pad(x, [(0, 0)] * (x.ndim - n) + list(zip(self.begin, after)),
                        constant_values=fill)
        lead = x.shape[:x.ndim - n]
        out = np.empty(lead + tuple(self.out) + tuple(self.kernel), x.dtype)
        for at in itertools.product(*map(range, self.kernel)):
            cut = tuple(slice(k * d, k * d + (o - 1) * s + 1, s) for k, d, o, s in zip(
                at, self.dilations, self.out, self.strides))
            out[(...,) + at] = padded[(slice(None),) * len(lead) + cut]
        return out


def conv_of(call, x, w, bias=None):
    """x (N,C,...), w (M,C/group,...); sums in the type of x."""
    n = x.ndim - 2
    group = call.attr("group", 1)
    seen = Window(call, x.shape[2:], w.shape[2:]).patches(x, 0)
    outs = []
    for xg, wg in zip(np.split(seen, group, 1), np.split(w, group, 0)):
        dims = list(range(2, 2 + n))
        outs.append(np.tensordot(xg, wg, ([1] + [d + n for d in dims], [1] + dims)))
    out = np.moveaxis(np.concatenate(outs, -1), -1, 1)
    return out if bias is None else out + bias.reshape((1, -1) + (1,) * n)


@kernel("Conv")
def conv(call, x, w, bias=None):
    return conv_of(call, x, w, bias).astype(x.dtype)


@kernel("FusedConv", domain=MS)
def fused_conv(call, x, w, bias=None, z=None):
    out = conv_of(call, x, w, bias)
    if "activation_params" in call.attrs:
        call.attrs["activation_alpha"] = call.attrs["activation_params"][0]
    return activation(call, out if z is None else out + z).astype(x.dtype)


@kernel("NhwcConv", "NhwcFusedConv", domain=MS)
def nhwc_conv(call, x, w, bias=None, z=None):
    out = np.moveaxis(conv_of(call, np.moveaxis(x, -1, 1), np.moveaxis(w, -1, 1), bias), 1, -1)
    return activation(call, out if z is None else out + z).astype(x.dtype)


def less_zero(x, zero, channel_axis):
    """Integers less their zero point, which may be one for each channel."""
    x = x.astype(np.int32)
    if zero is None:
        return x
    zero = np.asarray(zero).astype(np.int32)
    if zero.ndim == 1 and zero.size > 1:
        zero = zero.reshape([-1 if d == channel_axis else 1 for d in range(x.ndim)])
    elif zero.ndim == 1:
        zero = zero.reshape(())
    return x - zero


@kernel("ConvInteger")
def conv_integer(call, x, w, x_zero=None, w_zero=None):
    return conv_of(call, less_zero(x, x_zero, 1), less_zero(w, w_zero, 0)).astype(np.int32)


@kernel("ConvTranspose")
def conv_transpose(call, x, w, bias=None):
    """Each input element adds w times itself to the output; what the padding covers is cut off."""
    n = x.ndim - 2
    group = call.attr("group", 1)
    kernel_sizes = w.shape[2:]
    strides = call.attr("strides") or [1] * n
    dilations = call.attr("dilations") or [1] * n
    extra = list(call.attr("output_padding") or [0] * n)
    pads = list(call.attr("pads") or [0] * 2 * n)
    full = [(s - 1) * t + (k - 1) * d + 1 for s, t, k, d in zip(
        x.shape[2:], strides, kernel_sizes, dilations)]
    auto = call.attr("auto_pad", "NOTSET")
    shape = call.attr("output_shape")
    if shape is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        shape = [s * t for s, t in zip(x.shape[2:], strides)]
    if shape is not None:
        for i in range(n):
            total = full[i] + extra[i] - shape[-n:][i]
            if total < 0:  # asked for more than there is: zeros behind
                extra[i], total = extra[i] - total, 0
            less, more = total // 2, total - total // 2
            pads[i], pads[i + n] = (less, more) if auto == "SAME_UPPER" else (more, less)
    channels = w.shape[1] * group
    size = [f + e for f, e in zip(full, extra)]
    out = np.zeros((x.shape[0], channels) + tuple(size))
    parts = [np.tensordot(xg, wg, ([1], [0])) for xg, wg in zip(
        np.split(x, group, 1), np.split(w, group, 0))]  # (N, spatial, M/group, kernel)
    product = np.moveaxis(np.concatenate(parts, 1 + n), 1 + n, 1)
    for at in itertools.product(*map(range, kernel_sizes)):
        cut = tuple(slice(k * d, k * d + (s - 1) * t + 1, t) for k, d, s, t in zip(
            at, dilations, x.shape[2:], strides))
        out[(slice(None), slice(None)) + cut] += product[(...,) + at]
    out = out[(slice(None), slice(None)) + tuple(
        slice(pads[i], size[i] - pads[i + n]) for i in range(n))]
    if bias is not None:
        out = out + bias.reshape((1, -1) + (1,) * n)
    return out.astype(x.dtype)


# -- pooling --

def counts_of(window, call, x):
    """How many elements each average divides by."""
    ones = np.ones((1, 1) + tuple(window.sizes))
    if call.attr("count_include_pad", 0):  # padding counts; what ceil_mode adds behind it does not
        ones = np.pad(ones, [(0, 0)] * 2 + list(zip(window.begin, window.end)), constant_values=1)
        begin, window.begin = window.begin, [0] * len(window.begin)
        sizes, window.sizes = window.sizes, list(ones.shape[2:])
        counted = window.patches(ones, 0)
        window.begin, window.sizes = begin, sizes
    else:
        counted = window.patches(ones, 0)
    return counted.sum(axis=tuple(range(-len(window.sizes), 0)))


@kernel("AveragePool")
def average_pool(call, x):
    n = x.ndim - 2
    window = Window(call, x.shape[2:], call.attr("kernel_shape"))
    total = window.patches(x, 0).sum(axis=tuple(range(-n, 0)))
    return (total / counts_of(window, call, x)).astype(x.dtype)


@kernel("LpPool")
def lp_pool(call, x):
    p = call.attr("p", 2)
    seen = Window(call, x.shape[2:], call.attr("kernel_shape")).patches(x, 0)
    return (np.abs(seen) ** p).sum(axis=tuple(range(2 - x.ndim, 0))).astype(np.float64).__pow__(
        1 / p).astype(x.dtype)


def lowest(dtype):
    return -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


@kernel("MaxPool")
def max_pool(call, x):
    n = x.ndim - 2
    window = Window(call, x.shape[2:], call.attr("kernel_shape"))
    seen = window.patches(x, lowest(x.dtype))
    flat = seen.reshape(seen.shape[:2 + n] + (-1,))
    out = flat.max(-1)
    if call.n_out < 2:
        return out
    # Where each maximum is in the whole of x, in row-major order, or column-major for the last n.
    number = np.arange(x.size).reshape(x.shape)
    if call.attr("storage_order", 0):
        plane = int(np.prod(x.shape[2:]))
        inner = np.arange(plane).reshape(x.shape[2:][::-1]).transpose()
        number = (np.arange(x.shape[0] * x.shape[1]) * plane).reshape(
            x.shape[:2] + (1,) * n) + inner
    where = window.patches(number, -1).reshape(flat.shape)
    best = flat.argmax(-1)
    return out, np.take_along_axis(where, best[..., None], -1)[..., 0].astype(np.int64)


@kernel("NhwcMaxPool", domain=MS)
def nhwc_max_pool(call, x):
    return np.moveaxis(max_pool(call, np.moveaxis(x, -1, 1)), 1, -1)


@kernel("MaxpoolWithMask", domain=MS)
def max_pool_with_mask(call, x, mask):
    return max_pool(call, np.where(mask == 0, np.finfo(x.dtype).min, x).astype(x.dtype))


@kernel("MaxUnpool")
def max_unpool(call, x, indices, shape=None):
    n = x.ndim - 2
    strides = call.attr("strides") or [1] * n
    pads = call.attr("pads") or [0] * 2 * n
    natural = list(x.shape[:2]) + [
        (x.shape[2 + i] - 1) * strides[i] + call.attr("kernel_shape")[i] - pads[i] - pads[i + n]
        for i in range(n)]
    out = np.zeros(int(np.prod(natural)), x.dtype)
    out[indices.ravel()] = x.ravel()
    out = out.reshape(natural)
    if shape is None:
        return out
    whole = np.zeros([int(s) for s in shape], x.dtype)
    whole[tuple(slice(0, s) for s in natural)] = out
    return whole


def global_pool(name, function):
    @kernel(name)
    def run(call, x):
        return function(call, x, tuple(range(2, x.ndim))).astype(x.dtype)


global_pool("GlobalAveragePool", lambda c, x, axes: x.mean(axes, keepdims=True))
global_pool("GlobalMaxPool", lambda c, x, axes: x.max(axes, keepdims=True))
global_pool("GlobalLpPool", lambda c, x, axes: (np.abs(x) ** c.attr("p", 2)).sum(
    axes, keepdims=True) ** (1 / c.attr("p", 2)))


# -- images --

@kernel("DepthToSpace")
def depth_to_space(call, x):
    b = call.attr("blocksize")
    n, c, h, w = x.shape
    if call.attr("mode", "DCR") == "DCR":
        out = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        out = x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return out.reshape(n, c // (b * b), h * b, w * b)


@kernel("SpaceToDepth")
def space_to_depth(call, x):
    b = call.attr("blocksize")
    n, c, h, w = x.shape
    out = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return out.reshape(n, c * b * b, h // b, w // b)


@kernel("Col2Im")
def col2im(call, x, image, block):
    image, block = [int(v) for v in image], [int(v) for v in block]
    n = len(image)
    pads = call.attr("pads") or [0] * 2 * n
    window = Window(call, image, block)
    channels = x.shape[1] // int(np.prod(block))
    parts = x.reshape([x.shape[0], channels] + block + window.out)
    out = np.zeros([x.shape[0], channels] + [i + pads[k] + pads[k + n]
                                              for k, i in enumerate(image)], x.dtype)
    for at in itertools.product(*map(range, block)):
        cut = tuple(slice(k * d, k * d + (o - 1) * s + 1, s) for k, d, o, s in zip(
            at, window.dilations, window.out, window.strides))
        out[(slice(None), slice(None)) + cut] += parts[(slice(None), slice(None)) + at]
    return out[(slice(None), slice(None)) + tuple(
        slice(pads[k], pads[k] + i) for k, i in enumerate(image))]


@kernel("CausalConvWithState")
@kernel("CausalConvWithState", domain=MS)
def causal_conv(call, x, w, bias=None, past=None):
    """Depthwise over time: x (B,C,T), w (C,1,K), past (B,C,K-1)."""
    k = w.shape[-1]
    before = np.zeros(x.shape[:2] + (k - 1,), x.dtype) if past is None else past
    whole = np.concatenate([before, x], -1)
    out = sum(whole[:, :, i:i + x.shape[2]] * w[:, 0, i][None, :, None] for i in range(k))
    if bias is not None:
        out = out + bias[None, :, None]
    if call.attr("activation", "none") in ("silu", "swish"):
        out = out / (1 + np.exp(-out))
    return out.astype(x.dtype), whole[:, :, whole.shape[2] - (k - 1):]


def bilinear(image, y, x):
    """image (C,H,W) at one point, 0 outside by more than 1, clamped to the border within."""
    h, w = image.shape[1:]
    if y < -1 or y > h or x < -1 or x > w:
        return np.zeros(image.shape[0])
    y, x = max(y, 0), max(x, 0)
    y0, x0 = min(int(y), h - 1), min(int(x), w - 1)
    y1, x1 = min(y0 + 1, h - 1), min(x0 + 1, w - 1)
    fy, fx = (y - y0 if y0 < h - 1 else 0), (x - x0 if x0 < w - 1 else 0)
    return ((1 - fy) * (1 - fx) * image[:, y0, x0], (1 - fy) * fx * image[:, y0, x1],
            fy * (1 - fx) * image[:, y1, x0], fy * fx * image[:, y1, x1])


@kernel("RoiAlign")
def roi_align(call, x, rois, batch):
    ph, pw = call.attr("output_height", 1), call.attr("output_width", 1)
    scale = call.attr("spatial_scale", 1.0)
    half = call.opset >= 16 and call.attr(
        "coordinate_transformation_mode", "half_pixel") == "half_pixel"
    out = np.zeros((len(rois), x.shape[1], ph, pw))
    for r, roi in enumerate(rois):
        x1, y1, x2, y2 = (v * scale - (0.5 if half else 0) for v in roi)
        height, width = y2 - y1, x2 - x1
        if not half:
            height, width = max(height, 1.0), max(width, 1.0)
        gh = call.attr("sampling_ratio", 0) or math.ceil(height / ph)
        gw = call.attr("sampling_ratio", 0) or math.ceil(width / pw)
        for i in range(ph):
            for j in range(pw):
                points = [bilinear(x[int(batch[r])], y1 + height / ph * (i + (a + 0.5) / gh),
                                   x1 + width / pw * (j + (b + 0.5) / gw))
                          for a in range(gh) for b in range(gw)]
                if call.attr("mode", "avg") == "avg":
                    out[r, :, i, j] = sum(sum(p) for p in points) / (gh * gw)
                else:
                    out[r, :, i, j] = np.max([np.max(p, axis=0) for p in points], axis=0)
    return out.astype(x.dtype)


@kernel("MaxRoiPool")
def max_roi_pool(call, x, rois):
    ph, pw = call.attr("pooled_shape")
    scale = call.attr("spatial_scale", 1.0)
    out = np.zeros((len(rois), x.shape[1], ph, pw), x.dtype)
    for r, roi in enumerate(rois):
        x1, y1, x2, y2 = (int(math.floor(v * scale + 0.5)) for v in roi[1:])
        h, w = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
        for i in range(ph):
            for j in range(pw):
                ys = slice(min(max(y1 + math.floor(i * h / ph), 0), x.shape[2]),
                           min(max(y1 + math.ceil((i + 1) * h / ph), 0), x.shape[2]))
                xs = slice(min(max(x1 + math.floor(j * w / pw), 0), x.shape[3]),
                           min(max(x1 + math.ceil((j + 1) * w / pw), 0), x.shape[3]))
                bin_ = x[int(roi[0]), :, ys, xs]
                out[r, :, i, j] = bin_.max((1, 2)) if bin_.size else 0
    return out


@kernel("DeformConv")
def deform_conv(call, x, w, offset, bias=None, mask=None):
    """A Conv whose taps are moved by offset (N, groups*taps*2, out): y before x for each tap."""
    n, c = x.shape[:2]
    window = Window(call, x.shape[2:], w.shape[2:])
    groups, taps = call.attr("offset_group", 1), w.shape[2] * w.shape[3]
    moved = offset.reshape([n, groups, taps, 2] + window.out)
    seen = np.zeros([n, c] + window.out + [taps])
    for b, channel, i, j, t in itertools.product(range(n), range(c), *map(range, window.out),
                                                 range(taps)):
        g = channel // (c // groups)
        at = [o * window.strides[d] - window.begin[d] + k * window.dilations[d] for d, (o, k) in
              enumerate(((i, t // w.shape[3]), (j, t % w.shape[3])))]
        y, z = at[0] + moved[b, g, t, 0, i, j], at[1] + moved[b, g, t, 1, i, j]
        y0, z0 = int(np.floor(y)), int(np.floor(z))
        total = 0.0
        for yy, fy in ((y0, 1 - (y - y0)), (y0 + 1, y - y0)):
            for zz, fz in ((z0, 1 - (z - z0)), (z0 + 1, z - z0)):
                if 0 <= yy < x.shape[2] and 0 <= zz < x.shape[3]:
                    total += fy * fz * x[b, channel, yy, zz]
        seen[b, channel, i, j, t] = total if mask is None else total * mask.reshape(
            [n, groups, taps] + window.out)[b, g, t, i, j]
    group = call.attr("group", 1)
    flat = w.reshape(w.shape[0], w.shape[1], taps)
    out = np.concatenate([np.einsum("ncijt,oct->noij", xg, wg) for xg, wg in zip(
        np.split(seen, group, 1), np.split(flat, group, 0))], 1)
    return (out if bias is None else out + bias.reshape(1, -1, 1, 1)).astype(x.dtype)
