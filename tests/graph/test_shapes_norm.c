/* Shapes are worked by hand from the operators' definitions. */
#include "op_case.h"

Test(shapes_norm, most_normalisations_keep_the_type)
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

Test(shapes_norm, batch_normalisation_in_training_gives_statistics_of_channels)
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

Test(shapes_norm, layer_normalisation_keeps_the_rank_of_its_statistics)
{
    shape(17, "LayerNormalization", "float16[2,n,64] float16[64]", "",
          "float16[2,n,64] float[2,n,1] float[2,n,1]");
    shape(17, "LayerNormalization", "double[2,3,4] double[3,4]", "axis=1 stash_type=11",
          "double[2,3,4] - double[2,1,1]");
    shape(17, "LayerNormalization", "float[...] float[3]", "", "float[...] float[...]");
    fails(17, "LayerNormalization", "float[2,3] float[3]", "axis=2", "axis 2");
}

Test(shapes_norm, losses_are_one_number_unless_none_is_reduced)
{
    shape(13, "NegativeLogLikelihoodLoss", "float[5,10] int64[5]", "", "float[]");
    shape(13, "NegativeLogLikelihoodLoss", "float[5,10,6,7] int64[5,6,7]", "reduction=none",
          "float[5,6,7]");
    shape(13, "NegativeLogLikelihoodLoss", "float[n,10] int64[5]", "reduction=none", "float[5]");
    shape(13, "SoftmaxCrossEntropyLoss", "float[5,10] int64[5]", "reduction=sum",
          "float[] float[5,10]");
    fails(13, "NegativeLogLikelihoodLoss", "float[5,10,6] int64[5]", "reduction=none", "rank 1");
}
