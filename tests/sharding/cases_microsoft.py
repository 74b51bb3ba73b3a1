"""cases_microsoft.py - operators of com.microsoft."""
from cases import B, C, F, G, I, P, S, S8, U8, ms


def elementwise():
    ms("FastGelu", F(6, 7), F(7))
    for op in ("Gelu", "QuickGelu"):
        ms(op, F(6, 7))
    ms("FastGelu", F(6, 7))
    ms("FastGelu", F(2, 6, 7), F(7))
    ms("BiasGelu", F(2, 6, 7), F(7))
    ms("BiasAdd", F(2, 6, 7), F(7), F(2, 6, 7))
    ms("BiasDropout", F(6, 7), F(7), F(6, 7))
    ms("BiasSplitGelu", F(2, 6, 14), F(14))
    ms("GatedAdd", F(6, 7), F(6, 7), F(6, 1))
    ms("ComplexMul", F(6, 7, 2), F(6, 7, 2))
    ms("ComplexMulConj", F(6, 7, 2), F(6, 7, 2))
    ms("BiasSoftmax", F(6, 4, 7), F(6, 4, 7), axis=2, is_inner_broadcast=0)
    ms("BiasSoftmax", F(6, 4, 7), F(1, 4, 7), axis=2, is_inner_broadcast=0)


def contractions():
    ms("FusedMatMul", F(6, 4), F(4, 7), alpha=0.5)
    ms("FusedMatMul", F(3, 4, 6), F(3, 7, 4), transA=1, transB=1)
    ms("FusedMatMul", F(4, 3, 6), F(7, 3, 4), transA=1, transB=1, transBatchA=1, transBatchB=1)
    ms("FusedMatMul", F(2, 3, 6, 4), F(4, 7))
    ms("TransposeMatMul", F(3, 6, 4), F(3, 7, 4), transB=1)
    ms("FusedMatMulActivation", F(6, 4), F(4, 7), activation="Relu")
    for trans in ((0, 0), (1, 1)):
        ms("FusedGemm", F(7, 6) if trans[0] else F(6, 7), F(4, 7) if trans[1] else F(7, 4), F(4),
           transA=trans[0], transB=trans[1], activation="Relu")
    ms("GemmFastGelu", F(2, 6, 4), F(4, 7), F(7))
    ms("CDist", F(6, 4), F(7, 4))
    ms("MatMulInteger16", I(6, 4, dtype="int16"), I(4, 7, dtype="int16"))
    ms("MatMulIntegerToFloat", U8(6, 4), U8(4, 7), S(0.5), P(7), S(3, "uint8"), U8(7), F(7))
    ms("MatMulIntegerToFloat", U8(2, 6, 4), U8(4, 7), S(0.5), S(0.25), S(3, "uint8"),
       S(4, "uint8"))
    ms("DynamicQuantizeMatMul", F(6, 4), S8(4, 7, low=-30, high=30), S(0.5), S(3, "int8"), F(7))
    ms("DynamicQuantizeMatMul", F(2, 6, 4), S8(4, 7, low=-30, high=30), P(7),
       S8(7, low=-30, high=30))
    for a in (F(6, 64), F(2, 3, 64)):
        ms("MatMulNBits", a, U8(7, 4, 8), P(28), N=7, K=64, bits=4, block_size=16)
        ms("MatMulNBits", a, U8(7, 4, 8), P(7, 4), U8(14), N=7, K=64, bits=4, block_size=16)
    ms("MatMulNBits", F(6, 48), U8(6, 3, 16), P(6, 3), U8(6, 3), None, F(6), N=6, K=48, bits=8,
       block_size=16)
    ms("MatMulNBits", F(2, 3, 96), U8(6, 6, 8), P(6, 6), U8(6, 3), None, F(6), N=6, K=96, bits=4,
       block_size=16)
    ms("Inverse", F(6, 3, 3))


def convolutions():
    ms("FusedConv", F(2, 6, 7, 6), F(4, 6, 3, 3), F(4), activation="Relu", pads=[1, 1, 1, 1])
    ms("FusedConv", F(2, 6, 5), F(4, 6, 2), F(4), F(2, 4, 4), activation="Relu")
    ms("NhwcConv", F(2, 7, 6, 4), F(6, 3, 3, 4), F(6), pads=[1, 1, 1, 1])
    ms("NhwcFusedConv", F(2, 7, 6, 6), F(6, 3, 3, 3), F(6), group=2, activation="Relu")
    ms("NhwcMaxPool", S8(2, 7, 6, 6), kernel_shape=[2, 2], strides=[2, 2])
    ms("MaxpoolWithMask", F(2, 6, 7, 6), I(2, 6, 7, 6, low=1, high=2, dtype="int32"),
       kernel_shape=[2, 2])
    ms("CausalConvWithState", F(3, 6, 7), F(6, 1, 3), F(6), F(3, 6, 2), out=2, activation="silu")
    ms("GridSample", F(2, 6, 3, 3), F(2, 6, 7, 2, low=-1, high=1), mode="bilinear",
       padding_mode="zeros", align_corners=0)


def norms():
    for op, rest, out in (("SkipLayerNormalization", [F(4), F(4), F(4)], 4),
                          ("SkipSimplifiedLayerNormalization", [F(4), F(4)], "y-yy")):
        ms(op, F(6, 7, 4), F(6, 7, 4), *rest, out=out)
        ms(op, F(6, 7, 4), F(6, 7, 4), F(4))
    ms("SkipLayerNormalization", F(6, 7, 4), F(7, 4), F(4))
    ms("SkipLayerNormalization", F(6, 7, 4), F(1, 7, 4), F(4), out=1)
    ms("GroupNorm", F(2, 3, 7, 12), F(12), F(12), groups=6, activation=1, channels_last=1)
    ms("GroupNorm", F(2, 6, 3, 7), F(6), F(6), groups=2, activation=0, channels_last=0)
    ms("SkipGroupNorm", F(2, 3, 7, 12), F(12), F(12), F(2, 3, 7, 12), F(12), groups=6,
       activation=1, channels_last=1, out=2)
    ms("SkipGroupNorm", F(2, 3, 7, 12), F(12), F(12), F(2, 12), groups=6, activation=0,
       channels_last=1, out=2)
    ms("EmbedLayerNormalization", I(6, 7, high=9, dtype="int32"),
       I(6, 7, high=2, dtype="int32"), F(9, 4), F(8, 4), F(2, 4), F(4), F(4), out=2)
    ms("EmbedLayerNormalization", I(6, 7, high=9, dtype="int32"), None, F(9, 4), F(8, 4), None,
       F(4), F(4), None, I(6, 7, high=8, dtype="int32"), out=2)
    ms("EmbedLayerNormalization", I(6, 7, high=9, dtype="int32"), None, F(9, 4), F(8, 4), None,
       F(4), F(4), I(6, 7, high=2, dtype="int32"), out=2)


def attention():
    ms("MultiHeadAttention", F(2, 3, 24), F(2, 7, 24), F(2, 7, 24), num_heads=6)
    ms("MultiHeadAttention", F(2, 3, 24), F(2, 7, 24), F(2, 7, 30), F(78), num_heads=6)
    ms("MultiHeadAttention", F(3, 2, 24), F(3, 7, 24), F(3, 7, 24), None,
       G([7, 3, 5], "int32"), F(1, 6, 2, 7), num_heads=6)
    ms("MultiHeadAttention", F(2, 3, 24), F(2, 3, 24), F(2, 3, 24), None, None, F(2, 1, 3, 7),
       F(2, 6, 4, 4), F(2, 6, 4, 4), num_heads=6, unidirectional=1, out=3)
    ms("MultiHeadAttention", F(2, 3, 4, 3, 6), num_heads=4)
    ms("MultiHeadAttention", F(2, 3, 24), F(2, 6, 7, 4), F(2, 6, 7, 4), num_heads=6)
    ms("MultiHeadAttention", F(2, 3, 24), F(2, 7, 6, 2, 4), None, num_heads=6)
    ms("MultiHeadAttention", F(3, 2, 24), F(3, 7, 24), F(3, 7, 24), None,
       I(3, 7, low=0, high=2, dtype="int32"), None, num_heads=6)
    ms("MultiHeadAttention", F(3, 2, 24), F(3, 7, 24), F(3, 7, 24), F(72), None, F(3, 6, 2, 7),
       num_heads=6, scale=0.3)
    for mask in (I(3, 7, high=2, dtype="int32"), I(3, 7, 7, high=2, dtype="int32")):
        ms("Attention", F(3, 7, 5), F(5, 72), F(72), mask, num_heads=6)
    ms("GroupQueryAttention", F(3, 5, 48), F(3, 5, 24), F(3, 5, 24), None, None,
       G([4, 4, 4], "int32"), S(5, "int32"), None, None, None, F(3, 6, 5, 5), num_heads=6,
       kv_num_heads=3, out=3)
    ms("GroupQueryAttention", F(3, 5, 48), F(3, 5, 24), F(3, 5, 24), None, None,
       G([4, 4, 4], "int32"), S(5, "int32"), None, None, None, F(1, 1, 5, 5), num_heads=6,
       kv_num_heads=3, out=3, softcap=2.0)
    ms("Attention", F(2, 7, 5), F(5, 72), F(72), num_heads=6)
    ms("Attention", F(2, 7, 5), F(5, 36), F(36), G([7, 3], "int32"), num_heads=3,
       unidirectional=1, out=2)
    ms("Attention", F(2, 3, 5), F(5, 36), F(36), None, F(2, 2, 3, 4, 4), num_heads=3, out=2)
    ms("Attention", F(2, 3, 5), F(5, 36), F(36), None, None, F(2, 3, 3, 3), num_heads=3)
    ms("Attention", F(2, 7, 5), F(5, 42), F(42), num_heads=3, qkv_hidden_sizes=[12, 12, 18])
    ms("QAttention", U8(2, 7, 5), U8(5, 36), F(36), S(0.1), S(0.05), None, S(3, "uint8"),
       S(5, "uint8"), num_heads=3)
    ms("GroupQueryAttention", F(2, 5, 48), F(2, 5, 24), F(2, 5, 24), None, None,
       G([4, 4], "int32"), S(5, "int32"), num_heads=6, kv_num_heads=3, out=3)
    ms("GroupQueryAttention", F(2, 1, 96), F(2, 1, 48), F(2, 1, 48), F(2, 3, 6, 16),
       F(2, 3, 6, 16), G([6, 4], "int32"), S(7, "int32"), F(16, 8), F(16, 8), num_heads=6,
       kv_num_heads=3, do_rotary=1, out=3)
    ms("GroupQueryAttention", F(2, 5, 96), None, None, None, None, G([4, 4], "int32"),
       S(5, "int32"), num_heads=6, kv_num_heads=3, out=3)
    ms("GroupQueryAttention", F(3, 5, 48), F(3, 5, 48), F(3, 5, 48), None, None,
       G([4, 4, 4], "int32"), S(5, "int32"), num_heads=6, kv_num_heads=6, local_window_size=2,
       out=3)
    for x in (F(2, 6, 7, 4), F(2, 7, 24)):
        ms("RotaryEmbedding", x, I(2, 7, high=9), F(9, 2), F(9, 2))
        ms("RotaryEmbedding", x, G([1]), F(9, 2), F(9, 2), interleaved=1)
    ms("RotaryEmbedding", F(2, 7, 48), G([1]), F(9, 2), F(9, 2), num_heads=6,
       rotary_embedding_dim=4)
    ms("RotaryEmbedding", F(2, 7, 48), I(2, 7, high=9), F(9, 2), F(9, 2), num_heads=6,
       rotary_embedding_dim=4)
    ms("LinearAttention", F(2, 3, 24), F(2, 3, 12), F(2, 3, 15), F(2, 3, 4, 5), F(2, 3, 12),
       F(2, 3, 3), out=2, q_num_heads=6, kv_num_heads=3)
    ms("LinearAttention", F(2, 3, 24), F(2, 3, 24), F(2, 3, 30), out=2, q_num_heads=6,
       kv_num_heads=6, update_rule="linear")
    ms("MoE", F(6, 4), F(6, 6), F(6, 7, 4), F(6, 7), F(6, 4, 7), F(6, 4), k=2,
       activation_type="gelu")
    ms("MoE", F(2, 3, 4), F(6, 7), F(7, 6, 4), None, F(7, 4, 6), None, F(7, 6, 4), k=2,
       activation_type="silu", normalize_routing_weights=1)
    ms("MoE", F(7, 4), F(7, 3), F(3, 12, 4), F(3, 12), F(3, 4, 6), F(3, 4), k=2,
       activation_type="swiglu", swiglu_fusion=2)
    ms("MoE", F(7, 4), F(7, 3), F(3, 12, 4), None, F(3, 4, 6), k=1, activation_type="swiglu",
       swiglu_fusion=1)


def quantised():
    ms("QuantizeLinear", F(6, 7), S(0.02), S(128, "uint8"))
    ms("DequantizeLinear", U8(6, 7), S(0.02), S(128, "uint8"))
    ms("QuantizeLinear", F(2, 6, 7), P(6), U8(6), axis=1)
    ms("DequantizeLinear", U8(2, 6, 7), P(6), U8(6), axis=1)
    ms("QuantizeLinear", F(6, 8), P(6, 2), U8(6, 2), axis=1, block_size=4)
    ms("DequantizeLinear", U8(6, 8), P(6, 2), U8(6, 2), axis=1, block_size=4)
    ms("QGemm", U8(6, 7), S(0.02), S(3, "uint8"), S8(7, 4), P(4), S8(4),
       I(4, high=100, dtype="int32"), S(2.0), S(100, "uint8"))
    ms("QGemm", U8(6, 7), S(0.02), S(3, "uint8"), S8(4, 7), S(0.5), S(1, "int8"), None, transB=1)
    for op in ("QLinearAdd", "QLinearMul"):
        ms(op, U8(6, 7), S(0.0213), S(3, "uint8"), U8(6, 7), S(0.0317), S(4, "uint8"), S(0.1),
           S(5, "uint8"))
        ms(op, U8(2, 6, 7), S(0.0213), S(3, "uint8"), U8(7), S(0.0317), S(4, "uint8"), S(0.1),
           S(5, "uint8"))
    for op in ("QLinearLeakyRelu", "QLinearSigmoid"):
        ms(op, U8(6, 7), S(0.02), S(100, "uint8"), S(0.01), S(5, "uint8"))
    ms("QLinearSoftmax", U8(6, 7), S(0.02), S(100, "uint8"), S(0.01), S(5, "uint8"),
       attrs={"opset": 13}, axis=-1)
    ms("QLinearSoftmax", U8(6, 2, 7), S(0.02), S(100, "uint8"), S(0.01), S(5, "uint8"),
       attrs={"opset": 11}, axis=1)
    ms("QLinearGlobalAveragePool", U8(2, 6, 7), S(0.02), S(3, "uint8"), S(0.01), S(5, "uint8"))
    ms("QLinearGlobalAveragePool", U8(2, 3, 7, 6), S(0.02), S(3, "uint8"), S(0.01), S(5, "uint8"),
       channels_last=1)
    ms("QLinearAveragePool", U8(2, 6, 7), S(0.02), S(3, "uint8"), S(0.01), S(5, "uint8"),
       kernel_shape=[2])
    ms("QLinearAveragePool", U8(2, 7, 6, 6), S(0.0213), S(3, "uint8"), S(0.01193),
       S(5, "uint8"), kernel_shape=[2, 2], channels_last=1)
    ms("QLinearReduceMean", U8(6, 2, 7), S(0.02), S(3, "uint8"), S(0.01), S(5, "uint8"), axes=[1],
       keepdims=1)
    ms("QLinearWhere", B(6, 7), U8(6, 7), S(0.02), S(3, "uint8"), U8(7), S(0.03), S(4, "uint8"),
       S(0.1), S(5, "uint8"))
    ms("QLinearConcat", S(0.1), S(5, "uint8"), U8(6, 7), S(0.0213), S(3, "uint8"), U8(6, 2),
       S(0.0317), S(4, "uint8"), axis=1)
    ms("QLinearConv", U8(2, 6, 7, 6), S(0.02), S(3, "uint8"), U8(4, 6, 3, 3), S(0.5),
       S(3, "uint8"), S(2.0), S(100, "uint8"))
    ms("QLinearConv", U8(2, 7, 6, 6), S(0.02), S(3, "uint8"), U8(4, 6, 3, 3), S(0.5),
       S(3, "uint8"), S(2.0), S(100, "uint8"), channels_last=1)


def movement():
    ms("ExpandDims", F(6, 7), S(1, "int32"))
    ms("GatherND", F(6, 7, 4), I(7, 1, high=6))
    ms("Pad", F(6, 7), C([0, 1, 0, 2]))
    ms("Trilu", F(2, 6, 7))
    ms("Range", S(0, "int64"), S(7, "int64"), S(1, "int64"))
    ms("TorchEmbedding", F(7, 6), I(2, 3, high=7))
    ms("UnfoldTensor", F(6, 7), dim=1, size=3, step=2)
    ms("GatherBlockQuantized", U8(7, 16), I(6, high=7), P(7, 2), U8(7, 1), gather_axis=0,
       quantize_axis=1, block_size=16, bits=4)
    ms("GatherBlockQuantized", U8(7, 32), I(2, 3, high=7), P(7, 2), U8(7, 2), gather_axis=0,
       quantize_axis=1, block_size=16, bits=8)


def others():
    ms("Rfft", F(6, 7, 8), normalized=0, onesided=1, signal_ndim=1)
    ms("Irfft", F(6, 7, 5, 2), normalized=0, onesided=1, signal_ndim=1)
    ms("MurmurHash3", I(6, 7, high=99, dtype="int32"), seed=3)
    ms("NGramRepeatBlock", I(6, 7, high=3), F(6, 5), ngram_size=2)
    ms("CropAndResize", F(2, 6, 5, 5), G([[0.1, 0.2, 0.8, 0.1 * i] for i in range(3, 10)],
                                         "float32"),
       I(7, high=2, dtype="int32"), C([3, 2], "int32"), extrapolation_value=0.5)
    ms("RelativePositionBias", F(8, 6), C([3], "int64"), C([7], "int64"), max_distance=10,
       is_bidirectional=1)
    ms("QEmbedLayerNormalization", I(6, 7, high=9, dtype="int32"), I(6, 7, high=2, dtype="int32"),
       U8(9, 4), U8(8, 4), U8(2, 4), U8(4), U8(4), I(6, 7, high=2, dtype="int32"),
       *[S(0.02)] * 5, *[S(100, "uint8")] * 5, out=2, epsilon=1e-5)
    ms("QMoE", F(6, 4), F(6, 7), U8(7, 6, 4), P(7, 6), F(7, 6), U8(7, 4, 6), P(7, 4), F(7, 4),
       k=2, activation_type="relu", normalize_routing_weights=1, expert_weight_bits=8)
    ms("QMoE", F(2, 3, 4), F(6, 7), U8(7, 6, 2), P(7, 6), None, U8(7, 4, 3), P(7, 4), None, k=2,
       activation_type="silu", normalize_routing_weights=1, expert_weight_bits=4)
    for more in ([], [None, None, F(72)]):
        ms("DecoderMaskedMultiHeadAttention", F(3, 1, 24), F(3, 1, 24), F(3, 1, 24), None, None,
           F(3, 6, 8, 4), F(3, 6, 8, 4), S(5, "int32"), *more, num_heads=6, out=3,
           past_present_share_buffer=1)

    ms("MatMulBnb4", F(6, 32), U8(112), P(14), N=7, K=32, block_size=16, quant_type=1)
    ms("DecoderMaskedSelfAttention", F(3, 1, 5), F(5, 72), F(72), None, F(2, 3, 6, 8, 4), None,
       S(5, "int32"), num_heads=6, out=2, past_present_share_buffer=1)
    ms("PackedMultiHeadAttention", F(7, 24), F(7, 24), F(7, 30), F(78),
       G([[0, 1, 2, 3], [4, 5, 6, 7]], "int32"), G([0, 4, 7], "int32"), F(2, 6, 4, 4), num_heads=6)
    ms("PackedMultiHeadAttention", F(7, 24), F(7, 24), F(7, 24), F(72),
       G([[0, 1, 2, 3], [4, 5, 6, 7]], "int32"), G([0, 4, 7], "int32"), F(2, 6, 4, 4), num_heads=6)
    ms("PackedMultiHeadAttention", F(7, 24), F(7, 24), F(7, 30), None,
       G([[0, 1, 2, 3], [4, 5, 6, 7]], "int32"), G([0, 4, 7], "int32"), num_heads=6)
    ms("LongformerAttention", F(6, 4, 8), F(8, 24), F(24), F(6, 4), F(8, 24), F(24),
       I(6, 4, high=2, dtype="int32"), num_heads=2, window=1)


def register():
    for make in (elementwise, contractions, convolutions, norms, attention, quantised, movement,
                 others):
        make()
