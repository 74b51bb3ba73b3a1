"""recommender_model.py - DLRM with its tables joined into one, as NVIDIA's DeepLearningExamples run it, without weights.

write(path, rows) makes a model with a symbol batch_size; rows: of each table. A lookup finds the rows of all tables at
once; sizes of the layers are those of DeepLearningExamples and of MLPerf.
"""
from onnx import helper

from model_builder import FLOAT, INT, Builder

DENSE, WIDTH = 13, 128                  # numeric features, elements of an embedding
BOTTOM, TOP = [512, 256, 128], [1024, 1024, 512, 256, 1]
# rows of the Criteo Terabyte tables, values that occur fewer than 15 times left out: "4B parameters"
CRITEO_F15 = [7912889, 33823, 17139, 7339, 20046, 4, 7105, 1382, 63, 5554114, 582469, 245828, 11, 2209, 10667, 104, 4, 968,
              15, 8165896, 2675940, 7156453, 302516, 12022, 97, 35]


def mlp(b, x, name, sizes, last):
    for i, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        p = f"{name}.{i}"
        x = b.op("Gemm", [x, b.weight(p + ".weight", [columns, rows]), b.weight(p + ".bias", [columns])], p, transB=1)
        x = b.op(last if i + 2 == len(sizes) else "Relu", [x], p + "/activation")
    return x


def write(path, rows):
    """returns the number of parameters"""
    b, info, n = Builder(FLOAT), helper.make_tensor_value_info, len(rows) + 1
    dense = mlp(b, "dense_x", "/bottom", [DENSE, *BOTTOM], "Relu")
    starts = [sum(rows[:i]) for i in range(len(rows))]
    found = b.op("Gather", [b.weight("tables", [sum(rows), WIDTH]), b.op("Add", ["sparse_x", b.numbers("starts", starts)], "/rows")],
                 "/lookup")
    x = b.op("Reshape", [dense, b.numbers("vector", [-1, 1, WIDTH])], "/vector")
    x = b.op("Concat", [x, found], "/vectors", axis=1)
    x = b.op("MatMul", [x, b.op("Transpose", [x], "/transpose", perm=[0, 2, 1])], "/interaction")
    x = b.op("Reshape", [x, b.numbers("pairs", [-1, n * n])], "/pairs")
    below = [i * n + j for i in range(n) for j in range(i)]
    x = b.op("Gather", [x, b.numbers("below", below)], "/below", axis=1)
    x = b.op("Concat", [dense, x], "/features", axis=1)
    x = mlp(b, x, "/top", [WIDTH + len(below), *TOP], "Sigmoid")
    b.save(path, "dlrm", [info("dense_x", FLOAT, ["batch_size", DENSE]), info("sparse_x", INT, ["batch_size", len(rows)])],
           [info(x, FLOAT, ["batch_size", 1])], 17)
    return b.parameters()
