/* writers.c - the functions that write rules. Those of one family stand in a file; ops.def names
 * them, "=reshape".
 */
#include "sharding/writers.h"

#include "sharding/write_attention.h"
#include "sharding/write_axes.h"
#include "sharding/write_products.h"
#include "sharding/write_reshape.h"
#include "sharding/write_window.h"

static const struct {
    const char *name;
    clv_rule_writer write;
    const char *about; /* what may be split */
} writers[] = {
    { "attention", clv_write_attention,
      "batch and heads, in groups that share keys and values; queries too unless they are causal" },
    { "concat", clv_write_concat,
      "all other axes; pieces of one size also along the axis, part by part" },
    { "conv", clv_write_conv,
      "batch, groups, output channels, input channels as a sum; the image with a border of the "
      "neighbours" },
    { "dropout", clv_write_dropout,
      "every axis, unless it is trained: then it draws random numbers" },
    { "einsum", clv_write_einsum,
      "each label is a factor, and reduced by sum where the output lacks it" },
    { "elements", clv_write_elements,
      "dimensions of one size on both sides, but the axis; when gathering, both axes" },
    { "gqa", clv_write_gqa, "batch and groups of heads; the caches with them" },
    { "mha", clv_write_mha, "batch and heads; the caches with them" },
    { "moe", clv_write_moe, "tokens, experts, and the inner dimension of each expert as a sum" },
    { "ms_attention", clv_write_ms_attention, "batch and heads; the caches with them" },
    { "nbits", clv_write_nbits,
      "rows, columns, and blocks of weights as a sum where they have no zero points" },
    { "norm_axes", clv_write_norm_axes, "axes that are not normalised" },
    { "pad", clv_write_pad, "axes that are not padded" },
    { "pool", clv_write_pool,
      "batch and channels; the image with a border of the neighbours where its edges do not "
      "count" },
    { "reduce", clv_write_reduce, "every axis; parts of a reduced axis are reduced again" },
    { "reshape", clv_write_reshape,
      "factors that both shapes have in common, read from the outermost dimension on" },
    { "same_dims", clv_write_same_dims, "batch and channels where they keep their size" },
    { "slice", clv_write_slice,
      "axes that are not cut; of an axis cut into pieces of one size each piece alike" },
    { "split", clv_write_split,
      "all other axes; pieces of one size also along the axis, part by part" },
    { "tile", clv_write_tile, "each axis within its repetitions" },
    { "transpose", clv_write_transpose, "every axis, wherever it goes" },
};

enum { N_WRITERS = (int)(sizeof writers / sizeof writers[0]) };

clv_rule_writer clv_rule_writer_find(clv_str name)
{
    for (int i = 0; i < N_WRITERS; i++)
        if (clv_str_is(name, writers[i].name))
            return writers[i].write;
    return NULL;
}

const char *clv_rule_writer_about(clv_str name)
{
    for (int i = 0; i < N_WRITERS; i++)
        if (clv_str_is(name, writers[i].name))
            return writers[i].about;
    return NULL;
}
