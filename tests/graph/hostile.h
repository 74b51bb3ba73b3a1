/* hostile.h - inputs and attributes that no good file has, to draw from at random. */
#ifndef CLV_TESTS_GRAPH_HOSTILE_H
#define CLV_TESTS_GRAPH_HOSTILE_H

#include <stdint.h>
#include <stdio.h>

static const char *const hostile_types[] = {
    "?",
    "-",
    "float[...]",
    "float[2,3,8,8]",
    "float[n,?,4]",
    "float[]",
    "float[0,3]",
    "int64[k]",
    "int64[2]{1,2}",
    "int64[3]{-1,n,?}",
    "int64[0]{}",
    "int64[]{3}",
    "int64[2,2]{0,1,1,0}",
    "int64[1]{-9223372036854775808}",
    "int64[2]{9223372036854775807,-9223372036854775808}",
    "float[2]{0.5,2}",
    "float[]{1e30}",
    "bool[3]{1,0,?}",
    "bool[]{1}",
    "uint8[2,4,4]",
    "string[2]",
    "float[4611686018427387904,n]",
    "int32[5,1,7]",
    "float16[2,8,16]",
    "float[3,4]",
    "int64[0,1152921504606846976]{}",
    "int64[5,4611686018427387904,4,0]{}",
    "int64[16,1]{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}",
    "float[2,4611686018427387904,0]",
};

static const char *const hostile_attrs[] = {
    "",
    "axis=1",
    "axis=-9223372036854775808",
    "axis=9223372036854775807",
    "axes=[0,-1]",
    "axes=[-9223372036854775808]",
    "perm=[1,0]",
    "perm=[0,99]",
    "perm=[-1,-2]",
    "to=7",
    "to=-1",
    "keepdims=0",
    "kernel_shape=[2,2]",
    "kernel_shape=[9223372036854775807]",
    "pads=[1,1,1,1]",
    "pads=[-9223372036854775808,9223372036854775807]",
    "strides=[2,2]",
    "dilations=[1000000000]",
    "starts=[-9223372036854775808] ends=[9223372036854775807]",
    "starts=[0,1] ends=[2,2]",
    "shape=[-1,0]",
    "shape=[9223372036854775807,4]",
    "split=[1,1]",
    "equation=ij,jk->ik",
    "equation=...a->a...",
    "group=9223372036854775807",
    "num_heads=2 kv_num_heads=1",
    "q_num_heads=2 kv_num_heads=2",
    "blocksize=2",
    "blocksize=-9223372036854775808",
    "hidden_size=4",
    "hidden_size=-5",
    "K=8 N=9223372036854775807 bits=4 block_size=32",
    "mode=reflect",
    "dtype=11",
    "output_shape=[3,4]",
    "value_ints=[-9223372036854775808]",
    "upper=0",
    "num_outputs=0",
    "num_outputs=3",
    "start=-9223372036854775808 end=2",
    "axis=0.5",
    "scales=abc",
    "repeats=[9223372036854775807]",
    "largest=0",
    "keep=[1]",
    "noop_with_empty_axes=1",
    "state_window=9223372036854775807",
    "state_window=-1 dilation=9223372036854775807",
    "channels_last=1 dilation=2",
    "q_num_heads=9223372036854775807 kv_num_heads=1",
    "q_num_heads=-9223372036854775808",
    "max_ngram_size=9223372036854775807 n_head_per_ngram=9223372036854775807",
    "max_ngram_size=-9223372036854775808",
    "size=9223372036854775807 step=9223372036854775807",
    "size=2 dim=-9223372036854775808",
    "batch_dims=-9223372036854775808",
    "past_present_share_buffer=1",
    "min=2.5 max=-1e300",
};

static inline uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

static inline void draw_words(uint64_t *state, const char *const *pool, uint32_t n_pool, uint32_t n,
                              char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t k = 0; k < n && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s ", pool[draw(state, n_pool)]);
}

#endif
