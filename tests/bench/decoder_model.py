"""decoder_model.py - a decoder of the Llama family as one decode step with a cache of keys, without weights.

write(path, sizes) makes a model of opset 23 (Attention, RotaryEmbedding, RMSNormalization) with symbols
batch_size, sequence_length, past_sequence_length and total_sequence_length; its weights are declared to lie
in a file that is not there, since planning reads no weight.
"""
import onnx
from onnx import TensorProto, helper

HALF, INT = TensorProto.FLOAT16, TensorProto.INT64
# vocabulary, hidden, layers, heads, heads of keys, intermediate
SIZES = {"8b": (128256, 4096, 32, 32, 8, 14336), "70b": (128256, 8192, 80, 64, 8, 28672)}


class Builder:
    def __init__(self):
        self.nodes, self.weights, self.offset = [], [], 0

    def weight(self, name, dims):
        t = TensorProto(name=name, data_type=HALF, dims=dims, data_location=TensorProto.EXTERNAL)
        size = 2
        for d in dims:
            size *= d
        for key, value in (("location", "weights.bin"), ("offset", self.offset), ("length", size)):
            t.external_data.add(key=key, value=str(value))
        self.offset += size
        self.weights.append(t)
        return name

    def op(self, kind, inputs, name, outputs=None, **attrs):
        outputs = outputs or [name + "/out"]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, **attrs))
        return outputs[0]

    def linear(self, x, name, rows, columns):
        return self.op("MatMul", [x, self.weight(name + ".weight", [rows, columns])], name)


def layer(b, x, i, sizes):
    _, d, _, h, kv, ff = sizes
    hd, p = d // h, f"/layers.{i}"
    n = b.op("RMSNormalization", [x, b.weight(p + ".norm1", [d])], p + "/norm1", axis=-1)
    q, k, v = (b.linear(n, f"{p}/{c}_proj", d, w * hd) for c, w in (("q", h), ("k", kv), ("v", kv)))
    q, k = (b.op("RotaryEmbedding", [t, "cos", "sin", "position_ids"], f"{p}/{c}_rotary", num_heads=w)
            for t, c, w in ((q, "q", h), (k, "k", kv)))
    a = b.op("Attention", [q, k, v, "mask", f"past.{i}.key", f"past.{i}.value"], p + "/attention",
             [p + "/attention/out", f"present.{i}.key", f"present.{i}.value"], q_num_heads=h, kv_num_heads=kv)
    x = b.op("Add", [x, b.linear(a, p + "/o_proj", d, d)], p + "/add1")
    n = b.op("RMSNormalization", [x, b.weight(p + ".norm2", [d])], p + "/norm2", axis=-1)
    gate, up = b.linear(n, p + "/gate_proj", d, ff), b.linear(n, p + "/up_proj", d, ff)
    m = b.op("Mul", [gate, b.op("Sigmoid", [gate], p + "/sigmoid")], p + "/silu")
    m = b.op("Mul", [m, up], p + "/mul")
    return b.op("Add", [x, b.linear(m, p + "/down_proj", ff, d)], p + "/add2")


def write(path, sizes):
    v, d, layers, h, kv, _ = sizes
    bs, s, past, total = "batch_size", "sequence_length", "past_sequence_length", "total_sequence_length"
    b, info = Builder(), helper.make_tensor_value_info
    x = b.op("Gather", [b.weight("embedding", [v, d]), "input_ids"], "/embedding")
    b.weight("cos", [8192, d // h // 2])
    b.weight("sin", [8192, d // h // 2])
    for i in range(layers):
        x = layer(b, x, i, sizes)
    n = b.op("RMSNormalization", [x, b.weight("norm", [d])], "/norm", axis=-1)
    b.op("MatMul", [n, b.weight("lm_head", [d, v])], "/lm_head", ["logits"])
    ins = [info("input_ids", INT, [bs, s]), info("position_ids", INT, [bs, s]), info("mask", HALF, [bs, 1, s, total])]
    outs = [info("logits", HALF, [bs, s, v])]
    for i in range(layers):
        for part in ("key", "value"):
            ins.append(info(f"past.{i}.{part}", HALF, [bs, kv, past, d // h]))
            outs.append(info(f"present.{i}.{part}", HALF, [bs, kv, total, d // h]))
    graph = helper.make_graph(b.nodes, "decoder", ins, outs, initializer=b.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)])
    model.ir_version = 10
    onnx.save(model, path)
