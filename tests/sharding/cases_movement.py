"""cases_movement.py - movement of data, indices, quantising, recurrences, transforms, text."""
import numpy as np

from cases import C, F, G, I, P, S, S8, U8, W, case
from onnx import helper


def shapes():
    for x, to in (((6, 7), (42,)), ((42,), (6, 7)), ((6, 7), (7, 6)), ((2, 6, 7), (12, 7)),
                  ((12, 7), (2, 6, 7)), ((6, 4, 7), (6, 28)), ((6, 7), (6, 7)), ((6, 7), (6, 1, 7)),
                  ((1, 6, 7), (6, 7)), ((2, 6, 4), (4, 3, 4)), ((6, 8), (6, 2, 4)),
                  ((3, 4, 6), (3, 24)), ((3, 24), (3, 4, 6)), ((6, 4), (3, 8)), ((4, 6), (8, 3)),
                  ((2, 3, 4, 7), (6, 28)), ((6, 28), (2, 3, 4, 7)), ((2, 3, 2, 7), (12, 7)),
                  ((6, 1), (6,)), ((1, 1), ()), ((6, 10), (4, 15))):
        case("Reshape", F(*x), C(list(to) or np.zeros(0, "int64").tolist()))
    for x, to in (((4, 9), (6, 6)), ((2, 3, 5, 7), (30, 7)), ((6, 12), (2, 36)), ((8, 9), (6, 12)),
                  ((4, 6, 2), (2, 2, 6, 2)), ((2, 2, 3), (2, 2, 3)), ((7, 6), (7, 2, 3)),
                  ((2, 6, 3, 4), (2, 6, 12)), ((2, 7, 12), (2, 7, 3, 4)), ((14, 4), (2, 7, 4)),
                  ((12, 1, 7), (3, 4, 7, 1))):
        case("Reshape", F(*x), C(list(to)))
    case("Reshape", F(6, 2, 7), C([0, -1]))
    case("Reshape", F(6, 4), C([3, -1]), allowzero=1)
    case("Reshape", F(6, 14), C([0, 2, -1]))
    for axis in (0, 1, 2, -1):
        case("Flatten", F(6, 2, 7), axis=axis)
    case("Squeeze", F(6, 1, 7), C([1]))
    case("Squeeze", F(6, 1, 7, 1))
    case("Squeeze", F(6, 7))
    case("Squeeze", F(8, 1, 12))
    case("Squeeze", F(6, 1, 7), opset=11, axes=[1])
    case("Unsqueeze", F(6, 7), C([0, 3]))
    case("Unsqueeze", F(6, 7), C([-1]))
    case("Unsqueeze", F(6, 7), opset=11, axes=[1])
    case("Transpose", F(6, 2, 7))
    case("Transpose", F(6, 2, 7), perm=[1, 0, 2])
    for x, to in (((6, 1), (6, 7)), ((7,), (6, 7)), ((6, 7), (6, 7)), ((2, 1, 7), (2, 6, 1)),
                  ((1,), (6, 7))):
        case("Expand", F(*x), C(list(to)))
    case("Tile", F(6, 7), C([1, 2]))
    case("Tile", F(6, 7), C([3, 1]))
    case("Tile", F(1, 7), C([6, 1]))
    case("Concat", F(6, 7), F(6, 2), axis=1)
    case("Concat", F(6, 7), F(6, 7), F(6, 7), axis=0)
    case("Concat", F(6, 7), axis=0)
    case("Concat", F(2, 6, 7), F(2, 6, 7), axis=-1)
    case("Split", F(6, 7), C([3, 4]), axis=1, out=2)
    case("Split", F(6, 7), axis=0, out=3)
    case("Split", F(6, 7), axis=1, opset=18, num_outputs=2, out=2)
    case("Split", F(6, 7), axis=1, opset=11, split=[2, 5], out=2)
    case("Split", F(6, 12, 2), C([6, 6]), axis=1, out=2)
    case("Slice", F(6, 7), C([1]), C([4]), C([0]))
    case("Slice", F(6, 7), C([0]), C([7]), C([1]))
    case("Slice", F(6, 7), C([-1]), C([-8]), C([1]), C([-1]))
    case("Slice", F(6, 7), C([0, 1]), C([6, 7]), C([0, 1]), C([2, 3]))
    case("Slice", F(2, 6, 7), C([1, -3]), C([5, 9]), C([-2, 2]))
    case("Slice", F(2, 6, 7), C([0]), C([6]), C([1]))
    case("Slice", F(6, 7), C([0, 2]), C([99, 99]))
    case("Slice", F(6, 7), G([1]), G([4]), C([1]))
    case("Slice", F(6, 7), opset=9, starts=[0, 1], ends=[6, 3])
    for mode in ("constant", "reflect", "edge"):
        case("Pad", F(6, 7), C([0, 1, 0, 2]), mode=mode)
    case("Pad", F(6, 7), C([2, 0, 1, 0]), S(1.5))
    case("Pad", F(6, 7), C([1, 1]), None, C([1]), opset=18)
    case("Pad", F(6, 7), opset=2, pads=[0, 1, 0, 0])
    case("Crop", F(2, 6, 5, 7), opset=1, border=[1, 1, 1, 1])
    case("CenterCropPad", F(6, 7, 3), C([4, 5]), axes=[1, 2], opset=18)
    case("CenterCropPad", F(6, 7), C([5]), axes=[0], opset=18)
    case("Trilu", F(2, 6, 7))
    case("Trilu", F(3, 6, 7), S(1, "int64"), upper=0)
    case("EyeLike", F(6, 7))
    case("Range", S(0, "int64"), S(7, "int64"), S(1, "int64"))
    case("ConstantOfShape", C([6, 7]), value=helper.make_tensor("v", 1, [1], [2.5]))
    case("Constant", value_floats=[1.0, 2.0])
    case("Shape", F(6, 7))
    case("Size", F(6, 7))
    case("ReverseSequence", F(6, 7), I(7, low=1, high=7))
    case("ReverseSequence", F(7, 6, 2), I(7, low=1, high=7), batch_axis=0, time_axis=1)
    case("DepthToSpace", F(2, 12, 3, 7), blocksize=2)
    case("DepthToSpace", F(2, 24, 3, 2), blocksize=2, mode="CRD")
    case("SpaceToDepth", F(2, 3, 6, 14), blocksize=2)
    case("Col2Im", F(2, 12, 6), C([3, 4]), C([2, 2]), opset=18)
    for mode in ("nearest", "linear"):
        case("Resize", F(2, 6, 3, 3), None, C([1.0, 1.0, 2.0, 2.0], "float32"), mode=mode)
    case("Resize", F(2, 7, 3, 3), None, None, C([2, 7, 5, 4]), mode="cubic")
    case("Resize", F(2, 7, 3, 4), None, None, C([5, 7]), mode="linear", axes=[2, 3], opset=18)
    case("Upsample", F(2, 6, 3, 7), C([1.0, 1.0, 2.0, 2.0], "float32"), opset=9)
    case("Upsample", F(2, 6, 3, 7), opset=7, scales=[1.0, 1.0, 2.0, 2.0])
    case("GridSample", F(2, 6, 3, 3), F(2, 6, 7, 2, low=-1, high=1), opset=20)
    case("AffineGrid", F(6, 2, 3), C([6, 2, 7, 5]), opset=20)


def indices():
    case("Gather", F(6, 7), I(4, high=6))
    case("Gather", F(7, 6), I(2, 3, high=7))
    case("Gather", F(6, 7), I(6, high=7), axis=1)
    case("Gather", F(2, 6, 7), I(3, 2, high=6), axis=-2)
    case("Gather", F(6, 7), I(4, low=-6, high=6))
    case("Gather", F(6, 7), S(3, "int64"))
    case("Gather", F(6, 7), G(2), axis=1)
    case("GatherElements", F(6, 7), I(6, 7, high=6))
    case("GatherElements", F(6, 7), I(6, 3, high=7), axis=1)
    case("GatherElements", F(6, 7), I(4, 7, high=6), axis=0)
    case("GatherElements", F(6, 7), I(4, 5, high=6), axis=0)
    case("GatherElements", F(6, 2, 7), I(6, 2, 4, high=7), axis=-1)
    case("GatherElements", F(6, 2, 7), I(6, 1, 4, high=7), axis=-1)  # not broadcast
    case("GatherND", F(6, 7), G([[0, 1], [5, 6], [2, 2], [1, 0], [4, 4], [3, 6]]))
    case("GatherND", F(6, 7, 4), I(7, 1, high=6))
    case("GatherND", F(6, 7, 4), I(6, 2, 1, high=7), batch_dims=1)
    case("GatherND", F(6, 7, 4), I(6, 1, high=7), batch_dims=1)
    for op in ("ScatterElements",):
        case(op, F(6, 7), G([[0] * 7, [3] * 7]), F(2, 7))
        case(op, F(6, 7), G([[0] * 5, [3] * 5]), F(2, 5))
        case(op, F(6, 2, 7), I(6, 1, 1, high=7), F(6, 1, 1), axis=2)
        case(op, F(6, 7), G([[i, 5 - i % 2] for i in range(3)] * 2), F(6, 2), axis=1)
        case(op, F(6, 7), G([[0] * 7, [3] * 7, [0] * 7]), F(3, 7), reduction="add", opset=18)
        case(op, F(6, 7), I(6, 3, high=7), F(6, 3), axis=1, reduction="max", opset=18)
        case(op, F(6, 7), I(6, 7, high=6), F(6, 7), reduction="mul", opset=18)
    case("Scatter", F(6, 7), G([[0] * 7, [3] * 7]), F(2, 7), opset=9)
    case("ScatterND", F(6, 7), G([[1], [4], [0]]), F(3, 7))
    case("ScatterND", F(6, 7, 2), G([[1, 1], [4, 6], [0, 2], [5, 5], [2, 0], [3, 3]]), F(6, 2))
    case("ScatterND", F(6, 7), G([[1], [4], [1]]), F(3, 7), reduction="add", opset=18)
    case("ScatterND", F(6, 7), G([[[1]], [[4]], [[0]]]), F(3, 1, 7))
    case("TensorScatter", F(2, 3, 7, 4), F(2, 3, 2, 4), I(2, high=5), opset=24)
    case("TensorScatter", F(6, 7, 4), F(6, 7, 2), I(6, high=3), axis=2, opset=24)
    case("TensorScatter", F(6, 7, 4), F(6, 2, 4), I(6, high=7), mode="circular", opset=24)
    case("TensorScatter", F(6, 7, 4), F(6, 2, 4), opset=24)
    case("OneHot", I(6, 2, high=7), S(7, "int64"), C([0.0, 1.0], "float32"))
    case("OneHot", I(6, high=7), S(7, "int64"), C([0.5, 2.0], "float32"), axis=0)
    case("OneHot", I(6, 4, low=-7, high=7), C([7]), C([0.0, 1.0], "float32"), axis=1)
    case("Compress", F(6, 7), G([1, 0, 1, 1, 0, 1, 1], "bool"), axis=1)
    case("Compress", F(6, 7), G([1, 0, 1, 1, 0, 1], "bool"), axis=0)
    case("NonZero", F(6, 7))
    case("Unique", I(7), out=1)


def quantised():
    case("QuantizeLinear", F(6, 7), S(0.02), S(128, "uint8"))
    case("QuantizeLinear", F(2, 6, 7), P(6), U8(6), axis=1, opset=13)
    case("QuantizeLinear", F(6, 7), P(1), U8(1))
    case("DequantizeLinear", U8(6, 7), P(1), axis=0, opset=13)
    case("DequantizeLinear", S8(7, 6), P(7), axis=0, opset=13)
    case("QuantizeLinear", F(6, 7), P(7), axis=-1, opset=13)
    case("QuantizeLinear", F(6, 8), P(6, 2), U8(6, 2), axis=1, block_size=4, opset=21)
    case("DequantizeLinear", U8(6, 7), S(0.02), S(128, "uint8"))
    case("DequantizeLinear", S8(2, 6, 7), P(6), S8(6), axis=1, opset=13)
    case("DequantizeLinear", S8(6, 7), P(7), axis=-1, opset=13)
    case("DequantizeLinear", S8(6, 12), P(6, 3), S8(6, 3), axis=1, block_size=4, opset=21)
    case("DequantizeLinear", S8(12, 7), P(6, 7), axis=0, block_size=2, opset=21)
    case("DynamicQuantizeLinear", F(6, 7), out=3)


def recurrences():
    for op, gates, states in (("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)):
        case(op, F(4, 6, 3), F(1, gates * 5, 3), F(1, gates * 5, 5), hidden_size=5, out=1 + states)
        start = [F(2, 7, 5)] * states
        case(op, F(4, 7, 3), F(2, gates * 5, 3), F(2, gates * 5, 5), F(2, 2 * gates * 5),
             I(7, low=1, high=5, dtype="int32"), *start, hidden_size=5, direction="bidirectional",
             out=1 + states)
        start = [F(6, 1, 5)] * states
        case(op, F(6, 4, 3), F(1, gates * 5, 3), F(1, gates * 5, 5), None, None, *start,
             hidden_size=5, layout=1, direction="reverse", out=1 + states)
    case("LSTM", F(4, 6, 3), F(1, 20, 3), F(1, 20, 5), None, None, None, None, F(1, 15),
         hidden_size=5, out=3)
    case("GRU", F(4, 6, 3), F(1, 15, 3), F(1, 15, 5), F(1, 30), hidden_size=5, out=2,
         linear_before_reset=1)


def transforms():
    case("DFT", F(6, 7, 1), opset=17, axis=1)
    case("DFT", F(6, 7, 4, 2), None, S(1, "int64"), opset=20)
    case("STFT", F(6, 16, 1), S(4, "int64"), F(8))


def text():
    words = ["a", "b c", "ab", "", "a b c"]
    case("StringConcat", W(words, 6, 7), W(words, 7), opset=20)
    case("RegexFullMatch", W(words, 6, 7), opset=20, pattern="a.*")
    case("TfIdfVectorizer", I(6, 7, high=4), opset=9, mode="TF", min_gram_length=1,
         max_gram_length=2, max_skip_count=0, ngram_counts=[0, 3], ngram_indexes=[0, 2, 1, 3, 4],
         pool_int64s=[1, 2, 3, 1, 2, 2, 3])


def register():
    for make in (shapes, indices, quantised, recurrences, transforms, text):
        make()
