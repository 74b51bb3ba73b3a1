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
