"""speech_models.py - acoustic models of published sizes, without weights.

write_conv(path, sizes) makes Jasper 10x5 with dense residuals, or QuartzNet 15x5 with separable convolutions, as frameworks
run them: batch norms by themselves, not folded into the convolutions before them; no masks. Symbols: batch_size, frames.
write_audio_encoder(path, batch, frames) makes the audio encoder of Qwen3-Omni (32 layers of 1280) for clips of one
length: 100 mel frames at a time through three convolutions, 13 tokens each, attention over a clip.
"""
from typing import NamedTuple

from onnx import helper

from model_builder import FLOAT, HALF, Builder

MEL = 64      # features of a frame that Jasper and QuartzNet read
LABELS = 29   # characters and a blank


class ConvSizes(NamedTuple):
    blocks: list         # of (filters, kernel), in order
    repeats: int         # convolutions in a block
    last: tuple          # filters, kernel and dilation of the layer behind the blocks
    first: tuple = (256, 11)
    separable: bool = False
    dense: bool = False  # a block's residual is of all outputs before it, not of its input alone


def twice(pairs, n):
    return [p for p in pairs for _ in range(n)]


# Jasper: arXiv 1904.03288, table 1, and configs/jasper10x5dr_speca.yaml of NVIDIA's DeepLearningExamples; 333 M parameters
JASPER = ConvSizes(twice([(256, 11), (384, 13), (512, 17), (640, 21), (768, 25)], 2), 5, (896, 29, 2), dense=True)
# QuartzNet: arXiv 1910.10261, table 1; 18.9 M parameters
QUARTZNET = ConvSizes(twice([(256, 33), (256, 39), (512, 51), (512, 63), (512, 75)], 3), 5, (512, 87, 2), (256, 33), True)


def conv(b, x, name, channels, filters, kernel, stride=1, dilation=1, group=1):
    pad = dilation * (kernel - 1) // 2
    weight = b.weight(name + ".weight", [filters, channels // group, kernel])
    return b.op("Conv", [x, weight], name, kernel_shape=[kernel], strides=[stride], dilations=[dilation],
                pads=[pad, pad], group=group)


def normed(b, x, name, filters):
    parts = [b.weight(f"{name}.{part}", [filters]) for part in ("scale", "bias", "mean", "variance")]
    return b.op("BatchNormalization", [x, *parts], name + "/norm")


def unit(b, x, name, s, channels, filters, kernel, stride=1, dilation=1):
    """one convolution, or a depthwise and a pointwise one, and its norm"""
    if s.separable:
        x = conv(b, x, name + "/depthwise", channels, channels, kernel, stride, dilation, channels)
        kernel, stride, dilation = 1, 1, 1
    return normed(b, conv(b, x, name, channels, filters, kernel, stride, dilation), name, filters)


def block(b, seen, i, s, filters, kernel):
    """seen: outputs before this block with their channels; the last is its input"""
    x, channels = seen[-1]
    for j in range(s.repeats):
        x, channels = unit(b, x, f"/block{i}/conv{j}", s, channels, filters, kernel), filters
        if j + 1 < s.repeats:
            x = b.op("Relu", [x], f"/block{i}/relu{j}")
    for j, (r, width) in enumerate(seen if s.dense else seen[-1:]):
        r = normed(b, conv(b, r, f"/block{i}/residual{j}", width, filters, 1), f"/block{i}/residual{j}", filters)
        x = b.op("Add", [x, r], f"/block{i}/add{j}")
    return b.op("Relu", [x], f"/block{i}/relu"), filters


def write_conv(path, s):
    """returns the number of parameters"""
    b, info = Builder(FLOAT), helper.make_tensor_value_info
    x = b.op("Relu", [unit(b, "features", "/first", s, MEL, *s.first, stride=2)], "/first/relu")
    seen = [(x, s.first[0])]
    for i, (filters, kernel) in enumerate(s.blocks):
        seen.append(block(b, seen, i, s, filters, kernel))
    filters, kernel, dilation = s.last
    x = b.op("Relu", [unit(b, seen[-1][0], "/last", s, seen[-1][1], filters, kernel, 1, dilation)], "/last/relu")
    x = b.op("Relu", [normed(b, conv(b, x, "/widen", filters, 1024, 1), "/widen", 1024)], "/widen/relu")
    x = b.op("Transpose", [conv(b, x, "/labels", 1024, LABELS, 1)], "/transpose", perm=[0, 2, 1])
    b.op("LogSoftmax", [x], "/log_softmax", ["log_probabilities"], axis=-1)
    b.save(path, "acoustic", [info("features", FLOAT, ["batch_size", MEL, "frames"])],
           [info("log_probabilities", FLOAT, ["batch_size", None, LABELS])], 17)
    running = sum(w.dims[0] for w in b.weights if w.name.endswith((".mean", ".variance")))  # statistics, not parameters
    return b.parameters() - running


# audio_config of Qwen3-Omni-30B-A3B: mel bins, filters of its convolutions, width, layers, heads, intermediate, width out
BINS, FILTERS, WIDTH, LAYERS, HEADS, INNER, OUT = 128, 480, 1280, 32, 20, 5120, 2048
CHUNK = 100   # mel frames that go through the convolutions together (n_window 50, twice)
TOKENS = 13   # of a chunk: three convolutions of stride 2


def norm(b, x, name):
    return b.op("LayerNormalization", [x, b.weight(name + ".weight", [WIDTH]), b.weight(name + ".bias", [WIDTH])], name, axis=-1)


def encoder_layer(b, x, p):
    n = norm(b, x, p + "/norm1")
    q, k, v = (b.linear(n, f"{p}/{c}_proj", WIDTH, WIDTH, True) for c in "qkv")
    a = b.op("Attention", [q, k, v], p + "/attention", q_num_heads=HEADS, kv_num_heads=HEADS)
    x = b.op("Add", [x, b.linear(a, p + "/out_proj", WIDTH, WIDTH, True)], p + "/add1")
    n = b.op("Gelu", [b.linear(norm(b, x, p + "/norm2"), p + "/fc1", WIDTH, INNER, True)], p + "/gelu")
    return b.op("Add", [x, b.linear(n, p + "/fc2", INNER, WIDTH, True)], p + "/add2")


def write_audio_encoder(path, batch, frames):
    """frames: of each clip, a multiple of CHUNK; returns the number of parameters"""
    chunks, b, info = frames // CHUNK, Builder(), helper.make_tensor_value_info
    x, channels = "mel", 1
    for i in range(3):
        name = f"/conv{i + 1}"
        weights = [b.weight(name + ".weight", [FILTERS, channels, 3, 3]), b.weight(name + ".bias", [FILTERS])]
        x = b.op("Conv", [x, *weights], name, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        x, channels = b.op("Gelu", [x], name + "/gelu"), FILTERS
    x = b.op("Transpose", [x], "/transpose", perm=[0, 3, 1, 2])
    x = b.op("Reshape", [x, b.numbers("tokens", [0, TOKENS, FILTERS * BINS // 8])], "/flatten")
    x = b.linear(x, "/conv_out", FILTERS * BINS // 8, WIDTH)
    x = b.op("Add", [x, b.weight("positions", [TOKENS, WIDTH])], "/positions")
    x = b.op("Reshape", [x, b.numbers("clips", [batch, chunks * TOKENS, WIDTH])], "/clips")
    for i in range(LAYERS):
        x = encoder_layer(b, x, f"/layers.{i}")
    x = b.op("Gelu", [b.linear(norm(b, x, "/norm"), "/proj1", WIDTH, WIDTH, True)], "/gelu")
    x = b.linear(x, "/proj2", WIDTH, OUT, True)
    b.save(path, "audio_encoder", [info("mel", HALF, [batch * chunks, 1, BINS, CHUNK])],
           [info(x, HALF, [batch, chunks * TOKENS, OUT])])
    return b.parameters()
