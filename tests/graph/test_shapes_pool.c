/* Shapes are worked by hand: out = floor or ceil((in + pads - (d * (k - 1) + 1)) / s) + 1. */
#include "op_case.h"

/* (8 - 2) / 2 + 1 = 4;  (7 - 3) / 2 + 1 = 3 */
Test(shapes_pool, a_window_slides_over_each_spatial_axis)
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
Test(shapes_pool, ceil_mode_rounds_up_but_starts_no_window_in_the_padding)
{
    shape(11, "MaxPool", "float[1,1,6]", "kernel_shape=[3] strides=[2] ceil_mode=1",
          "float[1,1,3]");
    shape(11, "MaxPool", "float[1,1,6]", "kernel_shape=[3] strides=[2]", "float[1,1,2]");
    shape(11, "MaxPool", "float[1,1,4]", "kernel_shape=[1] strides=[2] pads=[0,1] ceil_mode=1",
          "float[1,1,2]");
}

Test(shapes_pool, global_pools_leave_one_element_of_each_channel)
{
    shape(1, "GlobalAveragePool", "float[n,64,7,7]", "", "float[n,64,1,1]");
    shape(1, "GlobalMaxPool", "float[2,3,h]", "", "float[2,3,1]");
    shape(2, "GlobalLpPool", "float[...]", "", "float[...]");
}

/* 2 * (2 - 1) + 2 = 4 */
Test(shapes_pool, unpooling_goes_back_or_to_the_shape_given)
{
    shape(11, "MaxUnpool", "float[1,1,2,2] int64[1,1,2,2]", "kernel_shape=[2,2] strides=[2,2]",
          "float[1,1,4,4]");
    shape(11, "MaxUnpool", "float[1,1,2,2] int64[1,1,2,2] int64[4]{1,1,5,5}", "kernel_shape=[2,2]",
          "float[1,1,5,5]");
    shape(11, "MaxUnpool", "float[1,1,2,2] int64[1,1,2,2] int64[4]", "kernel_shape=[2,2]",
          "float[?,?,?,?]");
}

Test(shapes_pool, regions_give_one_result_each)
{
    shape(1, "MaxRoiPool", "float[1,8,32,32] float[r,5]", "pooled_shape=[7,6]", "float[r,8,7,6]");
    shape(16, "RoiAlign", "float[1,8,32,32] float[9,4] int64[9]", "output_height=5 output_width=3",
          "float[9,8,5,3]");
    shape(16, "RoiAlign", "? ? ?", "", "?[?,?,1,1]");
    fails(1, "MaxRoiPool", "float[1,8,32,32] float[r,5]", "", "pooled_shape");
}

Test(shapes_pool, windows_that_do_not_fit_are_refused)
{
    fails(11, "MaxPool", "float[1,1,2]", "kernel_shape=[4]", "covers 4");
    fails(11, "MaxPool", "float[1,1,2]", "kernel_shape=[0]", "kernel_shape");
    fails(11, "MaxPool", "float[2]", "kernel_shape=[1]", "rank 1");
}
