#include "rule_case.h"

/* Reshaping, joining, cutting, repeating. Expected shapes are counted by hand. */

/* covers: E.050 */
Test(shapes_move, reshape_takes_the_wanted_shape)
{
    static const rule_case cases[] = {
        { "in x float[2,6]; w s int64{3,4}; y = Reshape(x, s)", "float[3,4]" },
        { "in x float[2,6]; w s int64{4,-1}; y = Reshape(x, s)", "float[4,3]" },
        { "in x float[2,3,4]; w s int64{0,-1}; y = Reshape(x, s)", "float[2,12]" },
        { "in x float[0,3]; w s int64{3,0}; y = Reshape(x, s) allowzero=1", "float[3,0]" },
        { "opset 1; in x float[2,6]; y = Reshape(x) shape=[-1,3]", "float[4,3]" },
        { "in x float[1]; w s int64{}; y = Reshape(x, s)", "float[]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, reshape_works_out_what_it_can_around_open_dimensions)
{
    static const rule_case cases[] = {
        /* n*8 elements in rows of 4: n stands on both sides of 0, and 8/4 = 2 */
        { "in x float[n,8]; w s int64{0,4,-1}; y = Reshape(x, s)", "float[n,4,2]" },
        /* an unknown dimension that is copied does not matter either */
        { "in x float[?,8]; w s int64{0,-1}; y = Reshape(x, s)", "float[?,8]" },
        { "in x float[n,1]; w s int64{-1}; y = Reshape(x, s)", "float[n]" },
        { "in x float[n,8]; w s int64{-1,4}; y = Reshape(x, s)", "float[?,4]" },
        { "in x float[...]; w s int64{2,-1}; y = Reshape(x, s)", "float[2,?]" },
        { "in x float[2,3]; in s int64[3]; y = Reshape(x, s)", "float[?,?,?]" },
        { "in x float[2,3]; in s int64[?]; y = Reshape(x, s)", "float[...]" },
        /* the shape is made of x's own: (n, 12, 5) from [n,5,12] */
        { "in x float[n,5,12]; w zero int64(0); w a int64{0}; w rest int64{12,-1};"
          "s = Shape(x); g = Gather(s, zero); u = Unsqueeze(g, a);"
          "c = Concat(u, rest) axis=0; y = Reshape(x, c); out y",
          "float[n,12,5]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, reshape_refuses_what_does_not_fit)
{
    static const rule_case cases[] = {
        { "in x float[2,6]; w s int64{5,2}; y = Reshape(x, s)", "error: 12 elements" },
        { "in x float[2,6]; w s int64{5,-1}; y = Reshape(x, s)", "error: rows of 5" },
        { "in x float[2,6]; w s int64{-1,-1}; y = Reshape(x, s)", "error: more than one -1" },
        { "in x float[2]; w s int64{2,0}; y = Reshape(x, s)", "error: dimension 1 of an input" },
        { "in x float[2]; w s int64{-2}; y = Reshape(x, s)", "error: -2" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, flatten_squeeze_unsqueeze_transpose)
{
    static const rule_case cases[] = {
        { "in x float[2,3,4]; y = Flatten(x)", "float[2,12]" },
        { "in x float[2,3,4]; y = Flatten(x) axis=0", "float[1,24]" },
        { "in x float[2,3,4]; y = Flatten(x) axis=-1", "float[6,4]" },
        { "in x float[2,3,4]; y = Flatten(x) axis=3", "float[24,1]" },
        { "in x float[2,3,4]; y = Flatten(x) axis=4", "error: axis 4 of an input of rank 3" },
        { "in x float[n,3,4]; y = Flatten(x)", "float[n,12]" },
        { "in x float[...]; y = Flatten(x)", "float[?,?]" },
        { "in x float[1,3,1]; w a int64{-1}; y = Squeeze(x, a)", "float[1,3]" },
        { "in x float[1,3,1]; y = Squeeze(x)", "float[3]" },
        { "opset 11; in x float[1,n]; y = Squeeze(x) axes=[0]", "float[n]" },
        { "in x float[1,n]; y = Squeeze(x)", "float[...]" },
        { "in x float[1,3]; in a int64[1]; y = Squeeze(x, a)", "float[?]" },
        { "in x float[1,3]; w a int64{1}; y = Squeeze(x, a)", "error: size 3, expected 1" },
        { "in x float[3]; w a int64{0,-1}; y = Unsqueeze(x, a)", "float[1,3,1]" },
        { "opset 1; in x float[n]; y = Unsqueeze(x) axes=[1]", "float[n,1]" },
        { "in x float[3]; in a int64[2]; y = Unsqueeze(x, a)", "float[?,?,?]" },
        { "in x float[3]; w a int64{0,0}; y = Unsqueeze(x, a)", "error: named twice" },
        { "in x float[3]; w a int64{5}; y = Unsqueeze(x, a)", "error: axis 5" },
        { "in x float[2,3,n]; y = Transpose(x)", "float[n,3,2]" },
        { "in x float[2,3,n]; y = Transpose(x) perm=[1,2,0]", "float[3,n,2]" },
        { "in x float[...]; y = Transpose(x) perm=[1,0]", "float[?,?]" },
        { "in x float[2,3]; y = Transpose(x) perm=[0,1,2]", "error: perm has 3 axes" },
        { "in x float[2,3]; y = Transpose(x) perm=[0,0]", "error: named twice" },
        { "in x any; y = Transpose(x)", "?[...]" },
        { "in x float[3]; w a int64(1); y = ms:ExpandDims(x, a)", "float[3,1]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, concat_adds_along_its_axis)
{
    static const rule_case cases[] = {
        { "in a float[2,3]; in b float[5,3]; y = Concat(a, b) axis=0", "float[7,3]" },
        { "in a float[2,n]; in b float[2,3]; y = Concat(a, b) axis=-1", "float[2,?]" },
        { "in a float[?,4]; in b float[2,4]; y = Concat(a, b) axis=1", "float[2,8]" },
        { "in a float[...]; in b float[2,4]; y = Concat(a, b) axis=1", "float[2,?]" },
        { "in a float[2,4]; y = Concat(a) axis=1", "float[2,4]" },
        { "in a float[2,0]; in b float[2,n]; y = Concat(a, b) axis=1", "float[2,n]" },
        { "in a float[2,4]; in b float[3,4]; y = Concat(a, b) axis=1", "error: 2" },
        { "in a float[2]; in b float[3,4]; y = Concat(a, b) axis=0", "error: rank 2" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, split_gives_each_output_its_part)
{
    static const rule_case cases[] = {
        { "opset 13; in x float[6,2]; a, b, c = Split(x)", "float[2,2] | float[2,2] | float[2,2]" },
        { "opset 11; in x float[6]; a, b = Split(x) split=[2,4]", "float[2] | float[4]" },
        { "in x float[2,6]; w s int64{1,5}; a, b = Split(x, s) axis=1", "float[2,1] | float[2,5]" },
        /* version 18: ceil(7 / 3) = 3, 3, and 1 is left */
        { "in x float[7]; a, b, c = Split(x) num_outputs=3", "float[3] | float[3] | float[1]" },
        { "in x float[n,4]; a, b = Split(x) num_outputs=2", "float[?,4] | float[?,4]" },
        { "in x float[6]; in s int64[2]; a, b = Split(x, s)", "float[?] | float[?]" },
        { "in x float[...]; a, b = Split(x)", "float[...] | float[...]" },
        { "opset 13; in x float[7]; a, b = Split(x)", "error: 7 cannot be split into 2" },
        { "opset 11; in x float[6]; a, b = Split(x) split=[2,5]", "error: sums to 7" },
        { "opset 11; in x float[6]; a, b = Split(x) split=[6]", "error: 1 parts" },
        { "opset 11; in x float[6]; a, b = Split(x) split=[-1,7]", "error: -1" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, slice_counts_what_is_left)
{
    static const rule_case cases[] = {
        { "in x float[10]; w s int64{2}; w e int64{7}; y = Slice(x, s, e)", "float[5]" },
        { "in x float[10]; w s int64{-3}; w e int64{99}; y = Slice(x, s, e)", "float[3]" },
        { "in x float[4,10]; w s int64{1}; w e int64{9}; w a int64{-1}; w t int64{3};"
          "y = Slice(x, s, e, a, t)", /* 1, 4, 7 */
          "float[4,3]" },
        { "in x float[10]; w s int64{-1}; w e int64{-100}; w a int64{0}; w t int64{-1};"
          "y = Slice(x, s, e, a, t)",
          "float[10]" },
        { "in x float[10]; w s int64{8}; w e int64{1}; w a int64{0}; w t int64{-3};"
          "y = Slice(x, s, e, a, t)", /* 8, 5, 2 */
          "float[3]" },
        { "in x float[10]; w s int64{7}; w e int64{2}; y = Slice(x, s, e)", "float[0]" },
        { "opset 1; in x float[4,10]; y = Slice(x) starts=[1] ends=[3] axes=[1]", "float[4,2]" },
        { "opset 1; in x float[4,10]; y = Slice(x) starts=[1,2] ends=[3,-1]", "float[2,7]" },
        { "opset 1; in x float[4]; y = Slice(x) starts=[1,2] ends=[3]", "error: 2 starts" },
        { "in x float[4]; w s int64{0}; w e int64{1}; w a int64{3}; y = Slice(x, s, e, a)",
          "error: axis 3" },
        { "in x float[4]; w s int64{0}; w e int64{1}; w a int64{0}; w t int64{0};"
          "y = Slice(x, s, e, a, t)",
          "error: step 0 is 0" },
        { "in x float[4]; w s int64{0,0}; w e int64{1,1}; w a int64{0,-1}; y = Slice(x, s, e, a)",
          "error: named twice" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, slice_of_an_open_dimension_is_known_where_it_must_be)
{
    static const rule_case cases[] = {
        { "in x float[n]; w s int64{0}; w e int64{9223372036854775807}; y = Slice(x, s, e)",
          "float[n]" },
        { "in x float[n]; w s int64{-1}; w e int64{9223372036854775807}; y = Slice(x, s, e)",
          "float[1]" },
        { "in x float[n]; w s int64{0}; w e int64{1}; y = Slice(x, s, e)", "float[1]" },
        { "in x float[?]; w s int64{0}; w e int64{1}; y = Slice(x, s, e)", "float[?]" },
        { "in x float[n]; w s int64{1}; w e int64{9223372036854775807}; y = Slice(x, s, e)",
          "float[?]" },
        { "in x float[n,4]; w s int64{1}; w e int64{3}; w a int64{1}; y = Slice(x, s, e, a)",
          "float[n,2]" },
        /* where the axes are known only those are open; where they are not, all are */
        { "in x float[5,4]; in s int64[1]; w e int64{3}; w a int64{1}; y = Slice(x, s, e, a)",
          "float[5,?]" },
        { "in x float[5,4]; in s int64[1]; in e int64[1]; y = Slice(x, s, e)", "float[?,4]" },
        { "in x float[5,4]; w s int64{0}; w e int64{1}; in a int64[1]; y = Slice(x, s, e, a)",
          "float[?,?]" },
        { "in x float[...]; w s int64{0}; w e int64{1}; y = Slice(x, s, e)", "float[...]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, pads_add_to_both_ends)
{
    static const rule_case cases[] = {
        { "in x float[2,3]; w p int64{0,1,0,2}; y = Pad(x, p)", "float[2,6]" },
        { "opset 2; in x float[2,3]; y = Pad(x) pads=[1,0,1,-1]", "float[4,2]" },
        { "opset 1; in x float[3]; y = Pad(x) paddings=[1,1]", "float[5]" },
        { "in x float[2,3]; w p int64{4,1}; w a int64{-1}; y = Pad(x, p, , a)", "float[2,8]" },
        { "in x float[n,3]; w p int64{0,1,0,1}; y = Pad(x, p)", "float[n,5]" },
        { "in x float[n,3]; w p int64{1,1,0,1}; y = Pad(x, p)", "float[?,5]" },
        { "in x float[2,3]; in p int64[4]; y = Pad(x, p)", "float[?,?]" },
        { "in x float[2,3]; w p int64{0,1,0}; y = Pad(x, p)", "error: 3 pads" },
        { "in x float[2]; w p int64{-2,-1}; y = Pad(x, p)", "error: negative" },
        { "in x float[20,10,4]; w s int64{10,7,6}; y = CenterCropPad(x, s)", "float[10,7,6]" },
        { "in x float[20,10,4]; w s int64{12}; y = CenterCropPad(x, s) axes=[1]",
          "float[20,12,4]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, expand_and_tile_repeat)
{
    static const rule_case cases[] = {
        { "in x float[3,1]; w s int64{2,1,6}; y = Expand(x, s)", "float[2,3,6]" },
        { "in x float[3,4]; w s int64{1}; y = Expand(x, s)", "float[3,4]" },
        { "in x float[n,1]; w s int64{1,5}; y = Expand(x, s)", "float[n,5]" },
        { "in x float[3,1]; in s int64[2]; y = Expand(x, s)", "float[3,?]" },
        { "in x float[3,1]; in s int64[?]; y = Expand(x, s)", "float[...]" },
        { "in x float[3]; w s int64{4}; y = Expand(x, s)", "error: 3" },
        { "in x float[2,3]; w r int64{1,4}; y = Tile(x, r)", "float[2,12]" },
        { "in x float[n,3]; w r int64{1,2}; y = Tile(x, r)", "float[n,6]" },
        { "in x float[2,3]; in r int64[2]; y = Tile(x, r)", "float[?,?]" },
        { "opset 1; in x float[2,3]; w t int64(4); w a int64(1); y = Tile(x, t, a)",
          "float[2,12]" },
        { "in x float[2,3]; w r int64{2}; y = Tile(x, r)", "error: 1 repeats" },
        { "in x float[2]; w r int64{-2}; y = Tile(x, r)", "error: -2" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, blocks_move_between_channels_and_pixels)
{
    static const rule_case cases[] = {
        { "in x float[1,8,2,3]; y = DepthToSpace(x) blocksize=2", "float[1,2,4,6]" },
        { "in x float[1,2,4,6]; y = SpaceToDepth(x) blocksize=2", "float[1,8,2,3]" },
        { "in x float[n,8,h,3]; y = DepthToSpace(x) blocksize=2", "float[n,2,?,6]" },
        { "in x float[...]; y = SpaceToDepth(x) blocksize=2", "float[?,?,?,?]" },
        { "in x float[1,6,2,3]; y = DepthToSpace(x) blocksize=2", "error: multiple of 4" },
        { "in x float[1,6,2]; y = DepthToSpace(x) blocksize=2", "error: rank 3, expected 4" },
        { "in x float[1,6,2,2]; y = DepthToSpace(x)", "error: blocksize is 0" },
    };
    CASES_CHECK(cases);
}

/* A shape of 63 dimensions of 2^40 elements each: no product of them fits 64 bits. */
Test(shapes_move, sizes_that_64_bits_cannot_hold_are_refused_and_not_wrapped)
{
    static const rule_case cases[] = {
        { "in x float[1099511627776,1099511627776]; y = Flatten(x) axis=2", "error: 64 bits" },
        { "in x float[1099511627776]; w r int64{9007199254740992}; y = Tile(x, r)", "float[?]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_move, survives_running_out_of_memory_anywhere)
{
    const char *text = "in x float[n,8]; w s int64{0,4,-1}; y = Reshape(x, s);"
                       "a, b = Split(y) num_outputs=2 axis=1; z = Concat(a, b) axis=1";
    char got[256] = "";
    clv_status status = CLV_ENOMEM;
    for (size_t limit = 1; status != CLV_OK; limit += 64) {
        status = case_run(text, limit, got, sizeof got);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM, "%s", got);
    }
    cr_expect_str_eq(got, "float[n,4,2]");
}
