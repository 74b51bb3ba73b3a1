#include "graph/shapes_ml.h"

#include "graph/shape_tools.h"

/* Rows of input 0: a vector is one row. */
static clv_dim rows(const clv_rule *r)
{
    const clv_type *in = clv_rule_in(r, 0);
    return clv_type_rank(in) == 1 ? 1 : clv_type_dim(in, 0);
}

static clv_status set_table(clv_rule *r, int32_t out, clv_dtype dtype, clv_dim n, clv_dim columns,
                            clv_error *err)
{
    return clv_rule_set(r, out, dtype, 2, (clv_dim[]){ n, columns }, err);
}

/* Elements of a list attribute; -1 if there is none. */
static int32_t list_length(const clv_rule *r, const char *name)
{
    const clv_attr *attr = clv_rule_attr(r, name);
    bool list = attr && (attr->kind == CLV_ATTR_INTS || attr->kind == CLV_ATTR_FLOATS ||
                         attr->kind == CLV_ATTR_STRINGS);
    return list && attr->n > 0 ? attr->n : -1;
}

static clv_dim dim_of_length(int32_t n) { return n < 0 ? CLV_DIM_UNKNOWN : n; }

clv_status clv_shape_float_like(clv_rule *r, clv_error *err)
{
    return clv_rule_set_like(r, 0, CLV_DT_FLOAT, clv_rule_in(r, 0), err);
}

clv_status clv_shape_cast_map(clv_rule *r, clv_error *err)
{
    clv_str to = clv_rule_attr_str(r, "cast_to", "TO_FLOAT");
    bool sparse = clv_str_is(clv_rule_attr_str(r, "map_form", "DENSE"), "SPARSE");
    int64_t max_map = clv_rule_attr_int(r, "max_map", 1);
    clv_dtype dtype = clv_str_is(to, "TO_STRING")  ? CLV_DT_STRING
                      : clv_str_is(to, "TO_INT64") ? CLV_DT_INT64
                                                   : CLV_DT_FLOAT;
    return set_table(r, 0, dtype, 1, sparse && max_map > 0 ? max_map : CLV_DIM_UNKNOWN, err);
}

clv_status clv_shape_category_mapper(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dtype dtype = in->dtype == CLV_DT_STRING  ? CLV_DT_INT64
                      : in->dtype == CLV_DT_INT64 ? CLV_DT_STRING
                                                  : CLV_DT_UNDEFINED;
    return clv_rule_set_like(r, 0, dtype, in, err);
}

clv_status clv_shape_dict_vectorizer(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int32_t n = list_length(r, "string_vocabulary");
    n = n < 0 ? list_length(r, "int64_vocabulary") : n;
    return set_table(r, 0,
                     in->kind == CLV_TYPE_MAP && in->elem ? in->elem->dtype : CLV_DT_UNDEFINED, 1,
                     dim_of_length(n), err);
}

clv_status clv_shape_feature_vectorizer(clv_rule *r, clv_error *err)
{
    const int64_t *widths;
    clv_dim sum = CLV_DIM_UNKNOWN;
    int32_t n;
    if (clv_rule_attr_ints(r, "inputdimensions", &widths, &n)) {
        sum = 0;
        for (int32_t i = 0; i < n; i++)
            sum = clv_dim_add(sum, widths[i]);
    }
    return set_table(r, 0, CLV_DT_FLOAT, rows(r), sum, err);
}

clv_status clv_shape_label_encoder(clv_rule *r, clv_error *err)
{
    static const struct {
        const char *name;
        clv_dtype dtype;
    } lists[] = { { "values_strings", CLV_DT_STRING },
                  { "values_int64s", CLV_DT_INT64 },
                  { "values_floats", CLV_DT_FLOAT } };
    const clv_type *in = clv_rule_in(r, 0);
    const clv_attr *tensor = clv_rule_attr(r, "values_tensor");
    if (tensor && tensor->kind == CLV_ATTR_TENSOR)
        return clv_rule_set_like(r, 0, tensor->tensor->dtype, in, err);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (list_length(r, lists[i].name) > 0)
            return clv_rule_set_like(r, 0, lists[i].dtype, in, err);
    return clv_shape_category_mapper(r, err); /* version 1: strings to integers or the other way */
}

static clv_status set_labels_and_scores(clv_rule *r, const char *strings, const char *ints,
                                        clv_error *err)
{
    int32_t n_strings = list_length(r, strings), n_ints = list_length(r, ints);
    int32_t n = n_strings > 0 ? n_strings : n_ints;
    clv_dtype dtype = n_strings > 0 ? CLV_DT_STRING : n_ints > 0 ? CLV_DT_INT64 : CLV_DT_UNDEFINED;
    clv_dim batch = rows(r);
    CLV_TRY(clv_rule_set(r, 0, dtype, 1, &batch, err));
    return set_table(r, 1, CLV_DT_FLOAT, batch, dim_of_length(n), err);
}

clv_status clv_shape_linear_classifier(clv_rule *r, clv_error *err)
{
    return set_labels_and_scores(r, "classlabels_strings", "classlabels_ints", err);
}

clv_status clv_shape_svm_classifier(clv_rule *r, clv_error *err)
{
    return set_labels_and_scores(r, "classlabels_strings", "classlabels_ints", err);
}

clv_status clv_shape_tree_ensemble_classifier(clv_rule *r, clv_error *err)
{
    return set_labels_and_scores(r, "classlabels_strings", "classlabels_int64s", err);
}

static clv_status set_targets(clv_rule *r, const char *attr, int64_t otherwise, clv_dtype dtype,
                              clv_error *err)
{
    int64_t targets = clv_rule_attr_int(r, attr, otherwise);
    if (clv_dim_is_number(targets) && targets < 1)
        return clv_rule_fail(r, err, "%s is %lld, expected at least 1", attr, (long long)targets);
    return set_table(r, 0, dtype, rows(r), targets, err);
}

clv_status clv_shape_linear_regressor(clv_rule *r, clv_error *err)
{
    return set_targets(r, "targets", 1, CLV_DT_FLOAT, err);
}

clv_status clv_shape_svm_regressor(clv_rule *r, clv_error *err)
{
    return set_table(r, 0, CLV_DT_FLOAT, rows(r), 1, err);
}

clv_status clv_shape_tree_ensemble(clv_rule *r, clv_error *err)
{
    bool regressor_form = clv_str_is(r->op->type, "TreeEnsembleRegressor");
    return set_targets(r, "n_targets", CLV_DIM_UNKNOWN,
                       regressor_form ? CLV_DT_FLOAT : clv_rule_in(r, 0)->dtype, err);
}

clv_status clv_shape_one_hot_encoder(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    int32_t n = list_length(r, "cats_int64s");
    clv_dim dims[CLV_RANK_MAX];
    n = n < 0 ? list_length(r, "cats_strings") : n;
    if (!clv_type_ranked(in) || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, CLV_DT_FLOAT, err);
    clv_dims_copy(dims, in->dims, in->rank);
    dims[in->rank] = dim_of_length(n);
    return clv_rule_set(r, 0, CLV_DT_FLOAT, in->rank + 1, dims, err);
}

clv_status clv_shape_zip_map(clv_rule *r, clv_error *err)
{
    static const clv_type score = { .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT };
    bool strings = list_length(r, "classlabels_strings") > 0;
    clv_type map = { .kind = CLV_TYPE_MAP,
                     .dtype = strings ? CLV_DT_STRING : CLV_DT_INT64,
                     .rank = CLV_RANK_UNKNOWN,
                     .elem = &score };
    return clv_rule_set_wrapped(r, 0, CLV_TYPE_SEQUENCE, &map, err);
}

/* -- text -- */

clv_status clv_shape_string_normalizer(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[2] = { 1, CLV_DIM_UNKNOWN };
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, CLV_DT_STRING, err);
    if (in->rank != 1 && in->rank != 2)
        return clv_rule_fail(r, err, "the input has rank %d, expected 1 or 2", in->rank);
    if (list_length(r, "stopwords") < 0 && clv_dim_is_number(in->dims[in->rank - 1]) &&
        in->dims[in->rank - 1] > 0)
        dims[1] = in->dims[in->rank - 1];
    return clv_rule_set(r, 0, CLV_DT_STRING, in->rank, dims + (2 - in->rank), err);
}

clv_status clv_shape_string_concat(clv_rule *r, clv_error *err)
{
    const clv_type *a = clv_rule_in(r, 0), *b = clv_rule_in(r, 1);
    clv_shape shape;
    if (!clv_type_ranked(a) || !clv_type_ranked(b))
        return clv_rule_set_unranked(r, 0, CLV_DT_STRING, err);
    clv_shape_copy(&shape, a);
    CLV_TRY(clv_rule_broadcast(r, &shape, b, err));
    return clv_rule_set(r, 0, CLV_DT_STRING, shape.rank, shape.dims, err);
}

clv_status clv_shape_tokenizer(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[CLV_RANK_MAX];
    if (!clv_type_ranked(in) || in->rank >= CLV_RANK_MAX)
        return clv_rule_set_unranked(r, 0, CLV_DT_STRING, err);
    clv_dims_copy(dims, in->dims, in->rank);
    dims[in->rank] = CLV_DIM_UNKNOWN;
    return clv_rule_set(r, 0, CLV_DT_STRING, in->rank + 1, dims, err);
}

clv_status clv_shape_string_split(clv_rule *r, clv_error *err)
{
    CLV_TRY(clv_rule_set_like(r, 1, CLV_DT_INT64, clv_rule_in(r, 0), err));
    return clv_shape_tokenizer(r, err);
}

clv_status clv_shape_regex_full_match(clv_rule *r, clv_error *err)
{
    return clv_rule_set_like(r, 0, CLV_DT_BOOL, clv_rule_in(r, 0), err);
}

clv_status clv_shape_tf_idf_vectorizer(clv_rule *r, clv_error *err)
{
    const clv_type *in = clv_rule_in(r, 0);
    clv_dim dims[2] = { clv_type_dim(in, 0), CLV_DIM_UNKNOWN };
    const int64_t *indexes;
    int32_t n;
    if (clv_rule_attr_ints(r, "ngram_indexes", &indexes, &n)) {
        int64_t highest = -1;
        for (int32_t i = 0; i < n; i++)
            highest = indexes[i] > highest ? indexes[i] : highest;
        dims[1] = clv_dim_add(highest, 1);
    }
    if (!clv_type_ranked(in))
        return clv_rule_set_unranked(r, 0, CLV_DT_FLOAT, err);
    if (in->rank != 1 && in->rank != 2)
        return clv_rule_fail(r, err, "the input has rank %d, expected 1 or 2", in->rank);
    return clv_rule_set(r, 0, CLV_DT_FLOAT, in->rank, in->rank == 1 ? dims + 1 : dims, err);
}

clv_status clv_shape_ngram_repeat_block(clv_rule *r, clv_error *err)
{
    return clv_rule_set_same(r, 0, 1, err);
}

clv_status clv_shape_ngram_hash_mapping(clv_rule *r, clv_error *err)
{
    const clv_type *ids = clv_rule_in(r, 0);
    int64_t longest = clv_rule_attr_int(r, "max_ngram_size", CLV_DIM_UNKNOWN);
    int64_t heads = clv_rule_attr_int(r, "n_head_per_ngram", CLV_DIM_UNKNOWN);
    CLV_TRY(clv_rule_want_rank(r, 0, 2, err));
    if ((clv_dim_is_number(longest) && longest < 2) || (clv_dim_is_number(heads) && heads < 1))
        return clv_rule_fail(r, err, "%lld heads for runs of up to %lld", (long long)heads,
                             (long long)longest);
    clv_dim before = clv_dim_add(longest, -1);
    clv_dim out[3] = { clv_type_dim(ids, 0), clv_type_dim(ids, 1), clv_dim_mul(before, heads) };
    clv_dim present[2] = { out[0], before };
    CLV_TRY(clv_rule_set(r, 0, ids->dtype, 3, out, err));
    return clv_rule_set(r, 1, ids->dtype, 2, present, err);
}

/* -- training -- */

#define BEFORE_RUNS 2

/* n_states: runs after tensors and gradients. */
static clv_status set_updated(clv_rule *r, int32_t n_states, clv_error *err)
{
    int32_t n_runs = 2 + n_states, n_given = clv_rule_n_in(r) - BEFORE_RUNS, n;
    if (n_given < n_runs || n_given % n_runs != 0)
        return clv_rule_fail(r, err, "%d inputs, expected 2 and a multiple of %d", clv_rule_n_in(r),
                             n_runs);
    n = n_given / n_runs;
    for (int32_t k = 0; k < clv_rule_n_out(r) && k < n * (1 + n_states); k++) {
        int32_t run = k / n;
        int32_t in_run = run == 0 ? 0 : run + 1; /* run 1 holds the gradients */
        CLV_TRY(clv_rule_set_same(r, k, BEFORE_RUNS + in_run * n + k % n, err));
    }
    return CLV_OK;
}

clv_status clv_shape_adagrad(clv_rule *r, clv_error *err) { return set_updated(r, 1, err); }
clv_status clv_shape_momentum(clv_rule *r, clv_error *err) { return set_updated(r, 1, err); }
clv_status clv_shape_adam(clv_rule *r, clv_error *err) { return set_updated(r, 2, err); }

clv_status clv_shape_gradient(clv_rule *r, clv_error *err)
{
    const clv_attr *xs = clv_rule_attr(r, "xs");
    int32_t n = xs && xs->kind == CLV_ATTR_STRINGS ? xs->n : 0;
    for (int32_t k = 0; k < clv_rule_n_out(r) && k < n; k++)
        CLV_TRY(clv_rule_set_same(r, k, k, err));
    return CLV_OK;
}
