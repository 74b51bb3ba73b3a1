/* nets.h - the networks that people run, a few layers of each, at sizes that matter: weights are
 * declared, in a file that does not exist. Written to a path; half precision but where asked for.
 *
 * What one layer has is what its published definition has; names of nodes are "layer/what", so
 * that a test can ask for all "down" of a model.
 */
#ifndef CLV_TESTS_NETS_H
#define CLV_TESTS_NETS_H

#include <stdint.h>

typedef struct {
    int layers;
    int batch, sequence; /* tokens of one run */
    int past;            /* tokens in the caches; 0: none, all tokens see all */
    int hidden, heads;
    int kv_heads; /* llama: fewer share keys and values */
    int inner;    /* between the two products of a feed-forward layer */
    int experts;  /* MoE */
    int words;    /* of the product that ends it; 0: none */
} net_sizes;

/* Two layers that make the next token of eight sequences. */
extern const net_sizes net_small_decoder;

/* RMSNorm, rotary embedding, grouped-query attention over caches, SwiGLU; or experts instead of it
 * where there are some (com.microsoft MoE). */
void net_llama(const net_sizes *s, const char *path);
/* LayerNorm, one product for queries, keys and values as a Gemm of two dimensions, Gelu. */
void net_gpt2(const net_sizes *s, const char *path);
/* Norms behind the sums, three products with biases. */
void net_bert(const net_sizes *s, const char *path);
/* Patches by a convolution, then layers over [batch, patch, hidden] in single precision. */
void net_vit(const net_sizes *s, const char *path);
/* Blocks of three convolutions and a sum, in single precision. */
void net_resnet(int blocks, int batch, int channels, int side, const char *path);
/* Tables with so many rows of `width` in single precision, an MLP for numbers, an interaction by
 * concatenation, an MLP to one number. */
void net_dlrm(int tables, int64_t rows, int width, int batch, const char *path);

#endif
