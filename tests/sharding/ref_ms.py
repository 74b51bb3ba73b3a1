"""ref_ms.py - transforms, optimisers, and other operators of com.microsoft."""
import numpy as np

from reference import MS, kernel

TRAIN = "ai.onnx.preview.training"


@kernel("Momentum", domain=TRAIN)
def momentum(call, rate, step, *tensors):
    """tensors: all X, all G, all V."""
    n = len(tensors) // 3
    alpha, beta, decay = call.attr("alpha"), call.attr("beta"), call.attr("norm_coefficient")
    out_x, out_v = [], []
    for x, g, v in zip(tensors[:n], tensors[n:2 * n], tensors[2 * n:]):
        g = decay * x + g
        used = beta if step > 0 else 1
        new = alpha * v + used * g
        out_x.append((x - rate * (g + alpha * new if call.attr("mode") == "nesterov" else new)))
        out_v.append(new)
    return tuple(np.asarray(o).astype(np.float32) for o in out_x + out_v)


@kernel("Adagrad", domain=TRAIN)
def adagrad(call, rate, step, *tensors):
    n = len(tensors) // 3
    rate = rate / (1 + step * call.attr("decay_factor", 0.0))
    out_x, out_h = [], []
    for x, g, h in zip(tensors[:n], tensors[n:2 * n], tensors[2 * n:]):
        g = call.attr("norm_coefficient", 0.0) * x + g
        new = h + g * g
        out_x.append(x - rate * g / (np.sqrt(new) + call.attr("epsilon", 1e-6)))
        out_h.append(new)
    return tuple(np.asarray(o).astype(np.float32) for o in out_x + out_h)


@kernel("Adam", domain=TRAIN)
def adam(call, rate, step, *tensors):
    n = len(tensors) // 4
    alpha, beta = call.attr("alpha", 0.9), call.attr("beta", 0.999)
    if step > 0:
        rate = rate * np.sqrt(1 - beta ** step) / (1 - alpha ** step)
    outs = [], [], []
    for x, g, v, h in zip(*(tensors[i * n:(i + 1) * n] for i in range(4))):
        g = call.attr("norm_coefficient", 0.0) * x + g
        new_v, new_h = alpha * v + (1 - alpha) * g, beta * h + (1 - beta) * g * g
        new = x - rate * new_v / (np.sqrt(new_h) + call.attr("epsilon", 1e-6))
        outs[0].append((1 - call.attr("norm_coefficient_post", 0.0)) * new)
        outs[1].append(new_v), outs[2].append(new_h)
    return tuple(np.asarray(o).astype(np.float32) for out in outs for o in out)


@kernel("DFT")
def dft(call, x, length=None, axis=None):
    axis = call.axis(x.ndim, default=1) if axis is None else int(np.asarray(axis).ravel()[0])
    axis = axis + x.ndim if axis < 0 else axis
    n = x.shape[axis] if length is None else int(np.asarray(length).ravel()[0])
    signal = x[..., 0] if x.shape[-1] == 1 else x[..., 0] + 1j * x[..., 1]
    out = (np.fft.ifft if call.attr("inverse", 0) else np.fft.fft)(signal, n, axis)
    if call.attr("onesided", 0):
        out = np.take(out, np.arange(n // 2 + 1), axis)
    return np.stack([out.real, out.imag], -1).astype(x.dtype)


@kernel("STFT")
def stft(call, signal, step, window=None, length=None):
    step = int(step)
    n = int(length) if length is not None else len(window)
    window = np.ones(n) if window is None else window
    x = signal[..., 0] if signal.ndim == 3 and signal.shape[-1] == 1 else (
        signal[..., 0] + 1j * signal[..., 1] if signal.ndim == 3 else signal)
    frames = (x.shape[1] - n) // step + 1
    out = np.stack([np.fft.fft(x[:, i * step:i * step + n] * window, n) for i in range(frames)], 1)
    if call.attr("onesided", 1):
        out = out[..., :n // 2 + 1]
    return np.stack([out.real, out.imag], -1).astype(signal.dtype)


@kernel("Rfft", domain=MS)
def rfft(call, x):
    out = np.fft.rfft(x, axis=-1)
    out = out / x.shape[-1] if call.attr("normalized", 0) else out
    return np.stack([out.real, out.imag], -1).astype(x.dtype)


@kernel("Irfft", domain=MS)
def irfft(call, x):
    n = 2 * (x.shape[-2] - 1)
    out = np.fft.irfft(x[..., 0] + 1j * x[..., 1], n, axis=-1)
    return (out if call.attr("normalized", 0) else out * n).astype(x.dtype)


def murmur(number, seed):
    """MurmurHash3, 32 bits, of four bytes."""
    mask = 0xFFFFFFFF
    turn = lambda v, r: ((v << r) | (v >> (32 - r))) & mask
    h = seed ^ (turn((number & mask) * 0xCC9E2D51 & mask, 15) * 0x1B873593 & mask)
    h = (turn(h, 13) * 5 + 0xE6546B64) & mask
    h ^= 4
    h = (h ^ (h >> 16)) * 0x85EBCA6B & mask
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & mask
    return h ^ (h >> 16)


@kernel("MurmurHash3", domain=MS)
def murmur_hash3(call, x):
    dtype = np.uint32 if call.attr("positive", 1) else np.int32
    hashes = [murmur(int(v), call.attr("seed", 0)) for v in x.ravel()]
    return np.array(hashes, np.uint32).astype(dtype).reshape(x.shape)


@kernel("NGramRepeatBlock", domain=MS)
def ngram_repeat_block(call, ids, scores):
    """What would end an n-gram that a row has had before becomes impossible."""
    n = call.attr("ngram_size")
    out = scores.copy()
    for b, row in enumerate(ids.tolist()):
        last = row[len(row) - n + 1:]
        for i in range(len(row) - n + 1):
            if row[i:i + n - 1] == last:
                out[b, row[i + n - 1]] = -np.inf
    return out


@kernel("CropAndResize", domain=MS)
def crop_and_resize(call, x, rois, batch, size):
    """Bilinear; a region is y1, x1, y2, x2 as shares of the image."""
    high, wide = (int(s) for s in size)
    h, w = x.shape[2:]
    out = np.full((len(rois), x.shape[1], high, wide), call.attr("extrapolation_value", 0.0))
    for r, (y1, x1, y2, x2) in enumerate(rois.astype(np.float64)):
        image = x[int(batch[r])]
        for i in range(high):
            y = y1 * (h - 1) + i * (y2 - y1) * (h - 1) / (high - 1) if high > 1 else (
                0.5 * (y1 + y2) * (h - 1))
            for j in range(wide):
                z = x1 * (w - 1) + j * (x2 - x1) * (w - 1) / (wide - 1) if wide > 1 else (
                    0.5 * (x1 + x2) * (w - 1))
                if not (0 <= y <= h - 1 and 0 <= z <= w - 1):
                    continue
                top, left = int(np.floor(y)), int(np.floor(z))
                bottom, right = int(np.ceil(y)), int(np.ceil(z))
                fy, fz = y - top, z - left
                above = image[:, top, left] * (1 - fz) + image[:, top, right] * fz
                below = image[:, bottom, left] * (1 - fz) + image[:, bottom, right] * fz
                out[r, :, i, j] = above * (1 - fy) + below * fy
    return out.astype(x.dtype)


@kernel("RelativePositionBias", domain=MS)
def relative_position_bias(call, table, queries, keys):
    """Distances fall into buckets: small ones alone, large ones by their logarithm."""
    n, far = table.shape[0], call.attr("max_distance")
    q, k = int(np.asarray(queries).ravel()[0]), int(np.asarray(keys).ravel()[0])
    distance = np.arange(k)[None, :] - np.arange(q)[:, None]
    bucket = np.zeros((q, k), int)
    if call.attr("is_bidirectional", 0):
        n //= 2
        bucket += (distance > 0) * n
        distance = np.abs(distance)
    else:
        distance = -np.minimum(distance, 0)
    exact = n // 2
    scaled = np.log(np.maximum(distance, 1) / exact) / np.log(far / exact) * (n - exact)
    bucket += np.where(distance < exact, distance, np.minimum(exact + scaled.astype(int), n - 1))
    return table[bucket].transpose(2, 0, 1)[None]
