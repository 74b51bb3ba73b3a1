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
