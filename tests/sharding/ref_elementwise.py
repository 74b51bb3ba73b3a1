"""ref_elementwise.py - one element at a time, with broadcasting."""
import math

import numpy as np
from onnx import mapping

from reference import MS, kernel

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def unary(name, function):
    """function(x, call) keeps the type of x."""
    @kernel(name)
    def run(call, x, *_):
        return np.asarray(function(x, call)).astype(x.dtype)


for _name, _function in {
    "Abs": np.abs, "Acos": np.arccos, "Acosh": np.arccosh, "Asin": np.arcsin, "Asinh": np.arcsinh,
    "Atan": np.arctan, "Atanh": np.arctanh, "Ceil": np.ceil, "Cos": np.cos, "Cosh": np.cosh,
    "Erf": erf, "Exp": np.exp, "Floor": np.floor, "Log": np.log, "Neg": np.negative,
    "Reciprocal": lambda x: 1 / x, "Relu": lambda x: np.maximum(x, 0), "Round": np.rint,
    "Sigmoid": sigmoid, "Sign": np.sign, "Sin": np.sin, "Sinh": np.sinh, "Softplus": softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)), "Sqrt": np.sqrt, "Tan": np.tan, "Tanh": np.tanh,
    "Identity": lambda x: x, "BitwiseNot": np.invert, "Not": np.logical_not,
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Mish": lambda x: x * np.tanh(softplus(x)),
}.items():
    unary(_name, lambda x, call, f=_function: f(x))

unary("Celu", lambda x, c: np.maximum(x, 0) + np.minimum(
    0, c.attr("alpha", 1.0) * (np.exp(x / c.attr("alpha", 1.0)) - 1)))
unary("Elu", lambda x, c: np.where(x < 0, c.attr("alpha", 1.0) * (np.exp(x) - 1), x))
unary("Gelu", lambda x, c: gelu(x, c.attr("approximate", "none")))
unary("HardSigmoid", lambda x, c: np.clip(x * c.attr("alpha", 0.2) + c.attr("beta", 0.5), 0, 1))
unary("LeakyRelu", lambda x, c: np.where(x < 0, c.attr("alpha", 0.01) * x, x))
unary("Selu", lambda x, c: c.attr("gamma", 1.0507009873554805) * np.where(
    x > 0, x, c.attr("alpha", 1.6732632423543772) * (np.exp(x) - 1)))
unary("Shrink", lambda x, c: np.where(x < -c.attr("lambd", 0.5), x + c.attr("bias", 0.0), np.where(
    x > c.attr("lambd", 0.5), x - c.attr("bias", 0.0), 0)))
unary("Swish", lambda x, c: x * sigmoid(c.attr("alpha", 1.0) * x))
unary("ThresholdedRelu", lambda x, c: np.where(x > c.attr("alpha", 1.0), x, 0))
# Of the first operator sets, dropped since.
unary("Affine", lambda x, c: c.attr("alpha", 1.0) * x + c.attr("beta", 0.0))
unary("ParametricSoftplus", lambda x, c: c.attr("alpha", 0.0) * np.log(
    np.exp(c.attr("beta", 0.0) * x) + 1))
unary("Scale", lambda x, c: c.attr("scale", 1.0) * x)
unary("ScaledTanh", lambda x, c: c.attr("alpha", 0.0) * np.tanh(c.attr("beta", 0.0) * x))
unary("ImageScaler", lambda x, c: c.attr("scale", 1.0) * x + np.asarray(
    c.attr("bias", [0.0] * x.shape[1])).reshape(1, -1, 1, 1))


@kernel("IsInf")
def is_inf(call, x):
    return (np.isposinf(x) if call.attr("detect_positive", 1) else np.zeros(x.shape, bool)) | (
        np.isneginf(x) if call.attr("detect_negative", 1) else np.zeros(x.shape, bool))


@kernel("IsNaN")
def is_nan(call, x):
    return np.isnan(x)


@kernel("Cast")
def cast(call, x):
    to = mapping.TENSOR_TYPE_TO_NP_TYPE[call.attr("to")]
    return x.astype(str).astype(object) if to == np.dtype(object) else x.astype(to)


@kernel("CastLike")
def cast_like(call, x, like):
    return x.astype(like.dtype)


@kernel("Clip")
def clip(call, x, low=None, high=None):
    low = call.attr("min") if low is None else low
    high = call.attr("max") if high is None else high
    x = x if low is None else np.maximum(x, np.asarray(low, x.dtype))
    return x if high is None else np.minimum(x, np.asarray(high, x.dtype))


@kernel("Dropout")
def dropout(call, x, *_):
    """Of inference: nothing is dropped."""
    return x, np.ones(x.shape, bool)


@kernel("PRelu")
def prelu(call, x, slope):
    if call.opset < 7 and slope.ndim == 1 and slope.size > 1:  # one a channel
        slope = slope.reshape((-1,) + (1,) * (x.ndim - 2))
    return np.where(x < 0, x * slope, x).astype(x.dtype)


def old_broadcast(call, a, b):
    """Before operator set 7, b lay on a from an axis on, where it was asked to."""
    if call.opset >= 7 or not call.attr("broadcast", 0) or "axis" not in call.attrs:
        return b
    return b.reshape(b.shape + (1,) * (a.ndim - call.attr("axis") - b.ndim))


def binary(name, function, keeps_type=True):
    @kernel(name)
    def run(call, a, b):
        out = np.asarray(function(a, old_broadcast(call, a, b)))
        return out.astype(a.dtype) if keeps_type else out


def divide(a, b):
    if not np.issubdtype(a.dtype, np.integer):
        return a / b
    quotient = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))  # towards zero
    return np.where((a < 0) != (b < 0), -quotient, quotient)


for _name, _function in {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": divide, "Pow": np.power,
    "And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor,
    "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor,
}.items():
    binary(_name, _function)
for _name, _function in {
    "Equal": np.equal, "Greater": np.greater, "GreaterOrEqual": np.greater_equal,
    "Less": np.less, "LessOrEqual": np.less_equal,
}.items():
    binary(_name, _function, keeps_type=False)


@kernel("BitShift")
def bit_shift(call, a, b):
    return np.left_shift(a, b) if call.attr("direction") == "LEFT" else np.right_shift(a, b)


@kernel("Mod")
def mod(call, a, b):
    return (np.fmod if call.attr("fmod", 0) else np.mod)(a, b).astype(a.dtype)


def variadic(name, function):
    @kernel(name)
    def run(call, first, *rest):
        out = first
        for x in rest:
            out = function(out, x)
        return out.astype(first.dtype)


variadic("Max", np.maximum)
variadic("Min", np.minimum)
variadic("Sum", np.add)


@kernel("Mean")
def mean(call, *xs):
    return (sum(xs[1:], xs[0]) / len(xs)).astype(xs[0].dtype)


@kernel("Where")
def where(call, condition, a, b):
    return np.where(condition, a, b)


# -- com.microsoft --

@kernel("Gelu", domain=MS)
def ms_gelu(call, x):
    return gelu(x).astype(x.dtype)


@kernel("FastGelu", domain=MS)
def fast_gelu(call, x, bias=None):
    return gelu(x if bias is None else x + bias, "tanh").astype(x.dtype)


@kernel("BiasGelu", domain=MS)
def bias_gelu(call, x, bias):
    return gelu(x + bias).astype(x.dtype)


@kernel("QuickGelu", domain=MS)
def quick_gelu(call, x):
    return (x * sigmoid(call.attr("alpha", 1.702) * x)).astype(x.dtype)


@kernel("BiasAdd", domain=MS)
def bias_add(call, x, bias, skip):
    return x + bias + skip


@kernel("BiasDropout", domain=MS)
def bias_dropout(call, x, bias, residual=None, *_):
    out = x + bias
    return (out if residual is None else out + residual), np.ones(x.shape, bool)


@kernel("BiasSplitGelu", domain=MS)
def bias_split_gelu(call, x, bias):
    left, right = np.split(x + bias, 2, axis=-1)
    return (left * gelu(right)).astype(x.dtype)


@kernel("GatedAdd", domain=MS)
def gated_add(call, a, b, gate):
    return a + b * gate


def complex_product(a, b, conjugate):
    a = a[..., 0] + 1j * a[..., 1]
    b = b[..., 0] + 1j * b[..., 1]
    out = a * (np.conj(b) if conjugate else b)
    return np.stack([out.real, out.imag], axis=-1)


@kernel("ComplexMul", domain=MS)
def complex_mul(call, a, b):
    return complex_product(a, b, False).astype(a.dtype)


@kernel("ComplexMulConj", domain=MS)
def complex_mul_conj(call, a, b):
    return complex_product(a, b, True).astype(a.dtype)


@kernel("BitCast")
def bit_cast(call, x):
    return x.view(mapping.TENSOR_TYPE_TO_NP_TYPE[call.attr("to")])
