/* shapes_ml.h - shape rules of ai.onnx.ml, whose classic models work on rows of features, of text,
 * and of the optimisers of ai.onnx.preview.training.
 */
#ifndef CLV_GRAPH_SHAPES_ML_H
#define CLV_GRAPH_SHAPES_ML_H

#include "graph/rule.h"

clv_shape_rule clv_shape_float_like;
clv_shape_rule clv_shape_cast_map;
clv_shape_rule clv_shape_category_mapper; /* strings to integers or the other way */
clv_shape_rule clv_shape_dict_vectorizer;
clv_shape_rule clv_shape_feature_vectorizer;
clv_shape_rule clv_shape_label_encoder;
/* Labels [N] and scores [N, classes]; the labels are strings or integers as the classes are. */
clv_shape_rule clv_shape_linear_classifier;
clv_shape_rule clv_shape_svm_classifier;
clv_shape_rule clv_shape_tree_ensemble_classifier;
/* Scores [N, targets]. */
clv_shape_rule clv_shape_linear_regressor;
clv_shape_rule clv_shape_svm_regressor;
/* TreeEnsembleRegressor gives floats, TreeEnsemble what it gets */
clv_shape_rule clv_shape_tree_ensemble;
clv_shape_rule clv_shape_one_hot_encoder;
clv_shape_rule clv_shape_zip_map; /* a sequence with one map, from class to score, for each row */

clv_shape_rule clv_shape_string_normalizer; /* stop words take elements away */
clv_shape_rule clv_shape_string_concat;
clv_shape_rule clv_shape_string_split; /* as many pieces as the string with most has */
clv_shape_rule clv_shape_tokenizer;    /* as many tokens as the longest text has */
clv_shape_rule clv_shape_regex_full_match;
clv_shape_rule clv_shape_tf_idf_vectorizer; /* a column for each index that an n-gram counts into */
clv_shape_rule clv_shape_ngram_repeat_block;
clv_shape_rule clv_shape_ngram_hash_mapping; /* ids of the heads of all runs, and the last ids */

/* Inputs are the rate, the count, and then runs of equal length: all tensors to be trained, all
 * gradients, and one run for each state. Outputs are the new tensors and the new states, in the
 * same runs without the gradients. */
clv_shape_rule clv_shape_adagrad;
clv_shape_rule clv_shape_momentum;
clv_shape_rule clv_shape_adam;
clv_shape_rule clv_shape_gradient; /* one derivative for each of xs, which are the first inputs */

#endif
