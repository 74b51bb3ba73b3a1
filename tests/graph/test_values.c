/* Values are worked by hand from the operators' definitions. Inputs with {elements} are constants;
 * "n" and "m" are symbols of the model, "?" is not known.
 */
#include "op_case.h"

Test(values, arithmetic_of_whole_numbers)
{
    value(13, "Add", "int64[2]{1,2} int64[1]{10}", "", "{11,12}");
    value(13, "Sub", "int64[2]{1,2} int64[2]{5,5}", "", "{-4,-3}");
    value(13, "Mul", "int64[2,1]{2,3} int64[2]{5,7}", "", "{10,14,15,21}");
    value(13, "Div", "int64[4]{7,-7,7,-7} int64[4]{2,2,-2,-2}", "", "{3,-3,-3,3}");
    value(13, "Mod", "int64[4]{7,-7,7,-7} int64[4]{3,3,-3,-3}", "", "{1,2,-2,-1}");
    value(13, "Mod", "int64[4]{7,-7,7,-7} int64[4]{3,3,-3,-3}", "fmod=1", "{1,-1,1,-1}");
    value(13, "Pow", "int64[3]{2,-3,0} int64[3]{10,3,0}", "", "{1024,-27,1}");
    value(13, "Max", "int64[2]{1,9} int64[2]{4,4} int64[]{5}", "", "{5,9}");
    value(13, "Min", "int64[2]{1,9} int64[2]{4,4}", "", "{1,4}");
    value(13, "Sum", "int64[1]{1} int64[1]{2} int64[1]{3}", "", "{6}");
    value(13, "Neg", "int64[2]{3,-4}", "", "{-3,4}");
    value(13, "Abs", "int64[2]{3,-4}", "", "{3,4}");
    value(13, "Sign", "int64[3]{3,-4,0}", "", "{1,-1,0}");
    value(13, "Clip", "int64[3]{-2,3,9} int64[]{0} int64[]{5}", "", "{0,3,5}");
}

Test(values, arithmetic_of_fractions)
{
    value(13, "Div", "float[2]{1,7} float[1]{2}", "", "{0.5,3.5}");
    value(13, "Mod", "float[2]{7.5,-7.5} float[1]{2}", "fmod=1", "{1.5,-1.5}");
    value(13, "Floor", "float[2]{1.5,-1.5}", "", "{1,-2}");
    value(13, "Ceil", "float[2]{1.5,-1.5}", "", "{2,-1}");
    value(11, "Round", "float[4]{0.5,1.5,2.5,-1.5}", "", "{0,2,2,-2}");
    value(13, "Sqrt", "float[1]{16}", "", "{4}");
    value(13, "Exp", "float[1]{0}", "", "{1}");
    value(13, "Log", "float[1]{1}", "", "{0}");
    value(13, "Reciprocal", "float[1]{4}", "", "{0.25}");
    value(13, "Mean", "float[2]{1,2} float[2]{3,6}", "", "{2,4}");
    value(13, "Pow", "float[1]{2} float[1]{0.5}", "", "{1.41421}");
    value(13, "Neg", "float[1]{2.5}", "", "{-2.5}");
    value(13, "Clip", "float[3]{-2,3,9} float[]{0.5} float[]{5}", "", "{0.5,3,5}");
    value(13, "Clip", "float[2]{-2,9} - float[]{5}", "", "{-2,5}");
    value(13, "Clip", "float[2]{-2,9} - float[]", "", "none");
    value(6, "Clip", "float[3]{-2,3,9}", "min=0.5 max=5.0", "{0.5,3,5}");
}

/* 2^24 + 1 is the first whole number that FLOAT cannot hold */
Test(values, fractions_are_rounded_to_their_type)
{
    value(13, "Cast", "int64[1]{16777217}", "to=1", "{1.67772e+07}");
    value(13, "Sub", "float[1]{16777217} float[1]{16777216}", "", "{1}"); /* inputs as given */
    value(13, "Add", "float[1]{16777216} float[1]{1}", "", "{1.67772e+07}");
    value(13, "Equal", "float[1]{0.5} float[1]{0.5}", "", "{1}");
}

Test(values, what_does_not_fit_or_has_no_result_is_open)
{
    value(13, "Add", "int64[1]{9223372036854775807} int64[1]{1}", "", "{?}");
    value(13, "Mul", "int32[1]{65536} int32[1]{65536}", "", "{?}");
    value(13, "Add", "uint8[2]{250,250} uint8[2]{5,6}", "", "{255,?}");
    value(13, "Sub", "uint8[1]{1} uint8[1]{2}", "", "{?}");
    value(13, "Div", "int64[1]{1} int64[1]{0}", "", "{?}");
    value(13, "Mod", "int64[1]{1} int64[1]{0}", "", "{?}");
    value(13, "Pow", "int64[2]{2,10} int64[2]{70,-1}", "", "{?,?}");
    value(13, "Pow", "int64[2]{-1,1} int64[2]{71,1000000}", "", "{-1,1}");
}

Test(values, open_elements_pass_where_the_result_is_exact)
{
    value(13, "Add", "int64[2]{n,n} int64[2]{0,1}", "", "{n,n+1}");
    value(13, "Add", "int64[2]{n,n} int64[2]{m,-1}", "", "{n+m,?}");
    value(13, "Mul", "int64[3]{n,n,n} int64[3]{1,0,2}", "", "{n,0,?}");
    value(13, "Sub", "int64[2]{n,n} int64[2]{0,n}", "", "{n,0}");
    value(13, "Sub", "int64[2]{n,n} int64[2]{m,1}", "", "{?,?}");
    value(13, "Div", "int64[2]{n,n} int64[2]{1,2}", "", "{n,?}");
    value(13, "Max", "int64[2]{n,n} int64[2]{n,m}", "", "{n,?}");
    value(13, "Neg", "int64[1]{n}", "", "{?}");
}

/* a symbol stands for a dimension: not negative */
Test(values, comparisons_of_numbers_and_symbols)
{
    value(13, "Equal", "int64[4]{1,2,n,n} int64[4]{1,3,n,m}", "", "{1,0,1,?}");
    value(13, "Equal", "int64[3]{n,n,-1} int64[3]{-1,5,n}", "", "{0,?,0}");
    value(13, "Less", "int64[5]{1,2,n,n,-1} int64[5]{2,2,n,0,n}", "", "{1,0,0,0,1}");
    value(16, "LessOrEqual", "int64[2]{2,n} int64[2]{2,3}", "", "{1,?}");
    value(13, "Greater", "int64[3]{3,n,n} int64[3]{2,-1,0}", "", "{1,1,?}");
    value(16, "GreaterOrEqual", "int64[2]{n,1} int64[2]{0,2}", "", "{1,0}");
    value(13, "Greater", "float[2]{0.5,1} float[1]{0.75}", "", "{0,1}");
    value(7, "And", "bool[3]{1,1,0} bool[3]{1,0,?}", "", "{1,0,0}");
    value(7, "Or", "bool[3]{0,0,1} bool[3]{1,0,?}", "", "{1,0,1}");
    value(7, "Xor", "bool[3]{1,1,0} bool[3]{1,0,?}", "", "{0,1,?}");
    value(1, "Not", "bool[3]{0,1,?}", "", "{1,0,?}");
}

Test(values, a_choice_needs_its_condition_only_where_the_choices_differ)
{
    value(16, "Where", "bool[3]{1,0,?} int64[3]{1,2,3} int64[3]{4,5,6}", "", "{1,5,?}");
    value(16, "Where", "bool[2]{?,0} int64[2]{n,2} int64[2]{n,m}", "", "{n,m}");
    value(16, "Where", "bool[2]{1,0} float[2]{1.5,2} float[]{9}", "", "{1.5,9}");
    value(16, "Where", "bool[2]{1,0} int64[2] int64[2]{4,5}", "", "{?,5}");
    value(16, "Where", "bool[2] int64[2]{4,5} int64[2]{4,5}", "", "none");
}

Test(values, casts_cut_fractions_and_drop_what_does_not_fit)
{
    value(13, "Cast", "float[4]{1.9,-1.9,0,3e30}", "to=7", "{1,-1,0,?}");
    value(13, "Cast", "int64[3]{0,2,300}", "to=9", "{0,1,1}");
    value(13, "Cast", "int64[2]{200,300}", "to=2", "{200,?}");
    value(13, "Cast", "int64[2]{n,3}", "to=6", "{n,3}");
    value(13, "Cast", "int64[2]{n,3}", "to=1", "none");
    value(13, "Cast", "int64[2]{n,3}", "to=9", "{?,1}");
    value(15, "CastLike", "int64[1]{3} float[7]", "", "{3}");
    value(13, "Cast", "int64[1]{3}", "to=8", "none");
}

Test(values, a_shape_is_a_value)
{
    value(13, "Shape", "float[2,n,?]", "", "{2,n,?}");
    value(15, "Shape", "float[2,n,4,5]", "start=1 end=-1", "{n,4}");
    value(15, "Shape", "float[2,3]", "start=5", "{}");
    value(13, "Shape", "float[...]", "", "none");
    value(13, "Size", "float[2,3,4]", "", "{24}");
    value(13, "Size", "float[n,1]", "", "{n}");
    value(13, "Size", "float[n,2]", "", "{?}");
}

Test(values, constants_come_from_their_attribute)
{
    value(13, "Constant", "", "value_int=7", "{7}");
    value(13, "Constant", "", "value_ints=[1,2,3]", "{1,2,3}");
    value(13, "Constant", "", "value_float=2.5", "{2.5}");
    value(13, "Constant", "", "value_string=abc", "none");
    value(9, "ConstantOfShape", "int64[2]{2,2}", "", "{0,0,0,0}");
    value(9, "ConstantOfShape", "int64[1]{n}", "", "none");
    value(11, "Range", "int64[]{2} int64[]{11} int64[]{3}", "", "{2,5,8}");
    value(11, "Range", "int64[]{5} int64[]{0} int64[]{-2}", "", "{5,3,1}");
    value(11, "Range", "float[]{0} float[]{1} float[]{0.25}", "", "{0,0.25,0.5,0.75}");
    value(11, "Range", "int64[]{5} int64[]{0} int64[]{1}", "", "{}");
    value(11, "Range", "int64[]{0} int64[]{n} int64[]{1}", "", "none");
}

Test(values, moving_keeps_open_elements)
{
    value(13, "Identity", "int64[2]{n,?}", "", "{n,?}");
    value(13, "Squeeze", "int64[1]{n} int64[1]{0}", "", "{n}");
    value(13, "Unsqueeze", "int64[]{n} int64[1]{0}", "", "{n}");
    value(13, "Reshape", "int64[2,2]{1,2,3,n} int64[1]{-1}", "", "{1,2,3,n}");
    value(13, "Flatten", "int64[2,2]{1,2,3,n}", "", "{1,2,3,n}");
    value(13, "Transpose", "int64[2,3]{1,2,3,4,5,n}", "", "{1,4,2,5,3,n}");
    value(13, "Transpose", "int64[1,2,3]{1,2,3,4,5,6}", "perm=[2,0,1]", "{1,4,2,5,3,6}");
    value(13, "Concat", "int64[1]{n} int64[2]{3,4} int64[1]", "axis=0", "{n,3,4,?}");
    value(13, "Concat", "int64[2,1]{1,2} int64[2,2]{3,4,5,6}", "axis=1", "{1,3,4,2,5,6}");
    value(13, "Concat", "int64[1] int64[1]", "axis=0", "none");
    value(13, "Concat", "float[1]{1.5} float[1]", "axis=0", "none");
    value(13, "Expand", "int64[2,1]{1,n} int64[2]{2,3}", "", "{1,1,1,n,n,n}");
    value(13, "Tile", "int64[2]{1,n} int64[1]{2}", "", "{1,n,1,n}");
    value(13, "Split", "int64[4]{1,2,3,n} int64[2]{1,3}", "", "{1} {2,3,n}");
    value(13, "Split", "int64[2,2]{1,2,3,n}", "axis=1", "{1,3} {2,n}");
    value(13, "Pad", "int64[2]{1,n} int64[2]{1,2} int64[]{9}", "", "{9,1,n,9,9}");
    value(13, "Pad", "int64[3]{1,2,3} int64[2]{-1,1}", "", "{2,3,0}");
    value(13, "Pad", "int64[2]{1,2} int64[2]{1,1}", "mode=reflect", "none");
    value(14, "Trilu", "int64[2,2]{1,2,3,4}", "", "{1,2,0,4}");
    value(14, "Trilu", "float[2,2]{1,2,3,4} int64[]{-1}", "upper=0", "{0,0,3,0}");
}

Test(values, slices_count_from_both_ends)
{
    value(13, "Slice", "int64[4]{1,2,3,n} int64[1]{1} int64[1]{3}", "", "{2,3}");
    value(13, "Slice", "int64[4]{1,2,3,n} int64[1]{-2} int64[1]{99}", "", "{3,n}");
    value(13, "Slice", "int64[4]{1,2,3,4} int64[1]{-1} int64[1]{-9} int64[1]{0} int64[1]{-1}", "",
          "{4,3,2,1}");
    value(13, "Slice", "int64[5]{1,2,3,4,5} int64[1]{0} int64[1]{5} int64[1]{0} int64[1]{2}", "",
          "{1,3,5}");
    value(13, "Slice", "int64[2,3]{1,2,3,4,5,6} int64[1]{1} int64[1]{2} int64[1]{-1}", "", "{2,5}");
    value(9, "Slice", "int64[4]{1,2,3,4}", "starts=[1] ends=[2]", "{2}");
    value(13, "Slice", "int64[4]{1,2,3,4} int64[1]{3} int64[1]{1}", "", "{}");
}

Test(values, indices_choose_and_replace)
{
    value(13, "Gather", "int64[3]{5,n,7} int64[]{1}", "", "{n}");
    value(13, "Gather", "int64[3]{5,6,7} int64[2]{-1,0}", "", "{7,5}");
    value(13, "Gather", "int64[2,2]{1,2,3,4} int64[1]{1}", "axis=1", "{2,4}");
    value(13, "Gather", "int64[3]{5,6,7} int64[2]{?,0}", "", "{?,5}");
    value(13, "Gather", "float[3]{5,6,7} int64[2]{?,0}", "", "none");
    value(13, "Gather", "int64[3]{5,6,7} int64[1]{9}", "", "{?}");
    value(13, "GatherElements", "int64[2,2]{1,2,3,4} int64[2,1]{1,0}", "axis=1", "{2,3}");
    value(13, "GatherND", "int64[2,2]{1,2,3,4} int64[2,2]{1,0,0,-1}", "", "{3,2}");
    value(13, "GatherND", "int64[2,2]{1,n,3,4} int64[2,1]{1,0}", "", "{3,4,1,n}");
    value(13, "GatherND", "int64[2,2]{1,2,3,4} int64[2,1]{?,0}", "", "{?,?,1,2}");
    value(13, "GatherND", "int64[2,2]{1,2,3,4} int64[2,1]{1,0}", "batch_dims=1", "none");
    value(16, "ScatterElements", "int64[3]{1,2,3} int64[1]{-1} int64[1]{n}", "", "{1,2,n}");
    value(16, "ScatterElements", "int64[1]{1} int64[1]{0} int64[1]{2}", "reduction=add", "none");
    value(16, "ScatterND", "int64[3]{1,2,3} int64[2,1]{0,2} int64[2]{8,n}", "", "{8,2,n}");
    value(16, "ScatterND", "int64[2,2]{1,2,3,4} int64[1,1]{1} int64[1,2]{8,9}", "", "{1,2,8,9}");
    value(16, "ScatterND", "int64[2]{1,2} int64[1,1]{5} int64[1]{8}", "", "none");
    value(13, "NonZero", "int64[2,2]{0,1,2,0}", "", "{0,1,1,0}");
    shape(13, "NonZero", "int64[2,2]{0,1,2,0}", "", "int64[2,2]");
    value(13, "NonZero", "int64[2]{0,n}", "", "none");
}

/* Sizes beside a 0 may have any product. */
Test(values, nothing_is_chosen_from_what_is_empty)
{
    value(13, "GatherND", "int64[5,4611686018427387904,4,0]{} int64[2,1]{4,0}", "", "none");
    value(13, "ScatterND",
          "int64[5,4611686018427387904,4,0]{} int64[1,1]{4} int64[1,4611686018427387904,4,0]{}", "",
          "none");
    fails(13, "GatherND",
          "int64[0,1152921504606846976]{} int64[16,1]{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}", "",
          "does not fit 64 bits");
}

Test(values, reductions_along_axes)
{
    value(13, "ReduceSum", "int64[2,3]{1,2,3,4,5,6} int64[1]{1}", "", "{6,15}");
    value(11, "ReduceProd", "int64[3]{2,3,4}", "keepdims=0", "{24}");
    value(11, "ReduceProd", "int64[3]{n,1,1}", "", "{n}");
    value(11, "ReduceProd", "int64[0]{}", "", "{1}");
    value(11, "ReduceMax", "int64[2,2]{1,2,3,4}", "axes=[0]", "{3,4}");
    value(11, "ReduceMin", "float[2,2]{1,2,3,4}", "axes=[-1]", "{1,3}");
    value(11, "ReduceMin", "int64[0]{}", "", "none");
    value(11, "ReduceMean", "float[4]{1,2,3,4}", "", "{2.5}");
    value(11, "ReduceMean", "int64[2]{3,4}", "", "{3}");
    value(13, "ReduceSum", "int64[2]{1,2} int64[0]{}", "noop_with_empty_axes=1", "{1,2}");
    value(13, "ArgMax", "int64[4]{1,7,7,2}", "", "{1}");
    value(13, "ArgMax", "int64[4]{1,7,7,2}", "select_last_index=1", "{2}");
    value(13, "ArgMin", "float[2,2]{4,3,1,2}", "axis=1", "{1,0}");
    value(13, "ArgMax", "int64[2]{1,n}", "", "none");
    value(11, "CumSum", "int64[3]{1,2,n} int64[]{0}", "", "{1,3,?}");
    value(11, "CumSum", "int64[3]{1,2,3} int64[]{0}", "exclusive=1", "{0,1,3}");
    value(11, "CumSum", "int64[3]{1,2,3} int64[]{0}", "reverse=1", "{6,5,3}");
    value(11, "CumSum", "int64[2,2]{1,2,3,4} int64[]{-1}", "exclusive=1 reverse=1", "{2,0,4,0}");
    value(11, "CumSum", "float[2,2]{1,2,3,4} int64[]{0}", "", "{1,2,4,6}");
}

/* 64 * 64 is CLV_VALUE_MAX; one more row is over it */
Test(values, large_tensors_are_not_kept)
{
    value(11, "Range", "int64[]{0} int64[]{4097} int64[]{1}", "", "none");
    value(13, "Expand", "int64[]{1} int64[2]{65,64}", "", "none");
    value(13, "Relu", "int64[2]{1,2}", "", "none");
}
