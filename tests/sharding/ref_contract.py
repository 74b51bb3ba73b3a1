"""ref_contract.py - matrix products and their kin."""
import numpy as np

from reference import MS, kernel
from ref_elementwise import gelu, sigmoid


def activation(call, x):
    """The activation that a fused operator ends with."""
    name = call.attr("activation", "")
    alpha = call.attr("activation_alpha", 0.01)
    return {
        "": lambda: x, "Relu": lambda: np.maximum(x, 0), "Sigmoid": lambda: sigmoid(x),
        "Tanh": lambda: np.tanh(x), "LeakyRelu": lambda: np.where(x < 0, alpha * x, x),
    }[name]()


@kernel("MatMul")
def matmul(call, a, b):
    return np.matmul(a, b)


def gemm_of(call, a, b, c):
    a = a.T if call.attr("transA", 0) else a
    b = b.T if call.attr("transB", 0) else b
    out = call.attr("alpha", 1.0) * (a @ b)
    return out if c is None else out + call.attr("beta", 1.0) * c


@kernel("Gemm")
def gemm(call, a, b, c=None):
    return gemm_of(call, a, b, c).astype(a.dtype)


@kernel("FusedGemm", domain=MS)
def fused_gemm(call, a, b, c=None):
    return activation(call, gemm_of(call, a, b, c)).astype(a.dtype)


@kernel("Einsum")
def einsum(call, *xs):
    return np.einsum(call.attr("equation").replace(" ", ""), *xs)


def fused_operand(call, x, letter):
    """transBatch moves the first dimension behind the batch: before the last one; then trans."""
    if call.attr("transBatch" + letter, 0) and x.ndim > 2:
        x = np.moveaxis(x, 0, -2)
    return np.swapaxes(x, -1, -2) if call.attr("trans" + letter, 0) and x.ndim > 1 else x


@kernel("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul", domain=MS)
def fused_matmul(call, a, b):
    out = call.attr("alpha", 1.0) * np.matmul(fused_operand(call, a, "A"),
                                              fused_operand(call, b, "B"))
    return activation(call, out).astype(a.dtype)


@kernel("GemmFastGelu", domain=MS)
def gemm_fast_gelu(call, a, b, bias=None):
    out = np.matmul(a, b)
    return gelu(out if bias is None else out + bias, "tanh").astype(a.dtype)


@kernel("CDist", domain=MS)
def c_dist(call, a, b):
    out = np.sum(np.square(a[:, None, :] - b[None, :, :]), axis=-1)
    if call.attr("metric", "sqeuclidean") == "euclidean":
        out = np.sqrt(out)
    return out.astype(a.dtype)
