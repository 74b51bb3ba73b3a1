"""ref_ml.py - ai.onnx.ml: encoders, linear models, support vectors, trees."""
import numpy as np

from reference import kernel

ML = "ai.onnx.ml"


@kernel("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(call, x, indices):
    out = np.take(x, indices.ravel(), -1)
    return out.reshape(1, -1) if x.ndim == 1 else out


@kernel("Binarizer", domain=ML)
def binarizer(call, x):
    return (x > call.attr("threshold", 0.0)).astype(x.dtype)


@kernel("Scaler", domain=ML)
def scaler(call, x):
    return ((x - np.asarray(call.attr("offset", 0.0))) * np.asarray(
        call.attr("scale", 1.0))).astype(np.float32)


@kernel("Normalizer", domain=ML)
def normalizer(call, x):
    norm = call.attr("norm", "MAX")
    size = {"MAX": lambda: np.abs(x).max(-1, keepdims=True),
            "L1": lambda: np.abs(x).sum(-1, keepdims=True),
            "L2": lambda: np.sqrt(np.square(x).sum(-1, keepdims=True))}[norm]()
    return (x / size).astype(np.float32)


def looked_up(x, table, default, dtype):
    return np.array([table.get(v, default) for v in x.ravel().tolist()], dtype).reshape(x.shape)


@kernel("CategoryMapper", domain=ML)
def category_mapper(call, x):
    numbers, words = call.attr("cats_int64s"), call.attr("cats_strings")
    if x.dtype == object:
        return looked_up(x, dict(zip(words, numbers)), call.attr("default_int64", -1), np.int64)
    return looked_up(x, dict(zip(numbers, words)), call.attr("default_string", "_Unused"), object)


@kernel("LabelEncoder", domain=ML)
def label_encoder(call, x):
    keys = next(call.attr(k) for k in ("keys_int64s", "keys_strings", "keys_floats")
                if k in call.attrs)
    for name, dtype, default in (("int64", np.int64, -1), ("string", object, "_Unused"),
                                 ("float", np.float32, -0.0)):
        if f"values_{name}s" in call.attrs:
            table = dict(zip(keys, call.attr(f"values_{name}s")))
            return looked_up(x, table, call.attr("default_" + name, default), dtype)
    raise KeyError("values of a LabelEncoder")


@kernel("FeatureVectorizer", domain=ML)
def feature_vectorizer(call, *xs):
    sizes = call.attr("inputdimensions")
    return np.concatenate([x.reshape(len(x), -1)[:, :n] for x, n in zip(xs, sizes)],
                          1).astype(np.float32)


@kernel("Imputer", domain=ML)
def imputer(call, x):
    values = call.attr("imputed_value_floats") or call.attr("imputed_value_int64s")
    old = call.attr("replaced_value_float", 0.0) if x.dtype.kind == "f" else call.attr(
        "replaced_value_int64", 0)
    gone = np.isnan(x) if x.dtype.kind == "f" and np.isnan(old) else x == old
    return np.where(gone, np.asarray(values, x.dtype), x)


@kernel("OneHotEncoder", domain=ML)
def one_hot_encoder(call, x):
    kinds = call.attr("cats_strings") if x.dtype == object else call.attr("cats_int64s")
    return (x[..., None] == np.array(kinds, x.dtype)).astype(np.float32)


@kernel("LinearRegressor", domain=ML)
def linear_regressor(call, x):
    targets = call.attr("targets", 1)
    out = x @ np.asarray(call.attr("coefficients")).reshape(targets, -1).T
    return (out + np.asarray(call.attr("intercepts", [0.0] * targets))).astype(np.float32)


@kernel("LinearClassifier", domain=ML)
def linear_classifier(call, x):
    labels = np.asarray(call.attr("classlabels_ints"))
    scores = x @ np.asarray(call.attr("coefficients")).reshape(len(labels), -1).T
    scores = scores + np.asarray(call.attr("intercepts"))
    if call.attr("post_transform", "NONE") == "SOFTMAX":
        e = np.exp(scores - scores.max(1, keepdims=True))
        scores = e / e.sum(1, keepdims=True)
    return labels[scores.argmax(1)].astype(np.int64), scores.astype(np.float32)


def similarity(call, x, vectors):
    gamma, add, degree = call.attr("kernel_params", [0.0, 0.0, 0.0])
    kind = call.attr("kernel_type", "LINEAR")
    if kind == "RBF":
        return np.exp(-gamma * np.square(x[:, None] - vectors[None]).sum(-1))
    product = x @ vectors.T
    return {"LINEAR": lambda: product, "POLY": lambda: (gamma * product + add) ** degree,
            "SIGMOID": lambda: np.tanh(gamma * product + add)}[kind]()


@kernel("SVMRegressor", domain=ML)
def svm_regressor(call, x):
    vectors = np.asarray(call.attr("support_vectors")).reshape(call.attr("n_supports"), -1)
    out = similarity(call, x, vectors) @ np.asarray(call.attr("coefficients")) + call.attr("rho")[0]
    return out.reshape(-1, 1).astype(np.float32)


@kernel("SVMClassifier", domain=ML)
def svm_classifier(call, x):
    """Each pair of classes has a function; its sign is a vote. The first class wins ties."""
    counts, labels = call.attr("vectors_per_class"), np.asarray(call.attr("classlabels_ints"))
    n = len(labels)
    vectors = np.asarray(call.attr("support_vectors")).reshape(sum(counts), -1)
    weights = np.asarray(call.attr("coefficients")).reshape(n - 1, -1)
    near, first = similarity(call, x, vectors), np.cumsum([0] + counts)
    scores, votes, pair = [], np.zeros((len(x), n), int), 0
    for i in range(n):
        for j in range(i + 1, n):
            si, sj = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
            score = near[:, si] @ weights[j - 1, si] + near[:, sj] @ weights[i, sj]
            score = score + call.attr("rho")[pair]
            votes[:, i] += score > 0
            votes[:, j] += score <= 0
            scores.append(score)
            pair += 1
    return labels[votes.argmax(1)].astype(np.int64), np.stack(scores, 1).astype(np.float32)


def leaves_of(call, row):
    """The leaf of each tree that a row comes to: (tree, node)."""
    trees, ids = call.attr("nodes_treeids"), call.attr("nodes_nodeids")
    number = {key: i for i, key in enumerate(zip(trees, ids))}
    for tree in sorted(set(trees)):
        at = number[tree, 0]
        while call.attr("nodes_modes")[at] != "LEAF":
            value = row[call.attr("nodes_featureids")[at]]
            bound = np.float32(call.attr("nodes_values")[at])
            yes = {"BRANCH_LEQ": value <= bound, "BRANCH_LT": value < bound,
                   "BRANCH_GT": value > bound}[call.attr("nodes_modes")[at]]
            at = number[tree, call.attr("nodes_truenodeids" if yes else "nodes_falsenodeids")[at]]
        yield tree, ids[at]


def tree_sums(call, x, kind, n):
    out = np.zeros((len(x), n), np.float32)
    for r, row in enumerate(x):
        for leaf in leaves_of(call, row):
            keys = zip(call.attr(kind + "_treeids"), call.attr(kind + "_nodeids"))
            for i, key in enumerate(keys):
                if key == leaf:
                    out[r, call.attr(kind + "_ids")[i]] += call.attr(kind + "_weights")[i]
    return out


@kernel("TreeEnsembleRegressor", domain=ML)
def tree_regressor(call, x):
    return tree_sums(call, x, "target", call.attr("n_targets", 1))


@kernel("TreeEnsembleClassifier", domain=ML)
def tree_classifier(call, x):
    labels = np.asarray(call.attr("classlabels_int64s"))
    scores = tree_sums(call, x, "class", len(labels))
    return labels[scores.argmax(1)].astype(np.int64), scores


@kernel("TreeEnsemble", domain=ML)
def tree_ensemble(call, x):
    """Children are numbers of nodes, or of leaves where nodes_trueleafs says so; roots in
    tree_roots. Mode 0 goes to the true side where the value is at most the split."""
    from onnx import numpy_helper
    numbers = lambda name: numpy_helper.to_array(call.attr(name))
    splits, weights, modes = map(numbers, ("nodes_splits", "leaf_weights", "nodes_modes"))
    if modes.any():
        raise NotImplementedError("TreeEnsemble of other comparisons than <=")
    out = np.zeros((len(x), call.attr("n_targets")), x.dtype)
    for r, row in enumerate(x):
        for node in call.attr("tree_roots"):
            leaf = False
            while not leaf:
                value = row[call.attr("nodes_featureids")[node]]
                side = "true" if value <= splits[node] else "false"
                leaf = call.attr(f"nodes_{side}leafs")[node]
                node = call.attr(f"nodes_{side}nodeids")[node]
            out[r, call.attr("leaf_targetids")[node]] += weights[node]
    return out
