"""cases_ml.py - ai.onnx.ml, and steps of training."""
from onnx import helper

from cases import C, F, G, I, P, S, W, case

ML, TRAIN = "ai.onnx.ml", "ai.onnx.preview.training"


def ml(op, *inputs, opset=3, **rest):
    case(op, *inputs, domain=ML, opset=opset, **rest)


def rows():
    ml("ArrayFeatureExtractor", F(6, 7), C([0, 3, 5]))
    ml("Binarizer", F(6, 7))
    ml("Scaler", F(6, 7), offset=[0.5] * 7, scale=[2.0] * 7)
    ml("Scaler", F(6, 7), offset=[0.5], scale=[2.0])
    ml("Normalizer", F(6, 7), norm="L2")
    ml("CategoryMapper", I(6, 7, high=5), cats_int64s=[0, 1, 2], cats_strings=["a", "b", "c"])
    ml("LabelEncoder", I(6, 7, high=5), keys_int64s=[0, 1, 2], values_floats=[0.5, 1.0, 1.5])
    ml("LabelEncoder", W(["a", "b", "c"], 6, 7), keys_strings=["a", "b"], values_int64s=[3, 4])
    ml("FeatureVectorizer", F(6, 2), F(6, 3), inputdimensions=[2, 3])
    ml("Imputer", G([[0.0, float(i), 2.0] for i in range(7)], "float32"),
       imputed_value_floats=[7.0, 8.0, 9.0], replaced_value_float=0.0)
    ml("OneHotEncoder", I(6, 7, high=4), cats_int64s=[0, 1, 3])


def models():
    for op, more in (("LinearRegressor", {"targets": 2}),
                     ("LinearClassifier", {"classlabels_ints": [4, 7]})):
        ml(op, F(7, 3), coefficients=[0.5, 1.0, -1.0, 2.0, -0.5, 0.25], intercepts=[0.1, 0.2],
           **more, out=1 + (op == "LinearClassifier"))
    vectors = {"support_vectors": [0.0, 1.0, 1.0, 0.0, 0.5, 0.5], "kernel_type": "RBF",
               "kernel_params": [0.5, 0.0, 0.0], "rho": [0.1]}
    ml("SVMRegressor", F(7, 2), coefficients=[1.0, -0.5, 2.0], n_supports=3, **vectors)
    ml("SVMClassifier", F(7, 2), coefficients=[1.0, -0.5, 2.0, 0.5, 1.5, -1.0], out=2,
       classlabels_ints=[0, 1, 2], vectors_per_class=[1, 1, 1],
       **{**vectors, "rho": [0.1, 0.2, 0.3]})


def trees():
    nodes = {"nodes_treeids": [0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2] * 2,
             "nodes_featureids": [0, 0, 0, 1, 0, 0], "nodes_values": [0.25, 0, 0, -0.5, 0, 0],
             "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * 2,
             "nodes_truenodeids": [1, 0, 0] * 2, "nodes_falsenodeids": [2, 0, 0] * 2}
    leaves = [0, 0, 1, 1], [1, 2, 1, 2], [0, 1, 1, 0], [1.0, 2.0, 3.0, 4.0]
    for op, kind, more in (
            ("TreeEnsembleRegressor", "target", {"n_targets": 2}),
            ("TreeEnsembleClassifier", "class", {"classlabels_int64s": [5, 6, 7]})):
        parts = zip(("treeids", "nodeids", "ids", "weights"), leaves)
        ml(op, F(7, 2), out=1 + (kind == "class"), **nodes, **more,
           **{f"{kind}_{name}": value for name, value in parts})
    ml("TreeEnsemble", F(7, 2), opset=5, n_targets=2, tree_roots=[0],
       nodes_featureids=[0, 1], nodes_splits=helper.make_tensor("splits", 1, [2], [0.25, -0.5]),
       nodes_modes=helper.make_tensor("modes", 2, [2], [0, 0]), nodes_truenodeids=[0, 1],
       nodes_trueleafs=[1, 1], nodes_falsenodeids=[1, 2], nodes_falseleafs=[0, 1],
       leaf_targetids=[0, 1, 0],
       leaf_weights=helper.make_tensor("weights", 1, [3], [1.0, 2.0, 3.0]))


def training():
    for op, tensors, attrs in (
            ("Momentum", 3, {"alpha": 0.9, "beta": 0.5, "mode": "standard",
                             "norm_coefficient": 0.01}),
            ("Adagrad", 3, {"norm_coefficient": 0.01, "decay_factor": 0.1}), ("Adam", 4, {})):
        outs = tensors - 1
        case(op, S(0.1), S(3, "int64"), *[P(6, 7)] * tensors, domain=TRAIN, opset=1, out=outs,
             **attrs)
        case(op, S(0.1), S(3, "int64"), *[P(6, 7), P(4)] * tensors, domain=TRAIN, opset=1,
             out=2 * outs, **attrs)


def register():
    for make in (rows, models, trees, training):
        make()
