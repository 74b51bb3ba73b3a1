/* writers.h - the functions that write rules, by the name that ops.def gives them. */
#ifndef CLV_SHARDING_WRITERS_H
#define CLV_SHARDING_WRITERS_H

#include "sharding/resolve.h"

/* Name, and what may be split, in words. */
/* clang-format off */
#define CLV_WRITERS \
    CLV_WRITER(attention, "batch and heads, in groups that share keys and values; queries too unless they are causal") \
    CLV_WRITER(concat, "all other axes; pieces of one size also along the axis, part by part") \
    CLV_WRITER(conv, "batch, groups, output channels, input channels as a sum; the image with a border of the neighbours") \
    CLV_WRITER(dropout, "every axis, unless it is trained: then it draws random numbers") \
    CLV_WRITER(einsum, "each label is a factor, and reduced by sum where the output lacks it") \
    CLV_WRITER(elements, "dimensions of one size on both sides, but the axis; when gathering, both axes") \
    CLV_WRITER(gqa, "batch and groups of heads; the caches with them") \
    CLV_WRITER(mha, "batch and heads; the caches with them") \
    CLV_WRITER(moe, "tokens, experts, and the inner dimension of each expert as a sum") \
    CLV_WRITER(ms_attention, "batch and heads; the caches with them") \
    CLV_WRITER(nbits, "rows, columns, and blocks of weights as a sum where they have no zero points") \
    CLV_WRITER(norm_axes, "axes that are not normalised") \
    CLV_WRITER(pad, "axes that are not padded") \
    CLV_WRITER(pool, "batch and channels; the image with a border of the neighbours where its edges do not count") \
    CLV_WRITER(reduce, "every axis; parts of a reduced axis are reduced again") \
    CLV_WRITER(reshape, "factors that both shapes have in common, read from the outermost dimension on") \
    CLV_WRITER(same_dims, "batch and channels where they keep their size") \
    CLV_WRITER(slice, "axes that are not cut; of an axis cut into pieces of one size each piece alike") \
    CLV_WRITER(split, "all other axes; pieces of one size also along the axis, part by part") \
    CLV_WRITER(tile, "each axis within its repetitions") \
    CLV_WRITER(transpose, "every axis, wherever it goes")
/* clang-format on */

#define CLV_WRITER(name, about)                                                                    \
    clv_status clv_write_##name(clv_rule_context *w, clv_str param, const char **ret);
CLV_WRITERS
#undef CLV_WRITER

/* The end of every writer: the text, or no memory. */
clv_status clv_writer_done(clv_rule_context *w, const clv_rule_writing *t, const char **ret);

/* Reasons to stay whole. */
clv_status clv_writer_open(clv_rule_context *w);
clv_status clv_writer_bad_axis(clv_rule_context *w);

/* An axis as a file writes it, from -rank on; false: there is no such. */
bool clv_writer_axis(int64_t axis, int32_t rank, int32_t *ret);
/* "(a0,a1,n!,a3)": factors by axis, and `other` for the special ones. */
void clv_writer_axes(clv_rule_writing *t, int32_t rank, const bool *special, const char *other);

#endif
