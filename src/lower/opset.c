#include "lower/opset.h"

enum { CHANGES_MAX = 3 };

/* Versions from 2 to CLV_OPSET_PLAIN in which an operator changed, by name: from the history of
 * ONNX's operator schemas, which tests/lower/check_opsets.py holds this table against. */
static const struct {
    const char *type;
    int8_t version[CHANGES_MAX];
} changes[] = {
    { "Abs", { 6 } },
    { "Add", { 6, 7 } },
    { "And", { 7 } },
    { "AveragePool", { 7 } },
    { "BatchNormalization", { 6, 7, 9 } },
    { "Cast", { 6, 9 } },
    { "Ceil", { 6 } },
    { "Clip", { 6 } },
    { "Concat", { 4 } },
    { "Constant", { 9 } },
    { "Div", { 6, 7 } },
    { "Dropout", { 6, 7 } },
    { "Elu", { 6 } },
    { "Equal", { 7 } },
    { "Exp", { 6 } },
    { "Flatten", { 9 } },
    { "Floor", { 6 } },
    { "GRU", { 3, 7 } },
    { "Gemm", { 6, 7, 9 } },
    { "GlobalLpPool", { 2 } },
    { "Greater", { 7, 9 } },
    { "HardSigmoid", { 6 } },
    { "InstanceNormalization", { 6 } },
    { "LSTM", { 7 } },
    { "LeakyRelu", { 6 } },
    { "Less", { 7, 9 } },
    { "Log", { 6 } },
    { "LpPool", { 2 } },
    { "MatMul", { 9 } },
    { "Max", { 6, 8 } },
    { "MaxPool", { 8 } },
    { "Mean", { 6, 8 } },
    { "Min", { 6, 8 } },
    { "Mul", { 6, 7 } },
    { "Neg", { 6 } },
    { "Or", { 7 } },
    { "PRelu", { 6, 7, 9 } },
    { "Pad", { 2 } },
    { "Pow", { 7 } },
    { "RNN", { 7 } },
    { "Reciprocal", { 6 } },
    { "Relu", { 6 } },
    { "Reshape", { 5 } },
    { "Scan", { 9 } },
    { "Selu", { 6 } },
    { "Sigmoid", { 6 } },
    { "Split", { 2 } },
    { "Sqrt", { 6 } },
    { "Sub", { 6, 7 } },
    { "Sum", { 6, 8 } },
    { "Tanh", { 6 } },
    { "Tile", { 6 } },
    { "Upsample", { 7, 9 } },
    { "Xor", { 7 } },
};

/* Did its definition change after version `from`, up to `to`? O(log of the table). */
static bool operator_changed(clv_str type, int32_t from, int32_t to)
{
    int32_t low = 0, high = (int32_t)(sizeof changes / sizeof *changes);
    while (low < high) {
        int32_t middle = (low + high) / 2,
                order = clv_str_cmp(type, clv_str_of(changes[middle].type));
        if (order == 0) {
            for (int32_t i = 0; i < CHANGES_MAX; i++)
                if (changes[middle].version[i] > from && changes[middle].version[i] <= to)
                    return true;
            return false;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Bodies are few levels deep, as the reader has seen to. */
static bool graph_changed(const clv_graph *g, int32_t from, int32_t to)
{
    for (int32_t i = 0; i < g->n_ops; i++) {
        const clv_op_info *op = &g->ops[i];
        if (op->domain.n == 0 && operator_changed(op->type, from, to))
            return true;
        for (int32_t k = 0; k < op->n_attr; k++) {
            const clv_attr *attr = &g->attrs[op->first_attr + k];
            bool graphs = attr->kind == CLV_ATTR_GRAPH || attr->kind == CLV_ATTR_GRAPHS;
            for (int32_t j = 0; graphs && j < attr->n; j++)
                if (graph_changed(attr->graph[j], from, to))
                    return true;
        }
    }
    return false;
}

int32_t clv_opset_for(const clv_model *model)
{
    enum { OPSET_OF_OTHERS = 13 }; /* where a model has operators of other domains alone */
    int64_t own = clv_graph_opset(model->main, (clv_str){ 0 });
    if (own <= 0)
        return OPSET_OF_OTHERS;
    if (own >= CLV_OPSET_PLAIN || model->n_functions > 0 ||
        graph_changed(model->main, (int32_t)own, CLV_OPSET_PLAIN))
        return own > INT32_MAX ? INT32_MAX : (int32_t)own;
    return CLV_OPSET_PLAIN;
}
