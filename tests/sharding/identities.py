"""identities.py - cases that nobody published: one operator is what some others make together."""
import numpy as np

from reference import MS, Call, run_call

CASES = []


def identity(*names):
    """The function below gives pairs of what is and what should be, for these operators."""
    def register(function):
        CASES.append((names, function))
        return function
    return register


def run(op, *inputs, domain="", opset=17, n_out=1, **attrs):
    out = run_call(Call(op, domain, opset, n_out, attrs), inputs)
    return out[0] if n_out == 1 else out[:n_out]


def ms(op, *inputs, **rest):
    return run(op, *inputs, domain=MS, **rest)


def numbers(*dims, low=-2.0, high=2.0):
    return np.random.RandomState(sum(dims)).uniform(low, high, dims).astype(np.float32)


@identity("com.microsoft.BiasAdd", "com.microsoft.BiasDropout")
def sums():
    x, bias, skip = numbers(2, 3, 4), numbers(4), numbers(2, 3, 4) + 1
    want = run("Sum", x, bias, skip)
    yield ms("BiasAdd", x, bias, skip), want
    yield ms("BiasDropout", x, bias, skip), want


@identity("com.microsoft.BiasSplitGelu", "com.microsoft.GemmFastGelu",
          "com.microsoft.FusedMatMulActivation")
def fused():
    x, bias = numbers(2, 3, 8), numbers(8)
    left, right = run("Split", run("Add", x, bias), axis=-1, n_out=2)
    yield ms("BiasSplitGelu", x, bias), left * run("Gelu", right, opset=20)
    a, b = numbers(3, 4), numbers(4, 5)
    product = run("MatMul", a, b)
    yield ms("FusedMatMulActivation", a, b, activation="Relu"), run("Relu", product)
    yield ms("GemmFastGelu", a, b, numbers(5)), ms("FastGelu", product, numbers(5))


@identity("com.microsoft.ComplexMul", "com.microsoft.ComplexMulConj")
def complex_numbers():
    a, b = np.array([[1.0, 2.0]], "float32"), np.array([[3.0, 5.0]], "float32")
    yield ms("ComplexMul", a, b), np.array([[-7.0, 11.0]], "float32")
    yield ms("ComplexMulConj", a, b), np.array([[13.0, 1.0]], "float32")


@identity("com.microsoft.BiasSoftmax")
def bias_softmax():
    x, bias = numbers(2, 3, 4), numbers(1, 3, 4)
    yield ms("BiasSoftmax", x, bias, axis=2, is_inner_broadcast=0), run(
        "Softmax", run("Add", x, bias), axis=2)


def channels_first(x):
    return run("Transpose", x, perm=[0, 3, 1, 2])


@identity("com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv")
def channels_last():
    x, w, bias = numbers(2, 5, 4, 6), numbers(4, 2, 3, 3), numbers(4)
    want = run("Transpose", run("Conv", channels_first(x), channels_first(w), bias, group=2),
               perm=[0, 2, 3, 1])
    yield ms("NhwcConv", x, w, bias, group=2), want
    yield ms("NhwcFusedConv", x, w, bias, group=2, activation="Relu"), run("Relu", want)


@identity("com.microsoft.GroupNorm", "com.microsoft.SkipGroupNorm")
def group_norms():
    x, gamma, beta = numbers(2, 3, 5, 6), numbers(6), numbers(6) + 1
    plain = run("GroupNormalization", channels_first(x), gamma, beta, num_groups=3, opset=21)
    want = run("Transpose", plain, perm=[0, 2, 3, 1])
    attrs = {"groups": 3, "channels_last": 1}
    yield ms("GroupNorm", x, gamma, beta, activation=0, **attrs), want
    yield ms("GroupNorm", x, gamma, beta, activation=1, **attrs), run("Swish", want, opset=24)
    yield ms("SkipGroupNorm", x, gamma, beta, x, activation=0, n_out=2, **attrs)[0], ms(
        "GroupNorm", 2 * x, gamma, beta, activation=0, **attrs)


@identity("com.microsoft.TorchEmbedding")
def embedding():
    table, rows = numbers(7, 4), np.array([[1, 6], [0, 1]])
    yield ms("TorchEmbedding", table, rows), run("Gather", table, rows)


@identity("com.microsoft.MultiHeadAttention")
def packed_attention():
    q, k, v = numbers(2, 3, 8), numbers(2, 3, 8) + 1, numbers(2, 3, 8) - 1
    packed = np.stack([x.reshape(2, 3, 4, 2) for x in (q, k, v)], 3)
    yield ms("MultiHeadAttention", packed, num_heads=4), ms(
        "MultiHeadAttention", q, k, v, num_heads=4)


@identity("com.microsoft.MoE")
def two_experts():
    """Of which each row takes one wholly: as two small networks, with a gate beside them."""
    x, router = numbers(2, 4), np.array([[9.0, -90], [-90, 9]], "float32")
    up, down, gate = numbers(2, 5, 4), numbers(2, 4, 5), numbers(2, 5, 4) + 1
    want = [down[e] @ (np.maximum(up[e] @ x[e], 0) * (gate[e] @ x[e])) for e in range(2)]
    yield ms("MoE", x, router, up, None, down, None, gate, k=1, activation_type="relu"), np.array(
        want, "float32")


@identity("com.microsoft.QLinearReduceMean")
def quantised_mean():
    x = np.array([[10, 20, 33]], np.uint8)
    yield ms("QLinearReduceMean", x, 0.5, np.uint8(0), 0.25, np.uint8(3), axes=[1]), np.array(
        [[45]], np.uint8)


@identity("com.microsoft.Rfft", "com.microsoft.Irfft")
def transforms():
    x = numbers(3, 8)
    there = ms("Rfft", x, onesided=1, normalized=0, signal_ndim=1)
    yield there, run("DFT", x[..., None], axis=1, onesided=1)
    yield ms("Irfft", there, onesided=1, normalized=0, signal_ndim=1), 8 * x


@identity("com.microsoft.RelativePositionBias")
def positions():
    """With eight buckets and both directions: 0, 1, 2 and 3 steps away, behind or ahead."""
    table = np.arange(8, dtype=np.float32)[:, None]
    got = ms("RelativePositionBias", table, 1, 9, max_distance=8, is_bidirectional=1)
    yield got, np.array([[[[0, 5, 6, 6, 7, 7, 7, 7, 7]]]], "float32")


@identity("com.microsoft.DecoderMaskedSelfAttention")
def decoder_step():
    x, w, bias, past = numbers(2, 1, 5), numbers(5, 24), numbers(24), numbers(2, 2, 2, 6, 4)
    y, present = ms("DecoderMaskedSelfAttention", x, w, bias, None, past, None, np.array([5]),
                    num_heads=2, n_out=2)
    want, now = ms("Attention", x, w, bias, None, past[:, :, :, :5], num_heads=2, n_out=2)
    yield y, want
    yield present, now  # five steps and the new one fill the buffer


@identity("com.microsoft.PackedMultiHeadAttention")
def sequences_in_a_row():
    x = numbers(7, 8)
    got = ms("PackedMultiHeadAttention", x, x, x, None, None, np.array([0, 4, 7]), num_heads=2)
    want = [ms("MultiHeadAttention", p, p, p, num_heads=2)[0] for p in (x[None, :4], x[None, 4:])]
    yield got, np.concatenate(want)


@identity("com.microsoft.LongformerAttention")
def wide_window():
    """One that reaches everywhere is plain attention; so it is for global steps."""
    x, w, bias, mask = numbers(2, 3, 8), numbers(8, 24), numbers(24), np.zeros((2, 3), "float32")
    want = ms("Attention", x, w, bias, num_heads=2, n_out=2)[0]
    for window, is_global in ((3, 0), (0, 1)):
        yield ms("LongformerAttention", x, w, bias, mask, w, bias, np.full((2, 3), is_global),
                 num_heads=2, window=window), want


def check():
    """operator -> (cases that hold, faults)"""
    found = {}
    for names, function in CASES:
        pairs = list(function())
        faults = [f"identity {i} of {function.__name__} does not hold" for i, (got, want) in
                  enumerate(pairs) if got.shape != want.shape or got.dtype != want.dtype
                  or not np.allclose(got, want, 1e-4, 1e-5)]
        for name in names:
            found[name] = (1, faults)
    return found
