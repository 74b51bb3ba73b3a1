/* Shapes are worked by hand from the operators' definitions. */
#include "op_case.h"

/* covers: A.051 */
Test(shapes_elementwise, a_unary_operator_keeps_the_type)
{
    shape(13, "Relu", "float[2,3]", "", "float[2,3]");
    shape(13, "Erf", "float16[n,?,4]", "", "float16[n,?,4]");
    shape(13, "Clip", "int32[5] int32[] int32[]", "", "int32[5]");
    shape(1, "Abs", "double[]", "", "double[]");
    shape(20, "Gelu", "bfloat16[7]", "approximate=tanh", "bfloat16[7]");
    shape(16, "PRelu", "float[2,3,4] float[3,1]", "", "float[2,3,4]");
    shape(13, "Tanh", "float[...]", "", "float[...]");
    shape(13, "Tanh", "?", "", "?");
}

Test(shapes_elementwise, a_test_of_each_element_gives_booleans)
{
    shape(13, "IsNaN", "float[2,n]", "", "bool[2,n]");
    shape(10, "IsInf", "double[3]", "", "bool[3]");
    shape(1, "Not", "bool[4]", "", "bool[4]");
}

/* covers: A.052 A.054 */
Test(shapes_elementwise, shapes_broadcast_from_the_right)
{
    shape(13, "Add", "float[2,3] float[3]", "", "float[2,3]");
    shape(13, "Add", "float[3] float[2,3]", "", "float[2,3]");
    shape(13, "Mul", "float[2,1,4] float[3,1]", "", "float[2,3,4]");
    shape(13, "Sub", "int64[] int64[5,6]", "", "int64[5,6]");
    shape(13, "Mul", "float[0,1] float[1,3]", "", "float[0,3]");
    shape(13, "Sum", "float[1,2,1,1] float[3] float[4,1]", "", "float[1,2,4,3]");
    shape(13, "Max", "float[2]", "", "float[2]");
    shape(15, "Pow", "float[2,3] int32[3]", "", "float[2,3]");
    shape(11, "BitShift", "uint8[2,3] uint8[2,3]", "direction=LEFT", "uint8[2,3]");
}

Test(shapes_elementwise, open_dimensions_broadcast_without_a_guess)
{
    shape(13, "Add", "float[n,3] float[n,3]", "", "float[n,3]");
    shape(13, "Add", "float[n,3] float[1,3]", "", "float[n,3]");
    shape(13, "Add", "float[n] float[m]", "", "float[?]");
    shape(13, "Add", "float[n] float[4]", "", "float[4]");
    shape(13, "Add", "float[?] float[1]", "", "float[?]");
    shape(13, "Add", "float[...] float[1]", "", "float[...]");
    shape(13, "Add", "? float[1]", "", "float[...]");
}

/* covers: A.044 */
Test(shapes_elementwise, shapes_that_do_not_broadcast_are_named)
{
    fails(13, "Add", "float[2,3] float[2]", "", "shapes [2,3] and [2] do not broadcast");
    fails(13, "Less", "float[4,1,2] float[3,3]", "", "[4,1,2] and [3,3]");
}

Test(shapes_elementwise, old_versions_stretch_the_second_input_only)
{
    shape(6, "Add", "float[2,3,4,5] float[3,4]", "axis=1 broadcast=1", "float[2,3,4,5]");
    shape(1, "Less", "float[2,3] float[3]", "broadcast=1", "bool[2,3]");
    shape(6, "Mul", "float[2,3] float[2,3]", "", "float[2,3]");
}

Test(shapes_elementwise, comparisons_and_logic_give_booleans)
{
    shape(13, "Equal", "int64[2,1] int64[1,3]", "", "bool[2,3]");
    shape(16, "GreaterOrEqual", "float[n] float[1]", "", "bool[n]");
    shape(7, "Xor", "bool[2] bool[]", "", "bool[2]");
    shape(9, "Greater", "? ?", "", "bool[...]");
}

Test(shapes_elementwise, where_takes_the_type_of_what_it_chooses)
{
    shape(16, "Where", "bool[2,1] float16[3] float16[]", "", "float16[2,3]");
    shape(16, "Where", "bool[n] ? float[n]", "", "float[...]");
}

Test(shapes_elementwise, casts_change_only_the_element_type)
{
    shape(13, "Cast", "float[2,n]", "to=10", "float16[2,n]");
    shape(1, "Cast", "float[2]", "to=INT32", "int32[2]");
    shape(15, "CastLike", "float[2,3] int8[9]", "", "int8[2,3]");
    shape(26, "BitCast", "float[4]", "to=6", "int32[4]");
    shape(13, "Cast", "float[2]", "", "?[2]");
    fails(13, "Cast", "float[2]", "to=99", "99");
}

Test(shapes_elementwise, dropout_has_a_mask)
{
    shape(13, "Dropout", "float[2,3] float[] bool[]", "", "float[2,3] bool[2,3]");
    shape(7, "Dropout", "float[2,3]", "ratio=0.1", "float[2,3] float[2,3]");
    shape(12, "Dropout", "float[n]", "", "float[n]");
    shape(13, "Identity", "string[4]", "", "string[4]");
}
