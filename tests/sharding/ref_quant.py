"""ref_quant.py - quantised arithmetic. Quotients are rounded to the nearest even integer."""
import numpy as np
from onnx import mapping

from reference import MS, kernel
from ref_conv import conv_of, less_zero
from ref_elementwise import sigmoid


def saturated(x, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(x), info.min, info.max).astype(dtype)


def quantised(x, scale, zero):
    """x / scale + zero in the type of zero."""
    dtype = np.dtype(np.uint8) if zero is None else np.asarray(zero).dtype
    offset = 0.0 if zero is None else np.asarray(zero).astype(np.float64)
    return saturated(np.rint(x / np.asarray(scale)) + offset, dtype)


def spread(v, x, call):
    """A scale or zero point beside x: one for all, one along the axis, or one a block."""
    if v is None:
        return None
    v = np.asarray(v)
    if v.ndim == 0 or (v.ndim == 1 and v.size == 1):
        return v.reshape(())
    axis = call.axis(x.ndim, default=1)
    block = call.attr("block_size", 0)
    if block:
        return np.take(v, np.arange(x.shape[axis]) // block, axis)
    return v.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


@kernel("QuantizeLinear")
@kernel("QuantizeLinear", domain=MS)
def quantize_linear(call, x, scale, zero=None):
    if zero is None and call.attr("output_dtype", 0):
        zero = np.zeros((), mapping.TENSOR_TYPE_TO_NP_TYPE[call.attr("output_dtype")])
    return quantised(x, spread(scale, x, call), spread(zero, x, call))


@kernel("DequantizeLinear")
@kernel("DequantizeLinear", domain=MS)
def dequantize_linear(call, x, scale, zero=None):
    zero = spread(zero, x, call)
    shifted = x.astype(np.float64) - (0 if zero is None else zero.astype(np.float64))
    return (shifted * spread(scale, x, call)).astype(scale.dtype)


def dynamic(x):
    low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
    scale = np.float32((high - low) / 255)
    zero = saturated(-low / scale if scale else 0.0, np.uint8)
    return quantised(x, scale, zero), scale, zero


@kernel("DynamicQuantizeLinear")
def dynamic_quantize_linear(call, x):
    return dynamic(x)


def matmul_integer_of(a, b, a_zero, b_zero):
    a, b = a.astype(np.int32), b.astype(np.int32)
    if a_zero is not None:
        a_zero = np.asarray(a_zero).astype(np.int32)
        a = a - (a_zero[:, None] if a_zero.ndim == 1 and a_zero.size > 1 else a_zero)
    if b_zero is not None:
        b = b - np.asarray(b_zero).astype(np.int32)  # one a column: lies on the last dimension
    return np.matmul(a, b)


@kernel("MatMulInteger")
def matmul_integer(call, a, b, a_zero=None, b_zero=None):
    return matmul_integer_of(a, b, a_zero, b_zero)


@kernel("MatMulInteger16", domain=MS)
def matmul_integer16(call, a, b):
    return np.matmul(a.astype(np.int32), b.astype(np.int32))


@kernel("MatMulIntegerToFloat", domain=MS)
def matmul_integer_to_float(call, a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None):
    out = matmul_integer_of(a, b, a_zero, b_zero) * (a_scale * b_scale)
    return (out if bias is None else out + bias).astype(np.float32)


@kernel("DynamicQuantizeMatMul", domain=MS)
def dynamic_quantize_matmul(call, a, b, b_scale, b_zero=None, bias=None):
    q, scale, zero = dynamic(a)
    out = matmul_integer_of(q, b, zero, b_zero) * (scale * b_scale)
    return (out if bias is None else out + bias).astype(np.float32)


@kernel("QLinearMatMul")
def qlinear_matmul(call, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    if np.ndim(a_scale) == 1 and np.size(a_scale) > 1:
        a_scale = a_scale[:, None]
    out = matmul_integer_of(a, b, a_zero, b_zero) * (a_scale * b_scale)
    return quantised(out, y_scale, y_zero)


@kernel("QLinearConv")
def qlinear_conv(call, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
    out = conv_of(call, less_zero(x, x_zero, 1), less_zero(w, w_zero, 0), bias)
    if np.size(w_scale) > 1:
        w_scale = w_scale.reshape((1, -1) + (1,) * (x.ndim - 2))
    return quantised(out * (x_scale * np.asarray(w_scale)), y_scale, y_zero)


@kernel("QLinearConv", domain=MS)
def ms_qlinear_conv(call, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
    if not call.attr("channels_last", 0):
        return qlinear_conv(call, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias)
    out = qlinear_conv(call, np.moveaxis(x, -1, 1), x_scale, x_zero, w, w_scale, w_zero, y_scale,
                       y_zero, bias)
    return np.moveaxis(out, 1, -1)


@kernel("QGemm", domain=MS)
def qgemm(call, a, a_scale, a_zero, b, b_scale, b_zero, c=None, y_scale=None, y_zero=None):
    a, b = a.astype(np.int32) - int(a_zero), b.astype(np.int32)
    a = a.T if call.attr("transA", 0) else a
    b = b.T if call.attr("transB", 0) else b
    b = b - np.asarray(b_zero).astype(np.int32)
    out = a @ b
    out = out if c is None else out + c
    out = out * (call.attr("alpha", 1.0) * a_scale * b_scale)
    return out.astype(np.float32) if y_scale is None else quantised(out, y_scale, y_zero)


# -- operators that dequantise, compute, and quantise again --

def real(x, scale, zero):
    return (x.astype(np.float64) - (0 if zero is None else float(zero))) * float(scale)


def qlinear_binary(name, function):
    @kernel(name, domain=MS)
    def run(call, a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero=None):
        out = function(real(a, a_scale, a_zero), real(b, b_scale, b_zero))
        return quantised(out, c_scale, np.zeros((), a.dtype) if c_zero is None else c_zero)


qlinear_binary("QLinearAdd", np.add)
qlinear_binary("QLinearMul", np.multiply)


def qlinear_unary(name, function):
    @kernel(name, domain=MS)
    def run(call, x, x_scale, x_zero, y_scale, y_zero=None):
        return quantised(function(call, real(x, x_scale, x_zero)), y_scale,
                         np.zeros((), x.dtype) if y_zero is None else y_zero)


def pool_axes(call, x):
    return tuple(range(1, x.ndim - 1)) if call.attr("channels_last", 0) else tuple(range(2, x.ndim))


def qlinear_softmax(call, x):
    axis = call.axis(x.ndim, default=-1)
    if call.attr("opset", 13) < 13:  # all from the axis on count as one
        axis = tuple(range(axis, x.ndim))
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def qlinear_average_pool(call, x):
    from ref_conv import average_pool
    if not call.attr("channels_last", 0):
        return average_pool(call, x)
    return np.moveaxis(average_pool(call, np.moveaxis(x, -1, 1)), 1, -1)


qlinear_unary("QLinearLeakyRelu", lambda c, x: np.where(x < 0, c.attr("alpha", 0.01) * x, x))
qlinear_unary("QLinearSigmoid", lambda c, x: sigmoid(x))
qlinear_unary("QLinearSoftmax", qlinear_softmax)
qlinear_unary("QLinearGlobalAveragePool", lambda c, x: x.mean(pool_axes(c, x), keepdims=True))
qlinear_unary("QLinearAveragePool", qlinear_average_pool)
qlinear_unary("QLinearReduceMean", lambda c, x: x.mean(
    tuple(c.attr("axes", list(range(x.ndim)))), keepdims=bool(c.attr("keepdims", 1))))


@kernel("QLinearWhere", domain=MS)
def qlinear_where(call, condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero):
    return quantised(np.where(condition, real(x, x_scale, x_zero), real(y, y_scale, y_zero)),
                     z_scale, z_zero)


@kernel("QLinearConcat", domain=MS)
def qlinear_concat(call, y_scale, y_zero, *rest):
    parts = [real(rest[i], rest[i + 1], rest[i + 2]) for i in range(0, len(rest), 3)]
    return quantised(np.concatenate(parts, call.attr("axis")), y_scale, y_zero)


# -- weights of few bits, in blocks along k --

def unpacked(packed, bits):
    """Bytes as numbers of some bits, lowest first, on the last dimension."""
    each = 8 // bits
    shifts = np.arange(each) * bits
    out = (packed[..., None] >> shifts.astype(np.uint8)) & (2 ** bits - 1)
    return out.reshape(packed.shape[:-1] + (-1,))


def block_weights(b, scales, zeros, n, k, bits, block):
    """(n, k) floats from (n, blocks, bytes a block), scales (n, blocks), zeros packed by row."""
    blocks = -(-k // block)
    values = unpacked(b.reshape(n, blocks, -1), bits)[..., :block].astype(np.float64)
    scales = scales.reshape(n, blocks).astype(np.float64)
    if zeros is None:
        zero = np.full((n, blocks), 2.0 ** (bits - 1))
    elif zeros.dtype == np.uint8:
        zero = unpacked(zeros.reshape(n, -1), bits)[:, :blocks].astype(np.float64)
    else:
        zero = zeros.reshape(n, blocks).astype(np.float64)
    return ((values - zero[..., None]) * scales[..., None]).reshape(n, -1)[:, :k]


@kernel("MatMulNBits", domain=MS)
def matmul_nbits(call, a, b, scales, zeros=None, group_index=None, bias=None):
    n, k = call.attr("N"), call.attr("K")
    bits, block = call.attr("bits", 4), call.attr("block_size")
    if group_index is not None:
        raise NotImplementedError("MatMulNBits with g_idx")
    out = a @ block_weights(b, scales, zeros, n, k, bits, block).T
    return (out if bias is None else out + bias).astype(a.dtype)


@kernel("GatherBlockQuantized", domain=MS)
def gather_block_quantized(call, data, indices, scales, zeros=None):
    rank = data.ndim
    gather_axis, axis = call.axis(rank, "gather_axis"), call.axis(rank, "quantize_axis", 1)
    block, bits = call.attr("block_size", 128), call.attr("bits", 4)
    if data.dtype == np.uint8 and bits < 8:
        data = unpacked(data, bits)
        zeros = None if zeros is None else unpacked(zeros, bits)
    if zeros is not None:
        zeros = np.take(zeros, np.arange(scales.shape[axis]), axis)
    at = np.arange(data.shape[axis]) // block
    default = 2 ** (bits - 1) if data.dtype == np.uint8 or np.issubdtype(
        data.dtype, np.unsignedinteger) else 0
    zero = default if zeros is None else np.take(zeros, at, axis).astype(np.float64)
    real_data = (data.astype(np.float64) - zero) * np.take(scales, at, axis)
    return np.take(real_data, indices, gather_axis).astype(scales.dtype)


# Quantiles of the normal distribution, which the four bits of type NF4 stand for.
NF4 = np.array([
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
    0.7229568362236023, 1.0])


@kernel("MatMulBnb4", domain=MS)
def matmul_bnb4(call, a, b, largest):
    """Weights (n, k) as one list, two a byte, the first in the upper half; one scale a block."""
    if call.attr("quant_type", 1) != 1:
        raise NotImplementedError("MatMulBnb4 of type FP4")
    n, k = call.attr("N"), call.attr("K")
    codes = np.stack([b.ravel() >> 4, b.ravel() & 15], -1).ravel()[:n * k]
    weights = NF4[codes] * largest[np.arange(n * k) // call.attr("block_size")]
    return (a @ weights.reshape(n, k).T).astype(a.dtype)
