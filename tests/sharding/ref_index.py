"""ref_index.py - indices: Gather, Scatter and their kin, OneHot."""
import itertools

import numpy as np

from reference import MS, kernel


def counted(indices, size):
    """From 0, where negative ones count from the end."""
    return np.where(indices < 0, indices + size, indices).astype(np.int64)


@kernel("Gather")
def gather(call, x, indices):
    axis = call.axis(x.ndim)
    return np.take(x, counted(indices, x.shape[axis]), axis)


@kernel("GatherElements")
def gather_elements(call, x, indices):
    axis = call.axis(x.ndim)
    at = list(np.indices(indices.shape))
    at[axis] = counted(indices, x.shape[axis])
    return x[tuple(at)]


@kernel("GatherND")
@kernel("GatherND", domain=MS)
def gather_nd(call, x, indices):
    b = call.attr("batch_dims", 0)
    last = indices.shape[-1]
    lead = indices.shape[:-1]
    out = np.empty(lead + x.shape[b + last:], x.dtype)
    for at in np.ndindex(*lead):
        out[at] = x[at[:b] + tuple(int(i) for i in indices[at])]
    return out


def put(out, at, value, how):
    if how == "add":
        out[at] = out[at] + value
    elif how == "mul":
        out[at] = out[at] * value
    elif how == "max":
        out[at] = np.maximum(out[at], value)
    elif how == "min":
        out[at] = np.minimum(out[at], value)
    else:
        out[at] = value


@kernel("ScatterElements", "Scatter")
def scatter_elements(call, x, indices, updates):
    axis = call.axis(x.ndim)
    out = x.copy()
    where = counted(indices, x.shape[axis])
    for at in np.ndindex(*indices.shape):
        to = at[:axis] + (int(where[at]),) + at[axis + 1:]
        put(out, to, updates[at], call.attr("reduction", "none"))
    return out


@kernel("ScatterND")
def scatter_nd(call, x, indices, updates):
    out = x.copy()
    for at in np.ndindex(*indices.shape[:-1]):
        put(out, tuple(int(i) for i in indices[at]), updates[at], call.attr("reduction", "none"))
    return out


@kernel("TensorScatter")
def tensor_scatter(call, past, update, write=None):
    """Writes update into the cache from an index on, which may differ by batch."""
    axis = call.axis(past.ndim, default=-2)
    out = past.copy()
    size = past.shape[axis]
    for b in range(past.shape[0]):
        start = 0 if write is None else int(write[b])
        for i in range(update.shape[axis]):
            to = (start + i) % size if call.attr("mode", "linear") == "circular" else start + i
            cut = [slice(None)] * past.ndim
            cut[0], cut[axis] = b, to
            take = [slice(None)] * past.ndim
            take[0], take[axis] = b, i
            out[tuple(cut)] = update[tuple(take)]
    return out


@kernel("OneHot")
def one_hot(call, indices, depth, values):
    n = int(np.asarray(depth).ravel()[0])
    axis = call.axis(indices.ndim + 1, default=-1)
    where = np.expand_dims(np.mod(indices.astype(np.int64), n), axis)
    inside = np.expand_dims((indices >= -n) & (indices < n), axis)
    numbers = np.arange(n).reshape([-1 if d == axis else 1 for d in range(indices.ndim + 1)])
    return np.where((where == numbers) & inside, values[1], values[0]).astype(values.dtype)


@kernel("Compress")
def compress(call, x, condition):
    if "axis" not in call.attrs:
        return np.compress(condition, x)
    return np.compress(condition, x, call.axis(x.ndim))


@kernel("GridSample")
@kernel("GridSample", domain=MS)
def grid_sample(call, x, grid):
    """Two spatial dimensions; bilinear or nearest; outside is zero or the border."""
    mode = call.attr("mode", "bilinear")
    padding, align = call.attr("padding_mode", "zeros"), call.attr("align_corners", 0)
    if x.ndim != 4 or mode not in ("bilinear", "linear", "nearest") or padding == "reflection":
        raise NotImplementedError("GridSample that is cubic, reflects, or is not of images")
    n, c, h, w = x.shape
    out = np.zeros((n, c) + grid.shape[1:3])
    for b, i, j in itertools.product(range(n), range(grid.shape[1]), range(grid.shape[2])):
        u, v = (float(t) for t in grid[b, i, j])
        px = (u + 1) / 2 * (w - 1) if align else ((u + 1) * w - 1) / 2
        py = (v + 1) / 2 * (h - 1) if align else ((v + 1) * h - 1) / 2
        if padding == "border":
            px, py = min(max(px, 0), w - 1), min(max(py, 0), h - 1)
        if mode == "nearest":
            points = [(int(np.rint(py)), int(np.rint(px)), 1.0)]
        else:
            y0, x0 = int(np.floor(py)), int(np.floor(px))
            fy, fx = py - y0, px - x0
            points = [(y0, x0, (1 - fy) * (1 - fx)), (y0, x0 + 1, (1 - fy) * fx),
                      (y0 + 1, x0, fy * (1 - fx)), (y0 + 1, x0 + 1, fy * fx)]
        for yy, xx, weight in points:
            if 0 <= yy < h and 0 <= xx < w:
                out[b, :, i, j] += weight * x[b, :, yy, xx]
    return out.astype(x.dtype)


@kernel("TorchEmbedding", domain=MS)
def torch_embedding(call, weight, indices, *_):
    return weight[indices]


@kernel("AffineGrid")
def affine_grid(call, theta, size):
    sizes = [int(s) for s in size][2:]
    lines = []
    for s in sizes:
        i = np.arange(s)
        lines.append(2 * i / max(s - 1, 1) - 1 if call.attr("align_corners", 0)
                     else (2 * i + 1) / s - 1)
    points = np.stack(np.meshgrid(*lines, indexing="ij")[::-1] + [np.ones(sizes)], -1)
    out = np.einsum("...k,nrk->n...r", points, theta.astype(np.float64))
    return out.astype(theta.dtype)
