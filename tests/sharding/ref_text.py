"""ref_text.py - strings."""
import re

import numpy as np

from reference import kernel


def each(function, dtype):
    return lambda x: np.array([function(v) for v in x.ravel()], dtype).reshape(x.shape)


@kernel("StringConcat")
def string_concat(call, a, b):
    return a + b


@kernel("RegexFullMatch")
def regex_full_match(call, x):
    return each(lambda s: re.fullmatch(call.attr("pattern"), s) is not None, bool)(x)


@kernel("TfIdfVectorizer")
def tf_idf(call, x):
    """For each row: how often each n-gram of the pool occurs, by the columns of ngram_indexes."""
    starts, columns = call.attr("ngram_counts"), call.attr("ngram_indexes")
    pool = call.attr("pool_int64s") or call.attr("pool_strings")
    weights = call.attr("weights") or [1.0] * len(columns)
    grams, at = {}, 0
    for n, start in enumerate(starts, 1):
        end = starts[n] if n < len(starts) else len(pool)
        for i in range(start, end, n):
            grams[tuple(pool[i:i + n])] = at
            at += 1
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    out = np.zeros((len(rows), max(columns) + 1), np.float32)
    for r, row in enumerate(rows):
        for n in range(call.attr("min_gram_length"), call.attr("max_gram_length") + 1):
            for skip in range(call.attr("max_skip_count") + 1) if n > 1 else (0,):
                for i in range(len(row) - (n - 1) * (skip + 1)):
                    gram = tuple(row[i:i + (n - 1) * (skip + 1) + 1:skip + 1].tolist())
                    if gram in grams:
                        out[r, columns[grams[gram]]] += 1
    scale = np.zeros(out.shape[1], np.float32)
    scale[columns] = weights
    mode = call.attr("mode")
    if mode == "IDF":
        out = (out > 0) * scale
    elif mode == "TFIDF":
        out = out * scale
    out = out.astype(np.float32)
    return out[0] if x.ndim == 1 else out
