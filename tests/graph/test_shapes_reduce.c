/* Shapes are worked by hand from the operators' definitions. */
#include "op_case.h"

/* covers: A.058 */
Test(shapes_reduce, a_reduced_axis_becomes_one_or_goes)
{
    shape(11, "ReduceSum", "float[2,3,4]", "axes=[1]", "float[2,1,4]");
    shape(11, "ReduceMean", "float[2,n,4]", "axes=[0,-1] keepdims=0", "float[n]");
    shape(13, "ReduceSum", "float[2,3,4] int64[2]{0,2}", "keepdims=0", "float[3]");
    shape(18, "ReduceMax", "int32[2,3,4] int64[1]{-2}", "", "int32[2,1,4]");
}

Test(shapes_reduce, no_axes_are_all_axes_unless_said_otherwise)
{
    shape(11, "ReduceMin", "float[2,n]", "", "float[1,1]");
    shape(11, "ReduceL2", "float[2,n]", "keepdims=0", "float[]");
    shape(13, "ReduceSum", "float[2,n] int64[0]{}", "", "float[1,1]");
    shape(13, "ReduceSum", "float[2,n] int64[0]{}", "noop_with_empty_axes=1", "float[2,n]");
    shape(18, "ReduceProd", "float[2,n]", "noop_with_empty_axes=1", "float[2,n]");
    shape(13, "ReduceSum", "float[]", "", "float[]");
}

Test(shapes_reduce, axes_that_are_not_known_leave_what_they_may_change)
{
    shape(13, "ReduceSum", "float[2,1,4] int64[k]", "", "float[?,1,?]");
    shape(13, "ReduceSum", "float[2,3,4] int64[2]", "keepdims=0", "float[?]");
    shape(13, "ReduceSum", "float[2,3,4] int64[k]", "keepdims=0", "float[...]");
    shape(13, "ReduceSum", "float[2,3] int64[0]", "noop_with_empty_axes=1", "float[2,3]");
    shape(13, "ReduceSum", "float[...] int64[1]{0}", "", "float[...]");
}

Test(shapes_reduce, an_axis_out_of_range_is_named)
{
    fails(11, "ReduceSum", "float[2,3]", "axes=[2]", "axis 2 of a tensor of rank 2");
    fails(11, "ReduceSum", "float[2,3]", "axes=[-3]", "axis -3");
    fails(13, "ArgMax", "float[2,3]", "axis=5", "axis 5");
}

Test(shapes_reduce, places_of_extremes_are_whole_numbers)
{
    shape(13, "ArgMax", "float[2,3]", "", "int64[1,3]");
    shape(13, "ArgMin", "float[2,n]", "axis=-1 keepdims=0", "int64[2]");
    shape(13, "ArgMin", "float[...]", "", "int64[...]");
}

Test(shapes_reduce, most_normalisations_keep_the_type)
{
    shape(13, "Softmax", "float[2,n,5]", "axis=1", "float[2,n,5]");
    shape(1, "LRN", "float[1,4,8,8]", "size=3", "float[1,4,8,8]");
    shape(23, "RMSNormalization", "float16[2,n,64] float[64]", "", "float16[2,n,64]");
    shape(21, "GroupNormalization", "float[1,4,8] float[4] float[4]", "num_groups=2",
          "float[1,4,8]");
    shape(23, "RotaryEmbedding", "float[2,4,8,64] float[50,32] float[50,32] int64[2,8]", "",
          "float[2,4,8,64]");
    shape(14, "CumSum", "float[2,3] int32[]", "", "float[2,3]");
}

Test(shapes_reduce, batch_normalisation_in_training_gives_statistics_of_channels)
{
    shape(15, "BatchNormalization", "float[2,3,n,n] float[3] float[3] float[3] float[3]", "",
          "float[2,3,n,n]");
    shape(15, "BatchNormalization", "float16[2,3,4] float16[3] float16[3] float[3] float[3]",
          "training_mode=1", "float16[2,3,4] float[3] float[3]");
    shape(7, "BatchNormalization", "float[2,3,4] float[3] float[3] float[3] float[3]", "",
          "float[2,3,4] float[3] float[3] float[3] float[3]");
    fails(15, "BatchNormalization", "float[2,3] float[3] float[3] float[4] float[4]", "",
          "channels");
}

Test(shapes_reduce, layer_normalisation_keeps_the_rank_of_its_statistics)
{
    shape(17, "LayerNormalization", "float16[2,n,64] float16[64]", "",
          "float16[2,n,64] float[2,n,1] float[2,n,1]");
    shape(17, "LayerNormalization", "double[2,3,4] double[3,4]", "axis=1 stash_type=11",
          "double[2,3,4] - double[2,1,1]");
    shape(17, "LayerNormalization", "float[...] float[3]", "", "float[...] float[...]");
    fails(17, "LayerNormalization", "float[2,3] float[3]", "axis=2", "axis 2");
}

Test(shapes_reduce, losses_are_one_number_unless_none_is_reduced)
{
    shape(13, "NegativeLogLikelihoodLoss", "float[5,10] int64[5]", "", "float[]");
    shape(13, "NegativeLogLikelihoodLoss", "float[5,10,6,7] int64[5,6,7]", "reduction=none",
          "float[5,6,7]");
    shape(13, "NegativeLogLikelihoodLoss", "float[n,10] int64[5]", "reduction=none", "float[5]");
    shape(13, "SoftmaxCrossEntropyLoss", "float[5,10] int64[5]", "reduction=sum",
          "float[] float[5,10]");
    fails(13, "NegativeLogLikelihoodLoss", "float[5,10,6] int64[5]", "reduction=none", "rank 1");
}
