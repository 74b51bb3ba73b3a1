#include "rule_case.h"

/* Picking by index, and making tensors. Expected shapes are counted by hand. */

Test(shapes_index, gather_puts_the_indices_in_place_of_the_axis)
{
    static const rule_case cases[] = {
        { "in x float[5,4]; w i int64{0,2,1}; y = Gather(x, i)", "float[3,4]" },
        { "in x float[5,4]; w i int64(2); y = Gather(x, i) axis=-1", "float[5]" },
        { "in x float[v,h]; in i int64[b,s]; y = Gather(x, i)", "float[b,s,h]" },
        { "in x float[...]; w i int64(2); y = Gather(x, i)", "float[...]" },
        { "in x float[5]; in i int64[...]; y = Gather(x, i)", "float[...]" },
        { "in x float[5]; w i int64(2); y = Gather(x, i) axis=1", "error: axis 1" },
        { "in x float[5,4]; in i int64[2,n]; y = GatherElements(x, i)", "float[2,n]" },
        { "in x float[2,3,4]; in i int64[5,2]; y = GatherND(x, i)", "float[5,4]" },
        { "in x float[2,3,4]; in i int64[2,6,1]; y = GatherND(x, i) batch_dims=1", "float[2,6,4]" },
        { "in x float[2,3]; in i int64[5,?]; y = GatherND(x, i)", "float[...]" },
        { "in x float[2,3]; in i int64[5,3]; y = GatherND(x, i)", "error: depth 3" },
        { "in x int4[5,64]; in i int64[n]; in s float16[5,2];"
          "y = ms:GatherBlockQuantized(x, i, s)",
          "float16[n,64]" },
        { "in x uint8[5,32]; in i int64[n]; in s float[5,2];"
          "y = ms:GatherBlockQuantized(x, i, s) bits=4",
          "float[n,64]" },
        { "in x float[2,5]; w i int64{0,3}; y = ml:ArrayFeatureExtractor(x, i)", "float[2,2]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_index, scatters_keep_the_shape_of_the_data)
{
    static const rule_case cases[] = {
        { "in x float[n,4]; in i int64[2,1]; in u float[2,4]; y = ScatterND(x, i, u)",
          "float[n,4]" },
        { "in x float[n,4]; in i int64[2,1]; in u float[2,1]; y = ScatterElements(x, i, u)",
          "float[n,4]" },
        { "opset 9; in x float[3]; in i int64[1]; in u float[1]; y = Scatter(x, i, u)",
          "float[3]" },
        { "opset 24; in x float[2,8,9,4]; in u float[2,8,1,4]; y = TensorScatter(x, u)",
          "float[2,8,9,4]" },
        { "in x any; in i int64[1]; in u float[1]; y = ScatterND(x, i, u)", "?" },
    };
    CASES_CHECK(cases);
}

Test(shapes_index, one_hot_adds_an_axis_and_topk_shortens_one)
{
    static const rule_case cases[] = {
        { "in x int64[2,3]; w d int64(7); in v float[2]; y = OneHot(x, d, v)", "float[2,3,7]" },
        { "in x int64[2,3]; w d float{7.0}; in v float[2]; y = OneHot(x, d, v) axis=0",
          "float[7,2,3]" },
        { "in x int64[n]; in d int64[]; in v int32[2]; y = OneHot(x, d, v)", "int32[n,?]" },
        { "in x int64[n]; w d int64(-1); in v int32[2]; y = OneHot(x, d, v)", "error: -1" },
        { "in x float[4,9]; w k int64{3}; v, i = TopK(x, k)", "float[4,3] | int64[4,3]" },
        { "opset 1; in x float[4,9]; v, i = TopK(x) k=3 axis=0", "float[3,9] | int64[3,9]" },
        { "in x float[4,9]; in k int64[1]; v, i = TopK(x, k)", "float[4,?] | int64[4,?]" },
        { "in x float[...]; w k int64{3}; v, i = TopK(x, k)", "float[...] | int64[...]" },
        { "in x float[4,9]; w k int64{10}; v, i = TopK(x, k)", "error: k is 10" },
    };
    CASES_CHECK(cases);
}

Test(shapes_index, what_depends_on_the_data_stays_open)
{
    static const rule_case cases[] = {
        { "in x float[3,4]; y = NonZero(x)", "int64[2,?]" },
        { "in x float[...]; y = NonZero(x)", "int64[?,?]" },
        { "in x float[3,4]; y, i, v, c = Unique(x)", "float[?] | int64[?] | int64[12] | int64[?]" },
        { "in x float[3,4]; y, i, v, c = Unique(x) axis=1",
          "float[3,?] | int64[?] | int64[4] | int64[?]" },
        { "in x float[9]; y, i, c = ms:Unique(x)", "float[?] | int64[9] | int64[?]" },
        { "in x float[3,4]; in c bool[3]; y = Compress(x, c) axis=0", "float[?,4]" },
        { "in x float[3,4]; w c bool{1,0,1}; y = Compress(x, c) axis=0", "float[2,4]" },
        { "in x float[3,4]; in c bool[12]; y = Compress(x, c)", "float[?]" },
        { "in b float[1,6,4]; in s float[1,1,6]; y = NonMaxSuppression(b, s)", "int64[?,3]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_index, shape_and_size_know_the_rank)
{
    static const rule_case cases[] = {
        { "in x float[3,n]; y = Shape(x)", "int64[2]" },
        { "in x float[3,n,5]; y = Shape(x) start=1", "int64[2]" },
        { "in x float[3,n,5]; y = Shape(x) start=-9 end=-1", "int64[2]" },
        { "in x float[3,n,5]; y = Shape(x) start=2 end=1", "int64[0]" },
        { "in x float[...]; y = Shape(x)", "int64[?]" },
        { "in x float[3,n]; y = Size(x)", "int64[]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_index, constants_ranges_and_fills)
{
    static const rule_case cases[] = {
        { "y = Constant() value=tensor float16{1,2,3}", "float16[3]" },
        { "y = Constant() value_float=1.5", "float[]" },
        { "y = Constant() value_floats=[1.5,2.5]", "float[2]" },
        { "y = Constant() value_int=1", "int64[]" },
        { "y = Constant() value_ints=[1,2,3]", "int64[3]" },
        { "y = Constant() value_string='a'", "string[]" },
        { "y = Constant() value_strings=['a','b']", "string[2]" },
        { "y = Constant() sparse_value=tensor float{1,2}", "float[2]" },
        { "w a int64(2); w b int64(11); w d int64(3); y = Range(a, b, d)", "int64[3]" },
        { "w a int64(5); w b int64(0); w d int64(-2); y = Range(a, b, d)", "int64[3]" },
        { "w a int64(5); w b int64(0); w d int64(2); y = Range(a, b, d)", "int64[0]" },
        { "w a float(0); w b float(1); w d float(0.3); y = Range(a, b, d)", "float[4]" },
        { "w a int64(0); in b int64[]; w d int64(1); y = Range(a, b, d)", "int64[?]" },
        { "w a int64(0); w b int64(9); w d int64(0); y = Range(a, b, d)", "error: delta is 0" },
        { "w s int64{2,3}; y = ConstantOfShape(s)", "float[2,3]" },
        { "w s int64{}; y = ConstantOfShape(s) value=tensor int32{7}", "int32[]" },
        { "in s int64[2]; y = ConstantOfShape(s)", "float[?,?]" },
        { "w s int64{2,-3}; y = ConstantOfShape(s)", "error: -3" },
        { "in x float[3,n]; y = EyeLike(x) dtype=7", "int64[3,n]" },
        { "in x float[3,n]; y = Trilu(x)", "float[3,n]" },
        { "in x float[3,n]; y = ReverseSequence(x, x)", "float[3,n]" },
    };
    CASES_CHECK(cases);
}

/* [n] -> Shape -> Range(0, n, 1) has n elements again. */
Test(shapes_index, a_range_up_to_a_symbol_is_as_long_as_the_symbol)
{
    case_check("in x float[n]; w z int64(0); w one int64(1); s = Shape(x); l = Squeeze(s);"
               "y = Range(z, l, one); out y",
               "int64[n]");
}

Test(shapes_index, random_tensors_have_the_shape_asked_for)
{
    static const rule_case cases[] = {
        { "y = RandomNormal() shape=[2,3]", "float[2,3]" },
        { "y = RandomUniform() shape=[2] dtype=11", "double[2]" },
        { "y = RandomUniform()", "float[...]" },
        { "y = RandomNormal() shape=[-2]", "error: -2" },
        { "y = RandomNormal() shape=[2] dtype=99", "error: dtype" },
        { "in x float16[n]; y = RandomNormalLike(x)", "float16[n]" },
        { "in x float16[n]; y = RandomUniformLike(x) dtype=1", "float[n]" },
        { "in x float[n]; y = Bernoulli(x)", "float[n]" },
        { "in x float[4,9]; y = Multinomial(x) sample_size=5", "int32[4,5]" },
    };
    CASES_CHECK(cases);
}
