"""cases_arithmetic.py - elementwise, reductions, contractions, convolutions, normalisation."""
from cases import B, C, F, G, I, P, S, S8, U8, case


def elementwise():
    for op in ("Abs Asinh Atan Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish "
               "Identity IsInf IsNaN LeakyRelu Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign "
               "Sin Sinh Softplus Softsign Tan Tanh ThresholdedRelu Dropout").split():
        case(op, F(6, 7))
    for op in ("Log", "Sqrt"):
        case(op, P(6, 7))
    for op in ("Acos", "Asin", "Atanh"):
        case(op, F(6, 7, low=-0.9, high=0.9))
    case("Acosh", F(6, 7, low=1.1, high=3))
    case("Identity", F())
    case("Relu", F(2, 3, 4, 7))
    case("Mish", F(6, 7), opset=18)
    case("Gelu", F(6, 7), opset=20)
    case("Gelu", F(6, 7), opset=20, approximate="tanh")
    case("Swish", F(6, 7), opset=24, alpha=1.5)
    case("Not", B(6, 7))
    case("BitwiseNot", I(6, 7), opset=18)
    case("Cast", F(6, 7), to=7)
    case("CastLike", F(6, 7), I(1))
    case("CastLike", F(6, 7), I(6, 7))
    case("BitCast", I(6, 7, dtype="int32"), to=1, opset=26)
    case("Clip", F(6, 7), S(-0.5), S(0.5))
    case("Clip", F(6, 7), None, S(0.5))
    case("Clip", F(6, 7), opset=6, min=-0.5, max=0.5)
    case("Dropout", F(6, 7), S(0.3), opset=13, out=2)
    for dims in ((7,), (6, 1), (6, 7), (1,)):
        case("PRelu", F(6, 7), F(*dims))
    case("Affine", F(6, 7), opset=1, alpha=2.0, beta=0.5)
    case("ParametricSoftplus", F(6, 7), opset=1, alpha=2.0, beta=0.5)
    case("Scale", F(6, 7), opset=1, scale=2.0)
    case("ScaledTanh", F(6, 7), opset=1, alpha=2.0, beta=0.5)
    case("ImageScaler", F(2, 6, 3, 7), opset=1, scale=2.0, bias=[0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    shapes = [((6, 7), (6, 7)), ((6, 7), (7,)), ((6, 1), (1, 7)), ((2, 6, 7), (6, 1)),
              ((6, 7), ()), ((1,), (6, 7)), ((1, 1), (1,))]
    for a, b in shapes:
        case("Add", F(*a), F(*b))
        case("Mul", F(*a), F(*b))
        case("Where", B(*a), F(*b), F(6, 7))
        case("Max", F(*a), F(*b))
    for a, b in shapes[1:4]:
        for op in ("Sub", "Div"):
            case(op, F(*a), P(*b))
        case("Pow", P(*a), F(*b))
        case("Mod", F(*a), P(*b), fmod=1)
        for op in ("And", "Or", "Xor"):
            case(op, B(*a), B(*b))
        for op in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
            case(op, I(*a), I(*b))
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
            case(op, I(*a), I(*b), opset=18)
        case("BitShift", I(*a, dtype="uint32"), I(*b, high=3, dtype="uint32"), direction="LEFT")
        for op in ("Min", "Sum", "Mean"):
            case(op, F(*a), F(*b), F(6, 7))
    case("Sum", F(6, 7))
    case("Where", B(6, 1), F(7), F(2, 1, 1))
    case("Add", F(2, 6, 7), F(6), opset=6, axis=1, broadcast=1)


def reductions():
    for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum",
                 "SumSquare"):
        op, x = "Reduce" + name, P(6, 2, 7)
        case(op, x)
        case(op, x, keepdims=0)
        if name == "Sum":
            for axes in ([1], [-1], [0, 2]):
                case(op, x, C(axes))
                case(op, x, C(axes), keepdims=0)
            case(op, x, noop_with_empty_axes=1)
            case(op, x, opset=11, axes=[0])
        else:
            for axes in ([1], [-1], [0, 2]):
                case(op, x, axes=axes)
                case(op, x, axes=axes, keepdims=0)
            case(op, x, C([0]), opset=18)
            case(op, x, opset=18, noop_with_empty_axes=1)
        case(op, P(2, 6, 1, 6), **({} if name == "Sum" else {"axes": [1, 3]}))
    for op in ("ArgMax", "ArgMin"):
        case(op, F(6, 7), axis=1)
        case(op, F(6, 2, 7), axis=0, keepdims=0)
        case(op, I(6, 7, high=3), axis=1, select_last_index=1)
    for op, opset in (("CumSum", 14), ("CumProd", 26)):
        case(op, F(6, 7), S(1, "int64"), opset=opset)
        case(op, F(6, 7), S(0, "int64"), opset=opset, exclusive=1, reverse=1)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        case(op, F(6, 7))
        case(op, F(6, 2, 7), axis=0)
        case(op, F(6, 2, 7), axis=1, opset=11)
        case(op, F(6, 2, 7), axis=2, opset=11)
    case("TopK", F(6, 7), C([3]), out=2)
    case("TopK", F(6, 7), C([2]), out=2, axis=0, largest=0)
    case("Det", F(6, 3, 3))
    case("Det", F(3, 3))


def losses():
    for op, x in (("NegativeLogLikelihoodLoss", F(6, 5, high=0)),
                  ("SoftmaxCrossEntropyLoss", F(6, 5))):
        deep = F(3, 5, 6, high=0)
        for how in ("none", "sum", "mean"):
            case(op, x, I(6, high=5), reduction=how)
            case(op, x, I(6, high=5), P(5), reduction=how)
            case(op, deep, I(3, 6, high=5), reduction=how)
        case(op, x, I(6, high=5), reduction="sum", ignore_index=2)
        case(op, x, I(6, high=5), reduction="mean", ignore_index=2)
    case("SoftmaxCrossEntropyLoss", F(6, 5), I(6, high=5), out=2)


def contractions():
    for a, b in (((6, 4), (4, 7)), ((3, 6, 4), (3, 4, 7)), ((3, 6, 4), (4, 7)),
                 ((6, 4), (3, 4, 7)), ((2, 1, 6, 4), (3, 4, 7)), ((7,), (7,)), ((6, 7), (7,)),
                 ((7,), (7, 6)), ((7,), (2, 7, 6)), ((2, 6, 7), (7,))):
        case("MatMul", F(*a), F(*b))
    for a, b in (((6, 4), (4, 7)), ((3, 6, 4), (4, 7)), ((2, 3, 6, 4), (3, 4, 7))):
        case("MatMulInteger", U8(*a), U8(*b))
        case("MatMulInteger", U8(*a), U8(*b), S(3, "uint8"), S(5, "uint8"))
    case("MatMulInteger", U8(6, 4), S8(4, 7), U8(6), S8(7))
    for trans in ((0, 0), (1, 0), (0, 1), (1, 1)):
        a = F(7, 6) if trans[0] else F(6, 7)
        b = F(4, 7) if trans[1] else F(7, 4)
        case("Gemm", a, b, transA=trans[0], transB=trans[1])
        for bias in ((4,), (6, 4), (6, 1), (1, 4), (1,), ()):
            case("Gemm", a, b, F(*bias), transA=trans[0], transB=trans[1], alpha=0.5, beta=2.0)
    for equation, dims in (
            ("ij,jk->ik", ((6, 4), (4, 7))), ("bij,bjk->bik", ((2, 6, 3), (2, 3, 7))),
            ("ij->ji", ((6, 7),)), ("ij->j", ((6, 7),)), ("ij->", ((6, 7),)),
            ("i,j->ij", ((6,), (7,))), ("...ij,...jk->...ik", ((2, 6, 3), (2, 3, 7))),
            ("bhqd,bhkd->bhqk", ((2, 3, 4, 2), (2, 3, 7, 2))), ("ij,jk", ((6, 4), (4, 7))),
            ("ij,ij->i", ((6, 7), (6, 7))), ("...ij->...i", ((2, 6, 7),)),
            ("...ij,...jk->...ik", ((1, 6, 3), (2, 3, 7))), ("ii->i", ((6, 6),)),
            ("ij,jk,kl->il", ((6, 2), (2, 3), (3, 7))), ("ij,kj->ik", ((6, 4), (7, 4))),
            ("bij,bj->bi", ((2, 6, 7), (2, 7))), ("ba,ca", ((6, 4), (7, 4))),
            ("i j , j -> i", ((6, 7), (7,))), ("...j,j->...", ((6, 7), (7,))),
            ("ij,j->ij", ((6, 7), (7,))), ("ijk->kij", ((2, 6, 7),)),
            ("ij,ik->jk", ((6, 2), (6, 7))),
            ("bij,jk->bik", ((2, 6, 3), (3, 7))), ("ij,->ij", ((6, 7), ()))):
        case("Einsum", *[F(*d) for d in dims], equation=equation)
    for a, b in (((6, 4), (4, 7)), ((2, 6, 4), (2, 4, 7))):
        case("QLinearMatMul", U8(*a), S(0.02), S(3, "uint8"), U8(*b), S(0.03), S(5, "uint8"),
             S(0.5), S(100, "uint8"))
    case("QLinearMatMul", U8(6, 4), P(6), U8(6), S8(4, 7), P(7), S8(7), S(9.0), S(100, "uint8"))


def convolutions():
    case("Conv", F(6, 4, 5), F(7, 4, 3))
    case("Conv", F(2, 6, 7, 6), F(4, 6, 3, 3), F(4), pads=[1, 1, 1, 1])
    case("Conv", F(2, 6, 7, 6), F(6, 3, 3, 3), F(6), group=2, pads=[1, 1, 1, 1])
    case("Conv", F(2, 6, 6, 6), F(6, 1, 3, 3), F(6), group=6, strides=[2, 2], pads=[1, 1, 1, 1])
    case("Conv", F(2, 6, 7, 6), F(12, 1, 1, 3), group=6)
    case("Conv", F(1, 3, 14, 14), F(6, 3, 7, 7), kernel_shape=[7, 7], strides=[7, 7])
    case("Conv", F(1, 4, 12, 9), F(3, 4, 2, 2), strides=[2, 2])
    case("Conv", F(2, 4, 12, 9), F(3, 4, 3, 3), F(3), strides=[2, 1], dilations=[2, 1])
    case("Conv", F(2, 4, 9, 9), F(3, 4, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    case("Conv", F(2, 4, 6, 7), F(7, 4, 1, 1))
    case("Conv", F(1, 2, 12), F(3, 2, 5), pads=[2, 2])
    case("Conv", F(1, 2, 12), F(3, 2, 3), pads=[4, 0], dilations=[2])
    case("Conv", F(1, 2, 12), F(3, 2, 2), pads=[0, 1])
    case("Conv", F(1, 2, 14), F(3, 2, 3), F(3), pads=[1, 0], strides=[2])
    case("Conv", F(1, 2, 12), F(3, 2, 4), pads=[1, 1], strides=[2])
    case("Conv", F(1, 2, 18), F(3, 2, 2), strides=[3], pads=[0, 0], auto_pad="NOTSET")
    case("Conv", F(1, 2, 7), F(3, 2, 7), pads=[3, 3])
    case("Conv", F(1, 2, 12), F(3, 2, 2), auto_pad="VALID", strides=[2])
    case("Conv", F(1, 2, 12), F(3, 2, 3), auto_pad="SAME_LOWER")
    case("Conv", F(2, 4, 3, 4, 6), F(6, 4, 1, 2, 3))
    case("ConvInteger", U8(2, 6, 7, 6), U8(4, 6, 3, 3), S(3, "uint8"), S(4, "uint8"),
         pads=[1, 1, 1, 1])
    case("ConvInteger", U8(2, 6, 7), U8(6, 3, 2), S(3, "uint8"), group=2)
    case("QLinearConv", U8(2, 6, 7, 6), S(0.02), S(3, "uint8"), S8(4, 6, 3, 3, low=-40, high=40),
         P(4), G([0] * 4, "int8"), S(2.0), S(100, "uint8"), I(4, high=100, dtype="int32"))
    case("QLinearConv", U8(2, 6, 7), S(0.02), S(3, "uint8"), U8(6, 3, 2), S(0.5), S(3, "uint8"),
         S(2.0), S(100, "uint8"), group=2)
    case("ConvTranspose", F(2, 6, 5, 4), F(6, 7, 3, 3), F(7))
    case("ConvTranspose", F(2, 6, 5), F(6, 2, 3), F(4), group=2, strides=[2], pads=[1, 1])
    case("ConvTranspose", F(2, 6, 4), F(6, 3, 2), strides=[2], output_padding=[1])
    case("DeformConv", F(2, 6, 4, 4), F(4, 6, 2, 2), F(2, 8, 3, 3), opset=19)
    case("DeformConv", F(3, 4, 3, 3), F(4, 2, 2, 2), F(3, 16, 2, 2), F(4), F(3, 8, 2, 2), opset=19,
         group=2, offset_group=2)
    case("DeformConv", F(3, 2, 3, 3), F(6, 2, 2, 2), F(3, 8, 2, 2), F(6), F(3, 4, 2, 2), opset=19)
    case("CausalConvWithState", F(3, 6, 7), F(6, 1, 3), F(6), F(3, 6, 2), out=2, opset=27)
    case("CausalConvWithState", F(3, 6, 7), F(6, 1, 3), out=2, opset=27, activation="silu")


def pooling():
    for op in ("AveragePool", "MaxPool", "LpPool"):
        x = P(2, 6, 7, 6)
        case(op, x, kernel_shape=[2, 2])
        case(op, x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        case(op, P(2, 6, 12), kernel_shape=[2], strides=[2])
        case(op, P(2, 6, 6), kernel_shape=[3], strides=[1], auto_pad="SAME_UPPER")
    for op in ("AveragePool", "MaxPool", "LpPool"):
        case(op, F(1, 2, 12), kernel_shape=[5], pads=[2, 2])
        case(op, F(1, 2, 12), kernel_shape=[3], pads=[1, 0], strides=[2])
        case(op, F(1, 2, 12), kernel_shape=[2], pads=[0, 1])
    case("AveragePool", F(1, 2, 12), kernel_shape=[4], strides=[2], pads=[1, 1],
         count_include_pad=1)
    case("LpPool", F(1, 2, 12), kernel_shape=[3], pads=[1, 1], p=1)
    case("MaxPool", S8(1, 2, 12), kernel_shape=[3], pads=[1, 1])
    case("AveragePool", F(2, 6, 7, 6), kernel_shape=[3, 3], pads=[1, 1, 1, 1],
         count_include_pad=1)
    case("AveragePool", F(2, 6, 7, 6), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, opset=19)
    case("MaxPool", F(2, 6, 7, 6), kernel_shape=[2, 2], strides=[2, 2], out=2)
    case("MaxPool", F(2, 6, 9), kernel_shape=[3], dilations=[2])
    case("MaxUnpool", F(2, 6, 3, 3), I(2, 6, 3, 3, high=30), kernel_shape=[2, 2], strides=[2, 2])
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        case(op, F(2, 6, 7))
        case(op, F(2, 7, 6, 3))
    case("GlobalLpPool", F(2, 6, 7), p=1)
    case("GlobalLpPool", P(2, 6, 7), p=3)
    case("RoiAlign", F(2, 6, 5, 5), P(7, 4, high=4.0), I(7, high=2), output_height=2,
         output_width=2, sampling_ratio=2)
    case("MaxRoiPool", F(2, 6, 5, 5), G([[i % 2, 0, 1, i % 4 + 1, 3] for i in range(7)], "float32"),
         pooled_shape=[2, 2])


def norms():
    for op in ("LayerNormalization",):
        case(op, F(6, 7, 4), F(4), F(4), out=3)
        case(op, F(6, 7), F(7))
        case(op, F(6, 2, 7), F(2, 7), F(2, 7), axis=1)
        case(op, F(6, 2, 7), F(2, 7), axis=-2, out=2)
    case("RMSNormalization", F(6, 7, 4), F(4), opset=23)
    case("RMSNormalization", F(6, 2, 7), F(2, 7), axis=1, opset=23)
    case("SimplifiedLayerNormalization", F(6, 7, 4), F(4), opset=1, out=2)
    case("SimplifiedLayerNormalization", F(6, 7, 4), F(4), opset=1)
    case("GroupNormalization", F(2, 6, 7), F(3), F(3), num_groups=3, opset=18)
    case("GroupNormalization", F(2, 6, 7), F(6), F(6), num_groups=3, opset=21)
    case("GroupNormalization", F(3, 12, 2, 2), F(12), F(12), num_groups=6, opset=21)
    case("InstanceNormalization", F(2, 6, 7), F(6), F(6))
    case("InstanceNormalization", F(3, 7, 4, 4), F(7), F(7))
    case("BatchNormalization", F(2, 6, 7), F(6), F(6), F(6), P(6))
    case("BatchNormalization", F(6, 7), F(7), F(7), F(7), P(7))
    case("BatchNormalization", F(6, 7, 2), F(7), F(7), F(7), P(7), training_mode=1, out=3)
    case("MeanVarianceNormalization", F(2, 6, 7, 3))
    case("MeanVarianceNormalization", F(6, 7), axes=[1])
    case("LpNormalization", F(6, 7))
    case("LpNormalization", F(6, 2, 7), axis=0, p=1)
    case("LRN", F(2, 7, 6), size=3)
    case("LRN", F(2, 7, 6, 2), size=4, alpha=0.5, beta=0.5, bias=2.0)


def attention():
    case("Attention", F(2, 6, 3, 4), F(2, 6, 7, 4), F(2, 6, 7, 4), opset=23)
    case("Attention", F(2, 6, 3, 4), F(2, 3, 7, 4), F(2, 3, 7, 5), opset=23, is_causal=1)
    case("Attention", F(2, 3, 24), F(2, 7, 12), F(2, 7, 12), opset=23, q_num_heads=6,
         kv_num_heads=3)
    case("Attention", F(2, 3, 24), F(2, 7, 12), F(2, 7, 12), F(3, 7), opset=23, q_num_heads=6,
         kv_num_heads=3, softcap=2.0)
    case("Attention", F(2, 6, 3, 4), F(2, 6, 4, 4), F(2, 6, 4, 4), F(2, 6, 3, 7), F(2, 6, 3, 4),
         F(2, 6, 3, 4), opset=23, out=3)
    case("Attention", F(3, 4, 2, 4), F(3, 4, 5, 4), F(3, 4, 5, 4), B(2, 5), opset=23)
    case("Attention", F(3, 4, 2, 4), F(3, 2, 5, 4), F(3, 2, 5, 4), F(1, 1, 2, 5), None, None,
         opset=23, out=4, qk_matmul_output_mode=3)
    case("Attention", F(3, 4, 2, 4), F(3, 2, 5, 4), F(3, 2, 5, 4), F(3, 1, 2, 5), None, None,
         I(3, low=2, high=6), opset=24)
    case("Attention", F(2, 6, 3, 4), F(2, 3, 7, 4), F(2, 3, 7, 4), F(2, 6, 3, 7), opset=23)
    case("Attention", F(3, 2, 24), F(3, 4, 12), F(3, 4, 15), F(2, 7), F(3, 3, 3, 4), F(3, 3, 3, 5),
         opset=23, out=4, q_num_heads=6, kv_num_heads=3, is_causal=1)
    case("Attention", F(2, 3, 24), F(2, 7, 4), F(2, 7, 4), opset=23, q_num_heads=6, kv_num_heads=1)
    for interleaved in (0, 1):
        case("RotaryEmbedding", F(2, 6, 7, 4), F(9, 2), F(9, 2), I(2, 7, high=9), opset=23,
             interleaved=interleaved)
    case("RotaryEmbedding", F(2, 7, 24), F(9, 2), F(9, 2), I(2, 7, high=9), opset=23, num_heads=6)
    case("RotaryEmbedding", F(2, 6, 7, 8), F(2, 7, 2), F(2, 7, 2), opset=23,
         rotary_embedding_dim=4)
    case("RotaryEmbedding", F(2, 7, 24), F(2, 7, 2), F(2, 7, 2), opset=23, num_heads=6)
    case("LinearAttention", F(2, 3, 24), F(2, 3, 24), F(2, 3, 30), opset=27, out=2, q_num_heads=6,
         kv_num_heads=6, update_rule="linear")
    case("LinearAttention", F(2, 3, 24), F(2, 3, 12), F(2, 3, 15), F(2, 3, 4, 5), F(2, 3, 12),
         F(2, 3, 3), opset=27, out=2, q_num_heads=6, kv_num_heads=3)
    case("LinearAttention", F(2, 3, 24), F(2, 3, 12), F(2, 3, 15), None, F(2, 3, 3), P(2, 3, 1),
         opset=27, out=2, q_num_heads=6, kv_num_heads=3)


def register():
    for make in (elementwise, reductions, losses, contractions, convolutions, pooling, norms,
                 attention):
        make()
