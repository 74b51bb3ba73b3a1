"""decoder_model.py - a decoder of the Llama family as one decode step with a cache of keys, without weights.

write(path, sizes) makes a model of opset 23 (Attention, RotaryEmbedding, RMSNormalization) with symbols
batch_size, sequence_length, past_sequence_length and total_sequence_length.
"""
from typing import NamedTuple

from onnx import helper

from model_builder import HALF, INT, Builder


class Sizes(NamedTuple):
    vocabulary: int
    hidden: int
    layers: int
    heads: int
    heads_of_keys: int
    intermediate: int
    head: int = 0             # elements of a head; 0: hidden over heads
    head_norms: bool = False  # each head of queries and keys is normalised, as in Qwen3


SIZES = {"8b": Sizes(128256, 4096, 32, 32, 8, 14336), "70b": Sizes(128256, 8192, 80, 64, 8, 28672),
         "405b": Sizes(128256, 16384, 126, 128, 8, 53248),
         "llama2_13b": Sizes(32000, 5120, 40, 40, 40, 13824), "llama2_70b": Sizes(32000, 8192, 80, 64, 8, 28672),
         "qwen3_32b": Sizes(151936, 5120, 64, 64, 8, 25600, 128, True)}


def head_norm(b, x, name, heads, head):
    """RMSNormalization of each head of a tensor [batch, sequence, heads * head]"""
    t = b.op("Reshape", [x, b.numbers(name + ".split", [0, 0, heads, head])], name + "/split")
    t = b.op("RMSNormalization", [t, b.weight(name + ".weight", [head])], name, axis=-1)
    return b.op("Reshape", [t, b.numbers(name + ".join", [0, 0, heads * head])], name + "/join")


def layer(b, x, i, s):
    d, h, kv, ff, hd, p = s.hidden, s.heads, s.heads_of_keys, s.intermediate, s.head or s.hidden // s.heads, f"/layers.{i}"
    n = b.op("RMSNormalization", [x, b.weight(p + ".norm1", [d])], p + "/norm1", axis=-1)
    q, k, v = (b.linear(n, f"{p}/{c}_proj", d, w * hd) for c, w in (("q", h), ("k", kv), ("v", kv)))
    if s.head_norms:
        q, k = head_norm(b, q, p + "/q_norm", h, hd), head_norm(b, k, p + "/k_norm", kv, hd)
    q, k = (b.op("RotaryEmbedding", [t, "cos", "sin", "position_ids"], f"{p}/{c}_rotary", num_heads=w)
            for t, c, w in ((q, "q", h), (k, "k", kv)))
    a = b.op("Attention", [q, k, v, "mask", f"past.{i}.key", f"past.{i}.value"], p + "/attention",
             [p + "/attention/out", f"present.{i}.key", f"present.{i}.value"], q_num_heads=h, kv_num_heads=kv)
    x = b.op("Add", [x, b.linear(a, p + "/o_proj", h * hd, d)], p + "/add1")
    n = b.op("RMSNormalization", [x, b.weight(p + ".norm2", [d])], p + "/norm2", axis=-1)
    gate, up = b.linear(n, p + "/gate_proj", d, ff), b.linear(n, p + "/up_proj", d, ff)
    m = b.op("Mul", [gate, b.op("Sigmoid", [gate], p + "/sigmoid")], p + "/silu")
    m = b.op("Mul", [m, up], p + "/mul")
    return b.op("Add", [x, b.linear(m, p + "/down_proj", ff, d)], p + "/add2")


def write(path, s):
    """returns the number of parameters"""
    v, d, h, kv, hd = s.vocabulary, s.hidden, s.heads, s.heads_of_keys, s.head or s.hidden // s.heads
    bs, sl, past, total = "batch_size", "sequence_length", "past_sequence_length", "total_sequence_length"
    b, info = Builder(), helper.make_tensor_value_info
    x = b.op("Gather", [b.weight("embedding", [v, d]), "input_ids"], "/embedding")
    b.weight("cos", [8192, hd // 2])
    b.weight("sin", [8192, hd // 2])
    for i in range(s.layers):
        x = layer(b, x, i, s)
    n = b.op("RMSNormalization", [x, b.weight("norm", [d])], "/norm", axis=-1)
    b.op("MatMul", [n, b.weight("lm_head", [d, v])], "/lm_head", ["logits"])
    ins = [info("input_ids", INT, [bs, sl]), info("position_ids", INT, [bs, sl]), info("mask", HALF, [bs, 1, sl, total])]
    outs = [info("logits", HALF, [bs, sl, v])]
    for i in range(s.layers):
        for part in ("key", "value"):
            ins.append(info(f"past.{i}.{part}", HALF, [bs, kv, past, hd]))
            outs.append(info(f"present.{i}.{part}", HALF, [bs, kv, total, hd]))
    b.save(path, "decoder", ins, outs)
    return b.parameters() - 2 * 8192 * (hd // 2)  # the tables of sines are no parameters
