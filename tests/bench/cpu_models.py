#!/usr/bin/env python3
"""cpu_models.py - models that keep a core busy for some milliseconds, for tests/bench/predict.py.

  cpu_models.py FOLDER [WIDER]    writes mlp, bert, llama, resnet and convnext, WIDER times as wide

The layers of the families of that name, few and narrow, with random weights; needs python3-onnx.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Net:
    """A graph in the making. Every call of an operator returns the name of what it writes."""

    def __init__(self, name, seed=0):
        self.name, self.nodes, self.weights, self.random = name, [], [], np.random.RandomState(seed)
        self.n = 0

    def op(self, kind, *inputs, outputs=1, name=None, **attrs):
        self.n += 1
        name = name or f"{kind}_{self.n}"
        outs = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), outs, name=name, **attrs))
        return outs[0] if outputs == 1 else outs

    def weight(self, *dims, scale=None):
        scale = scale or 1 / np.sqrt(np.prod(dims[1:]) if len(dims) > 1 else 4)
        return self.const(self.random.standard_normal(dims).astype(np.float32) * np.float32(scale))

    def const(self, value):
        self.n += 1
        name = f"c{self.n}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def scalar(self, value):
        return self.const(np.array(value, np.float32))

    def shape(self, *dims):
        return self.const(np.array(dims, np.int64))

    def dense(self, x, n_in, n_out, bias=True):
        y = self.op("MatMul", x, self.const(self.random.standard_normal((n_in, n_out))
                                            .astype(np.float32) / np.float32(np.sqrt(n_in))))
        return self.op("Add", y, self.weight(n_out, scale=0.1)) if bias else y

    def conv(self, x, n_in, n_out, kernel, stride=1, group=1):
        pad = kernel // 2
        return self.op("Conv", x, self.weight(n_out, n_in // group, kernel, kernel),
                       self.weight(n_out, scale=0.1), kernel_shape=[kernel, kernel],
                       strides=[stride, stride], pads=[pad] * 4, group=group)

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1,
                       epsilon=1e-5)

    def rms(self, x, width):
        square = self.op("ReduceMean", self.op("Pow", x, self.scalar(2)), axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", square, self.scalar(1e-5)))
        return self.op("Mul", self.op("Div", x, root), self.weight(width))

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.scalar(1.4142135)))
        return self.op("Mul", self.op("Mul", x, self.op("Add", erf, self.scalar(1))),
                       self.scalar(0.5))

    def heads(self, x, batch, tokens, heads, size, perm=(0, 2, 1, 3)):
        return self.op("Transpose", self.op("Reshape", x, self.shape(batch, tokens, heads, size)),
                       perm=list(perm))

    def attention(self, x, batch, tokens, width, heads, bias=True):
        size = width // heads
        q = self.heads(self.dense(x, width, width, bias), batch, tokens, heads, size)
        k = self.heads(self.dense(x, width, width, bias), batch, tokens, heads, size, (0, 2, 3, 1))
        v = self.heads(self.dense(x, width, width, bias), batch, tokens, heads, size)
        scores = self.op("Softmax", self.op("Div", self.op("MatMul", q, k),
                                            self.scalar(np.sqrt(size))), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", scores, v), perm=[0, 2, 1, 3])
        return self.dense(self.op("Reshape", mixed, self.shape(batch, tokens, width)), width,
                          width, bias)

    def save(self, folder, x, x_dims, y, y_dims):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(x, TensorProto.FLOAT, x_dims)],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, y_dims)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        onnx.save(model, os.path.join(folder, self.name + ".onnx"))


def mlp(folder, wider, batch=128, layers=8):
    width = 384 * wider
    net, x = Net("mlp"), "x"
    for _ in range(layers // 2):
        x = net.op("Relu", net.dense(x, width, 3 * width))
        x = net.op("Relu", net.dense(x, 3 * width, width))
    net.save(folder, "x", [batch, width], x, [batch, width])


def bert(folder, wider, batch=2, tokens=64, layers=4):
    width, heads = 256 * wider, 4 * wider
    net = Net("bert")
    x = net.norm("x", width)
    for _ in range(layers):
        x = net.norm(net.op("Add", x, net.attention(x, batch, tokens, width, heads)), width)
        y = net.dense(net.gelu(net.dense(x, width, 4 * width)), 4 * width, width)
        x = net.norm(net.op("Add", x, y), width)
    net.save(folder, "x", [batch, tokens, width], x, [batch, tokens, width])


def llama(folder, wider, batch=2, tokens=96, layers=5):
    width, heads, hidden = 192 * wider, 6 * wider, 512 * wider
    net, x = Net("llama"), "x"
    for _ in range(layers):
        x = net.op("Add", x, net.attention(net.rms(x, width), batch, tokens, width, heads, False))
        h = net.rms(x, width)
        gate = net.dense(h, width, hidden, False)
        gate = net.op("Mul", gate, net.op("Sigmoid", gate))
        up = net.op("Mul", gate, net.dense(h, width, hidden, False))
        x = net.op("Add", x, net.dense(up, hidden, width, False))
    net.save(folder, "x", [batch, tokens, width], net.rms(x, width), [batch, tokens, width])


def resnet(folder, wider, batch=2, size=64):
    net, width = Net("resnet"), 32 * wider
    x = net.op("Relu", net.conv("x", 3, width, 7, 2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for stage in range(3):
        for block in range(2):
            stride, n_in = (2, width) if stage and not block else (1, width)
            width *= stride
            y = net.op("Relu", net.conv(x, n_in, width, 3, stride))
            y = net.conv(y, width, width, 3)
            if stride > 1:
                x = net.conv(x, n_in, width, 1, stride)
            x = net.op("Relu", net.op("Add", x, y))
    x = net.op("Flatten", net.op("GlobalAveragePool", x), axis=1)
    net.save(folder, "x", [batch, 3, size, size], net.dense(x, width, 100), [batch, 100])


def convnext(folder, wider, batch=2, size=56, blocks=6):
    net, width = Net("convnext"), 64 * wider
    x = net.conv("x", 3, width, 4, 4)
    places = size // 4 + 1
    for _ in range(blocks):
        y = net.op("Transpose", net.conv(x, width, width, 7, group=width), perm=[0, 2, 3, 1])
        y = net.gelu(net.dense(net.norm(y, width), width, 4 * width))
        y = net.op("Transpose", net.dense(y, 4 * width, width), perm=[0, 3, 1, 2])
        x = net.op("Add", x, y)
    net.save(folder, "x", [batch, 3, size, size], x, [batch, width, places, places])


MODELS = [mlp, bert, llama, resnet, convnext]

if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for make in MODELS:
        make(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
