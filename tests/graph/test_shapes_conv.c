/* Shapes are worked by hand: out = floor or ceil((in + pads - (d * (k - 1) + 1)) / s) + 1. */
#include "op_case.h"

/* 8 - 3 + 1 = 6;  (8 + 2 - 3) / 2 + 1 = 4;  dilated 2, a 3 covers 5: 8 - 5 + 1 = 4 */
Test(shapes_conv, a_window_slides_over_each_spatial_axis)
{
    shape(11, "Conv", "float[1,3,8,8] float[4,3,3,3]", "", "float[1,4,6,6]");
    shape(11, "Conv", "float[1,3,8,9] float[4,3,3,3]", "pads=[1,1,1,1] strides=[2,2]",
          "float[1,4,4,5]");
    shape(11, "Conv", "float[n,3,8] float[4,3,3] float[4]", "dilations=[2]", "float[n,4,4]");
    shape(1, "Conv", "float[1,6,8,8] float[4,3,3,3]", "group=2 kernel_shape=[3,3]",
          "float[1,4,6,6]");
    shape(10, "ConvInteger", "uint8[1,1,3,3] uint8[1,1,2,2]", "", "int32[1,1,2,2]");
    shape(10, "QLinearConv",
          "uint8[1,1,7,7] float[] uint8[] int8[2,1,1,1] float[] int8[] float[] int8[]", "",
          "int8[1,2,7,7]");
}

/* ceil(9 / 2) = 5 */
Test(shapes_conv, automatic_pads_keep_the_length_over_the_stride)
{
    shape(11, "Conv", "float[1,3,9] float[4,3,3]", "auto_pad=SAME_UPPER strides=[2]",
          "float[1,4,5]");
    shape(11, "Conv", "float[1,3,w] float[4,3,4]", "auto_pad=SAME_LOWER", "float[1,4,w]");
    shape(11, "Conv", "float[1,3,9] float[4,3,3]", "auto_pad=VALID strides=[2]", "float[1,4,4]");
}

Test(shapes_conv, an_open_length_passes_only_where_nothing_changes_it)
{
    shape(11, "Conv", "float[n,3,h,w] float[4,3,3,3]", "pads=[1,1,1,1]", "float[n,4,h,w]");
    shape(11, "Conv", "float[n,3,h,w] float[4,3,3,3]", "pads=[1,0,1,0]", "float[n,4,h,?]");
    shape(11, "Conv", "float[n,3,h,w] float[4,3,1,1]", "strides=[2,2]", "float[n,4,?,?]");
    shape(11, "Conv", "float[n,3,8] float[m,3,k]", "", "float[n,m,?]");
    shape(11, "Conv", "? float[4,3,3,3]", "", "?[?,4,?,?]");
    shape(11, "Conv", "float[1,3,8,8] ?", "kernel_shape=[3,3]", "float[1,?,6,6]");
    shape(11, "Conv", "float[...] ?", "", "float[...]");
}

Test(shapes_conv, shapes_that_contradict_are_refused)
{
    fails(11, "Conv", "float[1,4,8,8] float[4,3,3,3]", "", "channels");
    fails(11, "Conv", "float[1,3,8,8] float[4,3,3]", "", "rank 3");
    fails(11, "Conv", "float[1,3,2] float[4,3,5]", "", "covers 5");
    fails(11, "Conv", "float[1,3,8] float[4,3,3]", "strides=[0]", "strides");
    fails(11, "Conv", "float[1,3,8] float[4,3,3]", "strides=[1,1]", "2 numbers");
    fails(11, "Conv", "float[1,3,8] float[4,3,3]", "pads=[9223372036854775807,1]", "pads");
    fails(11, "Conv", "float[1,3,8] float[4,3,3]", "group=0", "group");
    fails(11, "Conv", "float[3] float[4,3,3]", "", "rank 1");
}

/* 2 * (3 - 1) + 3 = 7, less 2 for pads, plus 1 = 6; weight [C, M/group]: 2 * 5 channels */
Test(shapes_conv, transposed_convolution_goes_the_other_way)
{
    shape(11, "ConvTranspose", "float[1,4,3] float[4,5,3]", "strides=[2]", "float[1,5,7]");
    shape(11, "ConvTranspose", "float[1,4,3] float[4,5,3]",
          "strides=[2] pads=[1,1] output_padding=[1] group=2", "float[1,10,6]");
    shape(11, "ConvTranspose", "float[1,4,3,3] float[4,5,3,3]", "output_shape=[10,8]",
          "float[1,5,10,8]");
    shape(1, "ConvTranspose", "float[1,4,3,3] float[4,5,3,3]", "output_shape=[1,5,10,8]",
          "float[1,5,10,8]");
    shape(11, "ConvTranspose", "float[1,4,3] float[4,5,3]", "auto_pad=SAME_UPPER strides=[2]",
          "float[1,5,6]");
    shape(11, "ConvTranspose", "float[n,4,w] float[4,5,3]", "pads=[1,1]", "float[n,5,w]");
    shape(11, "ConvTranspose", "float[n,4,w] float[4,5,3]", "strides=[2]", "float[n,5,?]");
    fails(11, "ConvTranspose", "float[1,3,3] float[4,5,3]", "", "channels");
}

Test(shapes_conv, the_offsets_of_a_deformable_convolution_know_its_output)
{
    shape(19, "DeformConv", "float[1,1,3,3] float[1,1,2,2] float[1,8,2,2]", "", "float[1,1,2,2]");
    shape(19, "DeformConv", "float[n,1,h,w] float[1,1,2,2] float[n,8,20,30]", "",
          "float[n,1,20,30]");
    fails(19, "DeformConv", "float[1,1,3,3] float[1,1,2,2] float[1,8,5,2]", "", "spatial");
}

/* -- pooling: (8 - 2) / 2 + 1 = 4;  (7 - 3) / 2 + 1 = 3 -- */

Test(shapes_conv, a_pool_slides_over_each_spatial_axis)
{
    shape(11, "MaxPool", "float[1,3,8,7]", "kernel_shape=[2,3] strides=[2,2]", "float[1,3,4,3]");
    shape(11, "AveragePool", "float[n,3,8]", "kernel_shape=[3] pads=[1,1]", "float[n,3,8]");
    shape(1, "LpPool", "float[1,3,8,8]", "kernel_shape=[2,2]", "float[1,3,7,7]");
    shape(12, "MaxPool", "uint8[1,3,8]", "kernel_shape=[2] dilations=[3]",
          "uint8[1,3,5] int64[1,3,5]");
    shape(11, "MaxPool", "float[...]", "kernel_shape=[2,2]", "float[?,?,?,?]");
}

/* ceil((6 - 3) / 2) + 1 = 3, floor: 2;  a last window that would start at 4 in an input of 4 (with
 * a pad behind) is left out: ceil((4 + 1 - 1) / 2) + 1 = 3, less one */
Test(shapes_conv, ceil_mode_rounds_up_but_starts_no_window_in_the_padding)
{
    shape(11, "MaxPool", "float[1,1,6]", "kernel_shape=[3] strides=[2] ceil_mode=1",
          "float[1,1,3]");
    shape(11, "MaxPool", "float[1,1,6]", "kernel_shape=[3] strides=[2]", "float[1,1,2]");
    shape(11, "MaxPool", "float[1,1,4]", "kernel_shape=[1] strides=[2] pads=[0,1] ceil_mode=1",
          "float[1,1,2]");
}

Test(shapes_conv, global_pools_leave_one_element_of_each_channel)
{
    shape(1, "GlobalAveragePool", "float[n,64,7,7]", "", "float[n,64,1,1]");
    shape(1, "GlobalMaxPool", "float[2,3,h]", "", "float[2,3,1]");
    shape(2, "GlobalLpPool", "float[...]", "", "float[...]");
}

/* 2 * (2 - 1) + 2 = 4 */
Test(shapes_conv, unpooling_goes_back_or_to_the_shape_given)
{
    shape(11, "MaxUnpool", "float[1,1,2,2] int64[1,1,2,2]", "kernel_shape=[2,2] strides=[2,2]",
          "float[1,1,4,4]");
    shape(11, "MaxUnpool", "float[1,1,2,2] int64[1,1,2,2] int64[4]{1,1,5,5}", "kernel_shape=[2,2]",
          "float[1,1,5,5]");
    shape(11, "MaxUnpool", "float[1,1,2,2] int64[1,1,2,2] int64[4]", "kernel_shape=[2,2]",
          "float[?,?,?,?]");
}

Test(shapes_conv, regions_give_one_result_each)
{
    shape(1, "MaxRoiPool", "float[1,8,32,32] float[r,5]", "pooled_shape=[7,6]", "float[r,8,7,6]");
    shape(16, "RoiAlign", "float[1,8,32,32] float[9,4] int64[9]", "output_height=5 output_width=3",
          "float[9,8,5,3]");
    shape(16, "RoiAlign", "? ? ?", "", "?[?,?,1,1]");
    fails(1, "MaxRoiPool", "float[1,8,32,32] float[r,5]", "", "pooled_shape");
}

Test(shapes_conv, windows_that_do_not_fit_are_refused)
{
    fails(11, "MaxPool", "float[1,1,2]", "kernel_shape=[4]", "covers 4");
    fails(11, "MaxPool", "float[1,1,2]", "kernel_shape=[0]", "kernel_shape");
    fails(11, "MaxPool", "float[2]", "kernel_shape=[1]", "rank 1");
}
