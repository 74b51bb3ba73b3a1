#include "rule_case.h"

/* Resizing, grids, patches, pictures, recurrences, transforms. Shapes counted by hand. */

Test(shapes_image, resize_by_scales_rounds_down)
{
    static const rule_case cases[] = {
        { "opset 10; in x float[1,1,2,4]; w s float{1,1,0.6,0.6}; y = Resize(x, s)",
          "float[1,1,1,2]" }, /* 1.2 and 2.4 */
        { "in x float[1,1,2,2]; w s float{1,1,2,3.5}; y = Resize(x, , s)", "float[1,1,4,7]" },
        { "in x float[n,c,2,h]; w s float{1,1,2,2}; y = Resize(x, , s)", "float[n,c,4,?]" },
        { "in x float[1,1,2,2]; w s float{2,3}; y = Resize(x, , s) axes=[2,3]", "float[1,1,4,6]" },
        { "in x float[1,1,2,2]; in s float[4]; y = Resize(x, , s)", "float[?,?,?,?]" },
        { "in x float[1,1,2,2]; in s float[2]; y = Resize(x, , s) axes=[2,3]", "float[1,1,?,?]" },
        { "in x float[1,1,2,2]; w s float{2,2}; y = Resize(x, , s)", "error: 2 scales for 4" },
        { "in x float[1,1,2,2]; w s float{1,1,0,1}; y = Resize(x, , s)", "error: above 0" },
        { "in x float[...]; w s float{1,1,2,2}; y = Resize(x, , s)", "float[...]" },
        /* roi keeps half of 8, scaled by 2 */
        { "in x float[8]; w r float{0.25,0.75}; w s float{2};"
          "y = Resize(x, r, s) coordinate_transformation_mode='tf_crop_and_resize'",
          "float[8]" },
        { "in x float[8]; in r float[2]; w s float{2};"
          "y = Resize(x, r, s) coordinate_transformation_mode='tf_crop_and_resize'",
          "float[?]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_image, resize_to_sizes_may_keep_the_aspect_ratio)
{
    static const rule_case cases[] = {
        { "in x float[1,1,2,4]; w z int64{1,1,7,8}; y = Resize(x, , , z)", "float[1,1,7,8]" },
        { "in x float[1,1,2,4]; w z int64{7,8}; y = Resize(x, , , z) axes=[3,2]",
          "float[1,1,8,7]" },
        /* scales 7/2 and 8/4: the smaller is 2, the larger 3.5 */
        { "in x float[1,1,2,4]; w z int64{7,8}; y = Resize(x, , , z) axes=[2,3]"
          "keep_aspect_ratio_policy='not_larger'",
          "float[1,1,4,8]" },
        { "in x float[1,1,2,4]; w z int64{7,8}; y = Resize(x, , , z) axes=[2,3]"
          "keep_aspect_ratio_policy='not_smaller'",
          "float[1,1,7,14]" },
        { "in x float[1,1,h,4]; w z int64{7,8}; y = Resize(x, , , z) axes=[2,3]"
          "keep_aspect_ratio_policy='not_larger'",
          "float[1,1,?,?]" },
        { "in x float[1,1,2,4]; in z int64[4]; y = Resize(x, , , z)", "float[?,?,?,?]" },
        { "in x float[2]; w z int64{-7}; y = Resize(x, , , z)", "error: -7" },
        { "in x float[2]; w z int64{1,2}; y = Resize(x, , , z)", "error: 2 sizes for 1" },
        { "in x float[2]; w z int64{1}; y = Resize(x, , , z) axes=[1]", "error: axis 1" },
    };
    CASES_CHECK(cases);
}

Test(shapes_image, upsample_in_its_three_forms)
{
    static const rule_case cases[] = {
        { "opset 1; in x float[1,1,2,2]; y = Upsample(x) height_scale=2.0 width_scale=3.0",
          "float[1,1,4,6]" },
        { "opset 7; in x float[1,1,2,2]; y = Upsample(x) scales=[1.0,1.0,2.0,3.0]",
          "float[1,1,4,6]" },
        { "opset 9; in x float[1,1,2,2]; w s float{1,1,2,3}; y = Upsample(x, s)",
          "float[1,1,4,6]" },
        { "opset 9; in x float[1,1,2,2]; in s float[4]; y = Upsample(x, s)", "float[?,?,?,?]" },
        { "opset 7; in x float[2,2]; y = Upsample(x) scales=[1.0]", "error: 1 scales" },
    };
    CASES_CHECK(cases);
}

Test(shapes_image, grids_patches_and_pictures)
{
    static const rule_case cases[] = {
        { "in x float[n,3,4,5]; in g float[n,6,7,2]; y = GridSample(x, g)", "float[n,3,6,7]" },
        { "in x float[2,3,4,5,6]; in g float[2,7,8,9,3]; y = GridSample(x, g)",
          "float[2,3,7,8,9]" },
        { "in x float[...]; in g float[2,6,7,2]; y = GridSample(x, g)", "float[2,?,6,7]" },
        { "in x float[2,3,4,5]; in g float[3,6,7,2]; y = GridSample(x, g)", "error: batch" },
        { "opset 20; in t float[2,2,3]; w s int64{2,3,5,6}; y = AffineGrid(t, s)",
          "float[2,5,6,2]" },
        { "opset 20; in t float[2,3,4]; w s int64{2,3,4,5,6}; y = AffineGrid(t, s)",
          "float[2,4,5,6,3]" },
        { "opset 20; in t float[2,2,3]; in s int64[?]; y = AffineGrid(t, s)", "float[...]" },
        { "opset 20; in x uint8[n]; y = ImageDecoder(x)", "uint8[?,?,3]" },
        { "opset 20; in x uint8[n]; y = ImageDecoder(x) pixel_format='Grayscale'", "uint8[?,?,1]" },
        { "in x float[1,5,5]; w i int64{5,5}; w b int64{1,5}; y = Col2Im(x, i, b)",
          "float[1,1,5,5]" },
        { "in x float[n,10,5]; w i int64{5,5}; w b int64{1,5}; y = Col2Im(x, i, b)",
          "float[n,2,5,5]" },
        { "in x float[1,7,5]; w i int64{5,5}; w b int64{1,5}; y = Col2Im(x, i, b)",
          "error: block of 5" },
        { "in x float[1,3,8,8]; in r float[5,4]; in b int32[5]; w s int32{2,4};"
          "y = ms:CropAndResize(x, r, b, s)",
          "float[5,3,2,4]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_image, recurrences_in_both_layouts)
{
    static const rule_case cases[] = {
        { "in x float[7,2,3]; in w_ float[1,20,3]; in r float[1,20,5];"
          "y, h, c = LSTM(x, w_, r) hidden_size=5",
          "float[7,1,2,5] | float[1,2,5] | float[1,2,5]" },
        { "in x float[s,b,3]; in w_ float[2,15,3]; in r float[2,15,5];"
          "y, h = GRU(x, w_, r) direction='bidirectional'",
          "float[s,2,b,5] | float[2,b,5]" },
        { "in x float[2,7,3]; in w_ float[1,5,3]; in r float[1,5,5]; y, h = RNN(x, w_, r) layout=1",
          "float[2,7,1,5] | float[2,1,5]" },
        { "in x float[7,2,3]; in w_ float[1,5,3]; in r float[1,5,5]; , h = RNN(x, w_, r)",
          "float[1,2,5]" },
        { "in x any; in w_ any; in r any; y, h = RNN(x, w_, r)", "?[?,1,?,?] | ?[1,?,?]" },
        { "in x float[7,2,3]; in w_ float[1,5,3]; in r float[1,5,5];"
          "y = RNN(x, w_, r) hidden_size=6",
          "error: hidden size" },
        { "in x float[7,3]; in w_ any; in r any; y = RNN(x, w_, r)", "error: rank 2, expected 3" },
        { "in x float[7,2,3]; in w_ int8[1,3,20]; in r int8[1,5,20];"
          "y, h, c = ms:DynamicQuantizeLSTM(x, w_, r)",
          "float[7,1,2,5] | float[1,2,5] | float[1,2,5]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_image, states_are_carried_from_call_to_call)
{
    static const rule_case cases[] = {
        /* 4 queries of 8 share 2 states of 8 by 6; 4 results of 6 */
        { "in q float16[b,t,32]; in k float16[b,t,16]; in v float16[b,t,12];"
          "y, s = ms:LinearAttention(q, k, v) q_num_heads=4 kv_num_heads=2",
          "float16[b,t,24] | float16[b,2,8,6]" },
        /* more states than queries; the states have a type of their own */
        { "in q float16[2,3,8]; in k float16[2,3,16]; in v float16[2,3,12]; in p float[2,4,4,3];"
          "y, s = ms:LinearAttention(q, k, v, p) q_num_heads=2 kv_num_heads=4",
          "float16[2,3,12] | float[2,4,4,3]" },
        { "opset 27; in q float[2,3,8]; in k float[2,3,8]; in v float[2,3,n];"
          "y, s = LinearAttention(q, k, v) q_num_heads=2 kv_num_heads=2",
          "float[2,3,?] | float[2,2,4,?]" },
        { "in q float[2,3,8]; in v float[2,3,8];"
          "y, s = ms:LinearAttention(q, q, v) q_num_heads=2 kv_num_heads=2 state_window=5",
          "float[2,3,8] | float[5,2,2,4,4]" },
        { "in q any; in v any; y, s = ms:LinearAttention(q, q, v)", "?[?,?,?] | ?[?,?,?,?]" },
        { "in q float[2,3,8]; y, s = ms:LinearAttention(q, q, q) q_num_heads=0 kv_num_heads=2",
          "error: q_num_heads is 0" },
        { "in x float[b,4,t]; in w_ float[4,1,3]; y, s = ms:CausalConvWithState(x, w_)",
          "float[b,4,t] | float[b,4,2]" },
        { "in x float[2,4,6]; in w_ float[4,1,3]; y, s = ms:CausalConvWithState(x, w_)"
          "state_window=5",
          "float[2,4,6] | float[5,2,4,2]" },
        { "in x float[2,6,4]; in w_ float[4,1,3]; y, s = ms:CausalConvWithState(x, w_)"
          "channels_last=1 dilation=2",
          "float[2,6,4] | float[2,4,4]" },
        { "in x float[2,4,6,5]; in w_ float[4,1,3,2]; y, s = ms:CausalConvWithState(x, w_) ndim=2",
          "float[2,4,6,5] | float[...]" },
        { "in x float[2,4,6]; in w_ float[4,1,0]; y, s = ms:CausalConvWithState(x, w_)",
          "error: the kernel has 0 steps" },
        { "in x float[2,4,6]; in w_ any; y, s = ms:CausalConvWithState(x, w_) dilation=0",
          "error: dilation is 0" },
        { "in a float[b,t,4]; in d float[4]; y, z = ms:LinearAttentionGate(a, d, d, a)",
          "float[b,t,4] | float[b,t,4]" },
        { "in i int64[b,s]; in m int64[4]; in v int64[6];"
          "y, z = ms:NGramHashMapping(i, m, v) max_ngram_size=4 n_head_per_ngram=2",
          "int64[b,s,6] | int64[b,3]" },
        { "in i int64[b,s]; in m int64[1]; in v int64[6];"
          "y, z = ms:NGramHashMapping(i, m, v) max_ngram_size=1 n_head_per_ngram=2",
          "error: runs of up to 1" },
        { "opset 27; in x float[2,4,6]; in w_ any; y, s = CausalConvWithState(x, w_)",
          "float[2,4,6] | float[2,4,?]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_image, transforms_windows_and_filter_banks)
{
    static const rule_case cases[] = {
        { "in x float[1,10,10,1]; y = DFT(x)", "float[1,10,10,2]" },
        { "in x float[1,10,10,1]; y = DFT(x) onesided=1 axis=2", "float[1,10,6,2]" },
        { "in x float[1,10,1]; w n int64(16); y = DFT(x, n)", "float[1,16,2]" },
        { "opset 20; in x float[1,10,12,1]; w a int64(1); y = DFT(x, , a) onesided=1",
          "float[1,6,12,2]" },
        { "opset 20; in x float[1,10,12,1]; y = DFT(x) onesided=1", "float[1,10,7,2]" },
        { "opset 20; in x float[1,10,1]; in a int64[]; y = DFT(x, , a)", "float[?,?,2]" },
        { "in x float[1,10,1]; w n int64(0); y = DFT(x, n)", "error: length is 0" },
        /* one-sided inverses give real numbers: 2 * (6 - 1) of them, or as many as are wanted */
        { "opset 20; in x float[1,6,12,2]; w a int64(1); y = DFT(x, , a) onesided=1 inverse=1",
          "float[1,10,12,1]" },
        { "in x float[1,6,2]; w n int64(11); y = DFT(x, n) onesided=1 inverse=1", "float[1,11,1]" },
        { "in x float[1,n,2]; y = DFT(x) onesided=1 inverse=1", "float[1,?,1]" },
        { "in x float[1,0,2]; y = DFT(x) onesided=1 inverse=1", "float[1,?,1]" },
        /* (128 - 16) / 8 + 1 = 15 frames of 16 / 2 + 1 bins */
        { "in x float[1,128,1]; w s int64(8); w f int64(16); y = STFT(x, s, , f)",
          "float[1,15,9,2]" },
        { "in x float[1,128,1]; w s int64(8); in w_ float[16]; y = STFT(x, s, w_) onesided=0",
          "float[1,15,16,2]" },
        { "in x float[b,t,1]; w s int64(8); w f int64(16); y = STFT(x, s, , f)", "float[b,?,9,2]" },
        { "in x float[1,8,1]; w s int64(8); w f int64(16); y = STFT(x, s, , f)", "error: longer" },
        { "w n int64(10); y = HannWindow(n)", "float[10]" },
        { "w n int64(10); y = HammingWindow(n) output_datatype=11", "double[10]" },
        { "in n int64[]; y = BlackmanWindow(n)", "float[?]" },
        { "w n int64(0); y = HannWindow(n)", "error: size is 0" },
        { "w m int64(8); w d int64(16); w r int64(8192); w a float(0); w b float(4096);"
          "y = MelWeightMatrix(m, d, r, a, b)",
          "float[9,8]" },
        { "in x float[4,16]; y = ms:Rfft(x) signal_ndim=1 onesided=1", "float[4,9,2]" },
        { "in x float[4,9,2]; y = ms:Irfft(x) signal_ndim=1 onesided=1", "float[4,16]" },
    };
    CASES_CHECK(cases);
}
