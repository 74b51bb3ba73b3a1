#include "support/nets.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"

enum { FLOAT = 1, INT64 = 7, HALF = 10 };
enum { NAME = 48, NAMES_MAX = 4096 };

const net_sizes net_small_decoder = { .layers = 2,
                                      .batch = 8,
                                      .sequence = 1,
                                      .past = 255,
                                      .hidden = 2048,
                                      .heads = 16,
                                      .kv_heads = 8,
                                      .inner = 8192,
                                      .words = 32000 };

/* A model being written. Names of tensors live in it; its functions give the name of what they
 * make. */
typedef struct {
    test_onnx *m;
    test_graph *g;
    test_node *last;
    int dtype, layer, n;
    char names[NAMES_MAX][NAME];
} net;

static net *begin(int dtype)
{
    net *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    n->m = onnx_new(8, 17);
    n->g = onnx_main(n->m);
    n->dtype = dtype;
    n->layer = -1;
    return n;
}

static void finish(net *n, const char *path)
{
    onnx_write(n->m, path);
    onnx_free(n->m);
    free(n);
}

/* "3/q" in layer 3, "head" outside; a number behind it where it is not the first of that name. */
static const char *name_of(net *n, const char *what)
{
    if (n->n == NAMES_MAX)
        abort();
    char *name = n->names[n->n], plain[NAME];
    int same = 0;
    if (n->layer >= 0)
        snprintf(plain, sizeof plain, "%d/%s", n->layer, what);
    else
        snprintf(plain, sizeof plain, "%s", what);
    size_t length = strlen(plain);
    for (int i = 0; i < n->n; i++)
        same += strncmp(n->names[i], plain, length) == 0 &&
                (n->names[i][length] == 0 || n->names[i][length] == '.');
    if (same)
        snprintf(name, NAME, "%.36s.%d", plain, same);
    else
        snprintf(name, NAME, "%s", plain);
    return n->names[n->n++];
}

__attribute__((format(printf, 1, 2))) static const char *dims(const char *form, ...)
{
    static char text[8][160]; /* so many are used in one call */
    static int at;
    va_list list;
    at = (at + 1) % 8;
    va_start(list, form);
    vsnprintf(text[at], sizeof text[at], form, list);
    va_end(list);
    return text[at];
}

static const char *weight(net *n, const char *what, const char *shape)
{
    const char *name = name_of(n, what);
    onnx_weight_external(n->g, name, n->dtype, shape, "weights.bin", -1, -1);
    return name;
}

static const char *ints(net *n, int count, const int64_t *values)
{
    const char *name = name_of(n, "ints");
    onnx_weight_ints(n->g, name, dims("%d", count), values);
    return name;
}

#define INTS(n, ...)                                                                               \
    ints(n, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), (int64_t[]){ __VA_ARGS__ })

static const char *number(net *n)
{
    const char *name = name_of(n, "number");
    onnx_weight(n->g, name, n->dtype, "");
    return name;
}

/* inputs: names with commas between. */
static const char *op(net *n, const char *type, const char *what, const char *inputs)
{
    const char *out = name_of(n, what);
    n->last = onnx_node(n->g, type, out, inputs, out);
    return out;
}

static const char *op2(net *n, const char *type, const char *what, const char *a, const char *b)
{
    return op(n, type, what, dims("%s,%s", a, b));
}

static const char *product(net *n, const char *what, const char *x, int from, int to)
{
    return op2(n, "MatMul", what, x, weight(n, "w", dims("%d,%d", from, to)));
}

static const char *biased(net *n, const char *what, const char *x, int from, int to)
{
    const char *y = product(n, what, x, from, to);
    return op2(n, "Add", "bias", y, weight(n, "b", dims("%d", to)));
}

static const char *norm(net *n, const char *x, int hidden)
{
    const char *scale = weight(n, "scale", dims("%d", hidden));
    const char *y = op(n, "LayerNormalization", "norm",
                       dims("%s,%s,%s", x, scale, weight(n, "shift", dims("%d", hidden))));
    onnx_attr_int(n->g, n->last, "axis", -1);
    return y;
}

static const char *rms_norm(net *n, const char *x, int hidden)
{
    const char *square = op2(n, "Pow", "square", x, number(n));
    const char *mean = op(n, "ReduceMean", "mean", square);
    onnx_attr_ints(n->g, n->last, "axes", 1, (int64_t[]){ -1 });
    onnx_attr_int(n->g, n->last, "keepdims", 1);
    const char *root = op(n, "Sqrt", "root", op2(n, "Add", "eps", mean, number(n)));
    const char *y = op2(n, "Div", "normed", x, root);
    return op2(n, "Mul", "scaled", weight(n, "scale", dims("%d", hidden)), y);
}

static const char *transposed(net *n, const char *x, int rank, const int64_t *perm)
{
    const char *y = op(n, "Transpose", "transposed", x);
    onnx_attr_ints(n->g, n->last, "perm", rank, perm);
    return y;
}

/* [b, s, heads * d] -> [b, heads, s, d] */
static const char *to_heads(net *n, const net_sizes *s, const char *x, int heads)
{
    int d = s->hidden / s->heads;
    const char *y = op2(n, "Reshape", "heads", x, INTS(n, s->batch, s->sequence, heads, d));
    return transposed(n, y, 4, (int64_t[]){ 0, 2, 1, 3 });
}

static const char *from_heads(net *n, const net_sizes *s, const char *x)
{
    const char *y = transposed(n, x, 4, (int64_t[]){ 0, 2, 1, 3 });
    return op2(n, "Reshape", "flat", y, INTS(n, s->batch, s->sequence, s->hidden));
}

/* q, k, v: [b, heads, s, d] */
static const char *attend(net *n, const char *q, const char *k, const char *v)
{
    const char *t = transposed(n, k, 4, (int64_t[]){ 0, 1, 3, 2 });
    const char *scores = op2(n, "Div", "scores", op2(n, "MatMul", "qk", q, t), number(n));
    const char *share = op(n, "Softmax", "softmax", scores);
    onnx_attr_int(n->g, n->last, "axis", -1);
    return op2(n, "MatMul", "sv", share, v);
}

static const char *gelu(net *n, const char *x)
{
    const char *e = op(n, "Erf", "erf", op2(n, "Div", "by_root", x, number(n)));
    const char *y = op2(n, "Mul", "gate", x, op2(n, "Add", "one", e, number(n)));
    return op2(n, "Mul", "half", y, number(n));
}

/* -- llama -- */

/* The halves of d are swapped and turned. */
static const char *rotated(net *n, const char *x, int d, const char *cos, const char *sin)
{
    const char *last = INTS(n, 3), *start = INTS(n, 0), *half = INTS(n, d / 2), *end = INTS(n, d);
    const char *a = op(n, "Slice", "first", dims("%s,%s,%s,%s", x, start, half, last));
    const char *b = op(n, "Slice", "second", dims("%s,%s,%s,%s", x, half, end, last));
    const char *turned = op2(n, "Concat", "turned", op(n, "Neg", "neg", b), a);
    onnx_attr_int(n->g, n->last, "axis", -1);
    return op2(n, "Add", "rotated", op2(n, "Mul", "by_cos", x, cos),
               op2(n, "Mul", "by_sin", turned, sin));
}

/* Behind what the cache has; the new cache is an output. */
static const char *cached(net *n, const net_sizes *s, const char *x, const char *what)
{
    if (s->past == 0)
        return x;
    int d = s->hidden / s->heads;
    const char *past = name_of(n, dims("past_%s", what));
    onnx_input(n->g, past, n->dtype, dims("%d,%d,%d,%d", s->batch, s->kv_heads, s->past, d));
    const char *all = op2(n, "Concat", what, past, x);
    onnx_attr_int(n->g, n->last, "axis", 2);
    onnx_output(n->g, all, n->dtype,
                dims("%d,%d,%d,%d", s->batch, s->kv_heads, s->past + s->sequence, d));
    return all;
}

/* [b, kv, s, d] -> [b, kv * times, s, d] */
static const char *repeated(net *n, const net_sizes *s, const char *x)
{
    int times = s->heads / s->kv_heads, d = s->hidden / s->heads, all = s->past + s->sequence;
    if (times == 1)
        return x;
    const char *y = op2(n, "Unsqueeze", "one_more", x, INTS(n, 2));
    y = op2(n, "Expand", "repeated", y, INTS(n, s->batch, s->kv_heads, times, all, d));
    return op2(n, "Reshape", "shared", y, INTS(n, s->batch, s->heads, all, d));
}

static const char *llama_attention(net *n, const net_sizes *s, const char *x, const char *cos,
                                   const char *sin)
{
    int d = s->hidden / s->heads;
    const char *q = to_heads(n, s, product(n, "q", x, s->hidden, s->hidden), s->heads);
    const char *k = to_heads(n, s, product(n, "k", x, s->hidden, s->kv_heads * d), s->kv_heads);
    const char *v = to_heads(n, s, product(n, "v", x, s->hidden, s->kv_heads * d), s->kv_heads);
    q = rotated(n, q, d, cos, sin);
    k = cached(n, s, rotated(n, k, d, cos, sin), "key");
    v = cached(n, s, v, "value");
    const char *y = from_heads(n, s, attend(n, q, repeated(n, s, k), repeated(n, s, v)));
    return product(n, "o", y, s->hidden, s->hidden);
}

static const char *swiglu(net *n, const net_sizes *s, const char *x)
{
    const char *gate = product(n, "gate", x, s->hidden, s->inner);
    const char *up = product(n, "up", x, s->hidden, s->inner);
    const char *silu = op2(n, "Mul", "silu", gate, op(n, "Sigmoid", "sigmoid", gate));
    return product(n, "down", op2(n, "Mul", "gated", silu, up), s->inner, s->hidden);
}

static const char *experts(net *n, const net_sizes *s, const char *x)
{
    int rows = s->batch * s->sequence;
    const char *flat = op2(n, "Reshape", "rows", x, INTS(n, rows, s->hidden));
    const char *router = product(n, "router", flat, s->hidden, s->experts);
    const char *up = weight(n, "up", dims("%d,%d,%d", s->experts, s->inner, s->hidden));
    const char *down = weight(n, "down", dims("%d,%d,%d", s->experts, s->hidden, s->inner));
    const char *y = op(n, "MoE", "moe", dims("%s,%s,%s,,%s", flat, router, up, down));
    onnx_node_domain(n->g, n->last, "com.microsoft", NULL);
    onnx_attr_int(n->g, n->last, "k", 2);
    onnx_attr_string(n->g, n->last, "activation_type", "silu");
    return op2(n, "Reshape", "unrows", y, INTS(n, s->batch, s->sequence, s->hidden));
}

static void end_with(net *n, const net_sizes *s, const char *x)
{
    n->layer = -1;
    int width = s->words ? s->words : s->hidden;
    if (s->words)
        x = product(n, "head", x, s->hidden, s->words);
    onnx_output(n->g, x, n->dtype, dims("%d,%d,%d", s->batch, s->sequence, width));
}

void net_llama(const net_sizes *s, const char *path)
{
    net *n = begin(HALF);
    int d = s->hidden / s->heads;
    const char *x = name_of(n, "x"), *cos = name_of(n, "cos"), *sin = name_of(n, "sin");
    onnx_opset(n->m, "com.microsoft", 1);
    onnx_input(n->g, x, HALF, dims("%d,%d,%d", s->batch, s->sequence, s->hidden));
    onnx_input(n->g, cos, HALF, dims("%d,1,%d,%d", s->batch, s->sequence, d));
    onnx_input(n->g, sin, HALF, dims("%d,1,%d,%d", s->batch, s->sequence, d));
    for (n->layer = 0; n->layer < s->layers; n->layer++) {
        x = op2(n, "Add", "sum", x, llama_attention(n, s, rms_norm(n, x, s->hidden), cos, sin));
        const char *y = rms_norm(n, x, s->hidden);
        x = op2(n, "Add", "sum", x, s->experts ? experts(n, s, y) : swiglu(n, s, y));
    }
    n->layer = -1;
    end_with(n, s, rms_norm(n, x, s->hidden));
    finish(n, path);
}

/* -- gpt-2 and bert -- */

static const char *gemm(net *n, const char *what, const char *x, int from, int to)
{
    const char *w = weight(n, "w", dims("%d,%d", from, to));
    return op(n, "Gemm", what, dims("%s,%s,%s", x, w, weight(n, "b", dims("%d", to))));
}

static const char *rows(net *n, const net_sizes *s, const char *x, int width)
{
    return op2(n, "Reshape", "rows", x, INTS(n, s->batch * s->sequence, width));
}

static const char *unrows(net *n, const net_sizes *s, const char *x, int width)
{
    return op2(n, "Reshape", "unrows", x, INTS(n, s->batch, s->sequence, width));
}

static const char *gpt2_attention(net *n, const net_sizes *s, const char *x)
{
    int h = s->hidden;
    const char *all = unrows(n, s, gemm(n, "qkv", rows(n, s, x, h), h, 3 * h), 3 * h);
    const char *q = name_of(n, "q"), *k = name_of(n, "k"), *v = name_of(n, "v");
    n->last = onnx_node(n->g, "Split", q, dims("%s,%s", all, INTS(n, h, h, h)),
                        dims("%s,%s,%s", q, k, v));
    onnx_attr_int(n->g, n->last, "axis", 2);
    const char *y =
        attend(n, to_heads(n, s, q, s->heads), cached(n, s, to_heads(n, s, k, s->heads), "key"),
               cached(n, s, to_heads(n, s, v, s->heads), "value"));
    return unrows(n, s, gemm(n, "o", rows(n, s, from_heads(n, s, y), h), h, h), h);
}

static const char *gpt2_mlp(net *n, const net_sizes *s, const char *x)
{
    const char *up = gemm(n, "up", rows(n, s, x, s->hidden), s->hidden, s->inner);
    const char *y = gelu(n, unrows(n, s, up, s->inner));
    const char *down = gemm(n, "down", rows(n, s, y, s->inner), s->inner, s->hidden);
    return unrows(n, s, down, s->hidden);
}

void net_gpt2(const net_sizes *s, const char *path)
{
    net *n = begin(HALF);
    const char *x = name_of(n, "x");
    onnx_input(n->g, x, HALF, dims("%d,%d,%d", s->batch, s->sequence, s->hidden));
    for (n->layer = 0; n->layer < s->layers; n->layer++) {
        x = op2(n, "Add", "sum", x, gpt2_attention(n, s, norm(n, x, s->hidden)));
        x = op2(n, "Add", "sum", x, gpt2_mlp(n, s, norm(n, x, s->hidden)));
    }
    n->layer = -1;
    end_with(n, s, norm(n, x, s->hidden));
    finish(n, path);
}

static const char *bert_attention(net *n, const net_sizes *s, const char *x)
{
    int h = s->hidden;
    const char *q = to_heads(n, s, biased(n, "q", x, h, h), s->heads);
    const char *k = to_heads(n, s, biased(n, "k", x, h, h), s->heads);
    const char *v = to_heads(n, s, biased(n, "v", x, h, h), s->heads);
    return biased(n, "o", from_heads(n, s, attend(n, q, k, v)), h, h);
}

static const char *mlp(net *n, const net_sizes *s, const char *x)
{
    const char *y = gelu(n, biased(n, "up", x, s->hidden, s->inner));
    return biased(n, "down", y, s->inner, s->hidden);
}

void net_bert(const net_sizes *s, const char *path)
{
    net *n = begin(HALF);
    const char *x = name_of(n, "x");
    onnx_input(n->g, x, HALF, dims("%d,%d,%d", s->batch, s->sequence, s->hidden));
    for (n->layer = 0; n->layer < s->layers; n->layer++) {
        x = norm(n, op2(n, "Add", "sum", x, bert_attention(n, s, x)), s->hidden);
        x = norm(n, op2(n, "Add", "sum", x, mlp(n, s, x)), s->hidden);
    }
    end_with(n, s, x);
    finish(n, path);
}

/* -- images -- */

enum { PATCH = 16 };

static const char *conv(net *n, const char *what, const char *x, int from, int to, int kernel,
                        int stride, int pad)
{
    const char *w = weight(n, "w", dims("%d,%d,%d,%d", to, from, kernel, kernel));
    const char *y = op(n, "Conv", what, dims("%s,%s,%s", x, w, weight(n, "b", dims("%d", to))));
    onnx_attr_ints(n->g, n->last, "kernel_shape", 2, (int64_t[]){ kernel, kernel });
    onnx_attr_ints(n->g, n->last, "strides", 2, (int64_t[]){ stride, stride });
    onnx_attr_ints(n->g, n->last, "pads", 4, (int64_t[]){ pad, pad, pad, pad });
    return y;
}

/* sequence: the number of patches, a square. */
void net_vit(const net_sizes *s, const char *path)
{
    net *n = begin(FLOAT);
    int side = 1, h = s->hidden;
    while (side * side < s->sequence)
        side++;
    const char *x = name_of(n, "image");
    onnx_input(n->g, x, FLOAT, dims("%d,3,%d,%d", s->batch, side * PATCH, side * PATCH));
    x = conv(n, "patches", x, 3, h, PATCH, PATCH, 0);
    x = op2(n, "Reshape", "row", x, INTS(n, s->batch, h, s->sequence));
    x = transposed(n, x, 3, (int64_t[]){ 0, 2, 1 });
    x = op2(n, "Add", "placed", x, weight(n, "places", dims("1,%d,%d", s->sequence, h)));
    for (n->layer = 0; n->layer < s->layers; n->layer++) {
        x = op2(n, "Add", "sum", x, bert_attention(n, s, norm(n, x, h)));
        x = op2(n, "Add", "sum", x, mlp(n, s, norm(n, x, h)));
    }
    end_with(n, s, x);
    finish(n, path);
}

void net_resnet(int blocks, int batch, int channels, int side, const char *path)
{
    net *n = begin(FLOAT);
    int narrow = channels / 4;
    const char *x = name_of(n, "image");
    onnx_input(n->g, x, FLOAT, dims("%d,3,%d,%d", batch, 2 * side, 2 * side));
    x = op(n, "Relu", "relu", conv(n, "stem", x, 3, channels, 7, 2, 3));
    for (n->layer = 0; n->layer < blocks; n->layer++) {
        const char *y = op(n, "Relu", "relu", conv(n, "in", x, channels, narrow, 1, 1, 0));
        y = op(n, "Relu", "relu", conv(n, "middle", y, narrow, narrow, 3, 1, 1));
        y = conv(n, "out", y, narrow, channels, 1, 1, 0);
        x = op(n, "Relu", "relu", op2(n, "Add", "sum", y, x));
    }
    n->layer = -1;
    x = op(n, "GlobalAveragePool", "pool", x);
    x = op2(n, "Reshape", "flat", x, INTS(n, batch, channels));
    x = gemm(n, "head", x, channels, 1000);
    onnx_output(n->g, x, FLOAT, dims("%d,1000", batch));
    finish(n, path);
}

/* -- recommendation -- */

void net_dlrm(int tables, int64_t rows_of, int width, int batch, const char *path)
{
    enum { DENSE = 13, WIDE = 512, TABLES_MAX = 64 };
    net *n = begin(FLOAT);
    char all[TABLES_MAX * NAME];
    const char *x = name_of(n, "numbers");
    onnx_input(n->g, x, FLOAT, dims("%d,%d", batch, DENSE));
    x = op(n, "Relu", "relu", gemm(n, "bottom", x, DENSE, WIDE));
    x = op(n, "Relu", "relu", gemm(n, "bottom", x, WIDE, width));
    size_t used = (size_t)snprintf(all, sizeof all, "%s", x);
    for (n->layer = 0; n->layer < tables && n->layer < TABLES_MAX - 1; n->layer++) {
        const char *at = name_of(n, "index");
        onnx_input(n->g, at, INT64, dims("%d", batch));
        const char *table = weight(n, "table", dims("%lld,%d", (long long)rows_of, width));
        const char *row = op2(n, "Gather", "lookup", table, at);
        used += (size_t)snprintf(all + used, sizeof all - used, ",%s", row);
    }
    n->layer = -1;
    x = op(n, "Concat", "features", all);
    onnx_attr_int(n->g, n->last, "axis", 1);
    x = op(n, "Relu", "relu", gemm(n, "top", x, width * (tables + 1), WIDE));
    x = gemm(n, "top", x, WIDE, 1);
    onnx_output(n->g, x, FLOAT, dims("%d,1", batch));
    finish(n, path);
}
