"""model_builder.py - nodes and weights of a made ONNX model; its weights are declared to lie in a file that is not
there, since planning reads no weight.
"""
import onnx
from onnx import TensorProto, helper

HALF, FLOAT, INT = TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.INT64
BYTES = {HALF: 2, FLOAT: 4}


class Builder:
    def __init__(self, stored=HALF):
        """stored: element type of weights"""
        self.nodes, self.weights, self.offset, self.stored = [], [], 0, stored

    def weight(self, name, dims):
        t = TensorProto(name=name, data_type=self.stored, dims=dims, data_location=TensorProto.EXTERNAL)
        size = BYTES[self.stored]
        for d in dims:
            size *= d
        for key, value in (("location", "weights.bin"), ("offset", self.offset), ("length", size)):
            t.external_data.add(key=key, value=str(value))
        self.offset += size
        self.weights.append(t)
        return name

    def numbers(self, name, values):
        """a small constant of integers, stored in the file"""
        self.weights.append(helper.make_tensor(name, INT, [len(values)], values))
        return name

    def op(self, kind, inputs, name, outputs=None, **attrs):
        outputs = outputs or [name + "/out"]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, **attrs))
        return outputs[0]

    def linear(self, x, name, rows, columns, bias=False):
        y = self.op("MatMul", [x, self.weight(name + ".weight", [rows, columns])], name)
        return self.op("Add", [y, self.weight(name + ".bias", [columns])], name + "/bias") if bias else y

    def parameters(self):
        """elements of all weights"""
        return self.offset // BYTES[self.stored]

    def save(self, path, title, inputs, outputs, opset=23):
        graph = helper.make_graph(self.nodes, title, inputs, outputs, initializer=self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 10
        onnx.save(model, path)
