#include "rule_case.h"

#include "graph/ops.h"

/* Quantised operators, classic models, text, optimisers and com.microsoft. Shapes by hand. */

Test(shapes_domains, quantised_tensors_take_the_type_of_their_zero_point_or_scale)
{
    static const rule_case cases[] = {
        { "in x float[2,n]; in s float[]; in z int8[]; y = QuantizeLinear(x, s, z)", "int8[2,n]" },
        { "in x float[2,n]; in s float[]; y = QuantizeLinear(x, s)", "uint8[2,n]" },
        { "opset 21; in x float[2]; in s float[]; y = QuantizeLinear(x, s) output_dtype=3",
          "int8[2]" },
        { "in x int8[2,n]; in s float[]; y = DequantizeLinear(x, s)", "float[2,n]" },
        { "opset 19; in x int8[2,n]; in s float16[]; y = DequantizeLinear(x, s)", "float16[2,n]" },
        { "in x float[2,n]; y, s, z = DynamicQuantizeLinear(x)", "uint8[2,n] | float[] | uint8[]" },
        { "in x uint8[2]; in s float16[]; y = ms:DequantizeLinear(x, s)", "float16[2]" },
        { "in a uint8[2,1]; in s float[]; in z uint8[]; in b uint8[3];"
          "y = ms:QLinearAdd(a, s, z, b, s, z, s, z)",
          "uint8[2,3]" },
        { "in s float[]; in z uint8[]; in a uint8[2,3]; in b uint8[2,4];"
          "y = ms:QLinearConcat(s, z, a, s, z, b, s, z) axis=1",
          "uint8[2,7]" },
        { "in x uint8[2,3,4,5]; in s float[]; in z uint8[];"
          "y = ms:QLinearGlobalAveragePool(x, s, z, s, z)",
          "uint8[2,3,1,1]" },
        { "in x uint8[2,4,5,3]; in s float[]; in z uint8[];"
          "y = ms:QLinearGlobalAveragePool(x, s, z, s, z) channels_last=1",
          "uint8[2,1,1,3]" },
        { "in x uint8[2,3,4,6]; in s float[]; in z uint8[];"
          "y = ms:QLinearAveragePool(x, s, z, s, z) kernel_shape=[2,2] strides=[2,2]",
          "uint8[2,3,2,3]" },
        { "in x uint8[2,3,4]; in s float[]; in z uint8[];"
          "y = ms:QLinearReduceMean(x, s, z, s, z) axes=[1] keepdims=0",
          "uint8[2,4]" },
        { "in a uint8[2,3]; in s float[]; in z uint8[]; in b uint8[5,3];"
          "y = ms:QGemm(a, s, z, b, s, z) transB=1",
          "float[2,5]" },
        { "in a uint8[2,3]; in b uint8[3,5]; in s float[];"
          "y = ms:MatMulIntegerToFloat(a, b, s, s)",
          "float[2,5]" },
        { "in a float[2,3]; in b int8[3,5]; in s float[]; y = ms:DynamicQuantizeMatMul(a, b, s)",
          "float[2,5]" },
        { "in a int16[4,2,3]; in b int16[3,5]; y = ms:MatMulInteger16(a, b)", "int32[4,2,5]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, convolutions_and_pools_with_the_channels_last)
{
    static const rule_case cases[] = {
        { "in x uint8[1,6,8,4]; in s float[]; in z uint8[]; in w_ uint8[6,2,3,3];"
          "y = ms:QLinearConv(x, s, z, w_, s, z, s, z) channels_last=1 group=2 strides=[2,1]",
          "uint8[1,2,6,6]" },
        { "in x uint8[1,4,6,8]; in s float[]; in z uint8[]; in w_ uint8[6,2,3,3];"
          "y = ms:QLinearConv(x, s, z, w_, s, z, s, z) group=2",
          "uint8[1,6,4,6]" },
        { "in x float[n,7,8,4]; in w_ float[6,3,3,4]; y = ms:NhwcConv(x, w_)", "float[n,5,6,6]" },
        { "in x int8[n,7,8,4]; y = ms:NhwcMaxPool(x) kernel_shape=[2,3] strides=[2,2]",
          "int8[n,3,3,4]" },
        { "in x float[1,2,6,6]; in m int32[1,1,6,6]; y = ms:MaxpoolWithMask(x, m)"
          "kernel_shape=[2,2] strides=[2,2]",
          "float[1,2,3,3]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, classic_models_give_a_row_a_sample)
{
    static const rule_case cases[] = {
        { "in x float[4,3]; l, s = ml:LinearClassifier(x) classlabels_ints=[0,1,2]",
          "int64[4] | float[4,3]" },
        { "in x float[4,3]; l, s = ml:SVMClassifier(x) classlabels_strings=['a','b']",
          "string[4] | float[4,2]" },
        { "in x float[n,3]; l, s = ml:TreeEnsembleClassifier(x) classlabels_int64s=[0,1]",
          "int64[n] | float[n,2]" },
        { "in x float[n,3]; y = ml:LinearRegressor(x) targets=2", "float[n,2]" },
        { "in x float[3]; y = ml:SVMRegressor(x)", "float[1,1]" },
        { "in x double[n,3]; y = ml:TreeEnsembleRegressor(x) n_targets=4", "float[n,4]" },
        { "in x double[n,3]; y = ml:TreeEnsemble(x) n_targets=4", "double[n,4]" },
        { "in x int64[n,3]; y = ml:Scaler(x)", "float[n,3]" },
        { "in x double[n,3]; y = ml:Normalizer(x)", "float[n,3]" },
        { "in x float[n,3]; y = ml:Imputer(x)", "float[n,3]" },
        { "in x string[n,1]; y = ml:OneHotEncoder(x) cats_strings=['a','b','c']", "float[n,1,3]" },
        { "in x string[n]; y = ml:LabelEncoder(x) values_int64s=[1,2]", "int64[n]" },
        { "in x string[n]; y = ml:CategoryMapper(x)", "int64[n]" },
        { "in x float[n,2]; in y float[n,3]; z = ml:FeatureVectorizer(x, y) inputdimensions=[2,3]",
          "float[n,5]" },
        { "in x float[n,2]; y = ml:LinearRegressor(x) targets=0", "error: targets is 0" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, text)
{
    static const rule_case cases[] = {
        { "in x string[4]; y = StringNormalizer(x)", "string[4]" },
        { "in x string[4]; y = StringNormalizer(x) stopwords=['a']", "string[?]" },
        { "in x string[1,4]; y = StringNormalizer(x) stopwords=['a']", "string[1,?]" },
        { "opset 20; in a string[2,1]; in b string[3]; y = StringConcat(a, b)", "string[2,3]" },
        { "opset 20; in x string[n]; y, c = StringSplit(x)", "string[n,?] | int64[n]" },
        { "opset 20; in x string[n]; y = RegexFullMatch(x)", "bool[n]" },
        { "in x int64[5]; y = TfIdfVectorizer(x) ngram_indexes=[0,3,6,2]", "float[7]" },
        { "in x int64[n,5]; y = TfIdfVectorizer(x) ngram_indexes=[0,3]", "float[n,4]" },
        { "in x string[n,2]; y = ms:MurmurHash3(x)", "uint32[n,2]" },
        { "in x string[n,2]; y = ms:MurmurHash3(x) positive=0", "int32[n,2]" },
        { "in x string[n]; y = ms:Tokenizer(x)", "string[n,?]" },
        { "in x float[n,8]; y = ms:UnfoldTensor(x) size=4 step=2", "float[n,3,4]" },
        { "in x float[n,8]; y = ms:UnfoldTensor(x) dim=0 size=4", "float[?,8,4]" },
        { "in x float[8]; y = ms:UnfoldTensor(x) size=9", "error: window of 9" },
        { "in x float[8]; y = ms:UnfoldTensor(x) size=4 step=0", "error: step 0" },
        { "in x float[4,6]; y = ms:DynamicTimeWarping(x)", "int32[2,?]" },
        { "in s int64[4]; in c int64[n]; t, m = ms:BifurcationDetector(s, c)",
          "int64[?] | int64[1]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, optimisers_return_tensors_and_states_without_the_gradients)
{
    static const rule_case cases[] = {
        { "in r float[]; in t int64[]; in x float[2]; in g float[2]; in h float[2];"
          "y, k = train:Adagrad(r, t, x, g, h)",
          "float[2] | float[2]" },
        { "in r float[]; in t int64[]; in a float[1]; in b float[2]; in v float16[1];"
          "in w_ float16[2]; y, z, s, u = train:Momentum(r, t, a, b, a, b, v, w_)",
          "float[1] | float[2] | float16[1] | float16[2]" },
        { "in r float[]; in t int64[]; in a float[1]; in v float16[1]; in h double[1];"
          "y, s, u = train:Adam(r, t, a, a, v, h)",
          "float[1] | float16[1] | double[1]" },
        { "in r float[]; in t int64[]; in a float[1]; y = train:Adam(r, t, a)", "error: 3 inputs" },
        { "in a float[1]; in b float[2]; y, z = train:Gradient(a, b) xs=['a','b']",
          "float[1] | float[2]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, fused_products_and_norms)
{
    static const rule_case cases[] = {
        { "in x float16[b,s,64]; in q uint8[32,2,16]; y = ms:MatMulNBits(x, q, q) K=64 N=32",
          "float16[b,s,32]" },
        { "in x float16[b,s,60]; in q uint8[32,2,16]; y = ms:MatMulNBits(x, q, q) K=64 N=32",
          "error: 60" },
        { "in x float[b,64]; in q uint8[1024]; in a float[32]; y = ms:MatMulBnb4(x, q, a) K=64 "
          "N=32",
          "float[b,32]" },
        { "in a float[5,3,2]; in b float[5,3,4]; y = ms:FusedMatMul(a, b) transA=1",
          "float[5,2,4]" },
        { "in a float[3,5,2]; in b float[5,2,4]; y = ms:FusedMatMul(a, b) transBatchA=1",
          "float[5,3,4]" },
        { "in a float[2,3]; in b float[4,3]; y = ms:FusedGemm(a, b) transB=1", "float[2,4]" },
        { "in x float[1,3,8,8]; in k float[6,3,3,3]; y = ms:FusedConv(x, k)", "float[1,6,6,6]" },
        { "in x float[1,8,8,3]; in k float[6,3,3,3]; y = ms:NhwcConv(x, k)", "float[1,6,6,6]" },
        { "in x float[2,5,8]; in s float[2,5,8]; in g float[8];"
          "y, m, v, t = ms:SkipLayerNormalization(x, s, g)",
          "float[2,5,8] | float[2,5,1] | float[2,5,1] | float[2,5,8]" },
        { "in x float16[b,5,8]; in s float16[b,5,8]; in g float16[8];"
          "y, , , t = ms:SkipSimplifiedLayerNormalization(x, s, g)",
          "float16[b,5,8] | float16[b,5,8]" },
        { "in x float[2,8]; in g float16[8]; y, v = SimplifiedLayerNormalization(x, g) axis=-1",
          "float16[2,8] | float[2,1]" },
        { "in i int32[b,s]; in w_ float[99,8]; y, m, t = ms:EmbedLayerNormalization(i, , w_)",
          "float[b,s,8] | int32[b] | float[b,s,8]" },
        { "in x float[2,4,10]; in b float[10]; y = ms:BiasSplitGelu(x, b)", "float[2,4,5]" },
        { "in x float[2,4,9]; in b float[9]; y = ms:BiasSplitGelu(x, b)", "error: even" },
        { "in x float[2,n]; y = ms:QuickGelu(x)", "float[2,n]" },
        { "in x float[2,4,4,8]; in g float[8]; y, t = ms:SkipGroupNorm(x, g, g, x)",
          "float[2,4,4,8] | float[2,4,4,8]" },
        { "in a float[4,3]; in b float[n,3]; y = ms:CDist(a, b)", "float[4,n]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, attention_and_its_cache)
{
    static const rule_case cases[] = {
        /* 8 heads of 16, 2 for keys and values; a cache of 15 and one new token */
        { "in q float16[b,1,128]; in k float16[b,1,32]; in p float16[b,2,15,16]; in l int32[b];"
          "w t int32(16); y, a, c = ms:GroupQueryAttention(q, k, k, p, p, l, t)"
          "num_heads=8 kv_num_heads=2",
          "float16[b,1,128] | float16[b,2,16,16] | float16[b,2,16,16]" },
        /* packed: (8 + 2*2) * 16 = 192 */
        { "in q float16[b,s,192]; in l int32[b]; w t int32(7);"
          "y, a, c = ms:GroupQueryAttention(q, , , , , l, t) num_heads=8 kv_num_heads=2",
          "float16[b,s,128] | float16[b,2,7,16] | float16[b,2,7,16]" },
        /* one buffer for past and present: as long as the buffer */
        { "in q float[2,1,128]; in k float[2,1,32]; in p float[2,2,64,16]; in l int32[2];"
          "w t int32(16); y, a = ms:GroupQueryAttention(q, k, k, p, p, l, t)"
          "num_heads=8 kv_num_heads=2",
          "float[2,1,128] | float[2,2,64,16]" },
        { "in q float[2,1,128]; in k float[2,1,32]; in p float[2,2,p,16]; in l int32[2]; in t "
          "int32[];"
          "y, a = ms:GroupQueryAttention(q, k, k, p, p, l, t) num_heads=8 kv_num_heads=2",
          "float[2,1,128] | float[2,2,?,16]" },
        { "in q float[b,s,32]; in k float[b,l,32]; in v float[b,l,64];"
          "y, a, c = ms:MultiHeadAttention(q, k, v) num_heads=4",
          "float[b,s,64] | float[b,4,l,8] | float[b,4,l,16]" },
        { "in q float[b,s,4,3,8]; y = ms:MultiHeadAttention(q) num_heads=4", "float[b,s,32]" },
        /* the scores are of what is filled of a shared buffer */
        { "in q float[2,1,128]; in k float[2,1,32]; in p float[2,2,64,16]; in l int32[2];"
          "w t int32(16); y, , , s = ms:GroupQueryAttention(q, k, k, p, p, l, t)"
          "num_heads=8 kv_num_heads=2 qk_output=1",
          "float[2,1,128] | float[2,8,1,16]" },
        { "in q float[2,1,8]; in p float[2,2,9,4]; w n int32{4};"
          "y, a, c, s = ms:DecoderMaskedMultiHeadAttention(q, q, q, , , p, p, n)"
          "num_heads=2 past_present_share_buffer=1",
          "float[2,1,8] | float[2,2,9,4] | float[2,2,9,4] | ?[2,2,1,5]" },
        { "in q float[2,1,28]; in k float[2,2,9,4]; in v float[2,2,9,6];"
          "y, a, c = ms:DecoderMaskedMultiHeadAttention(q, , , , , k, v)"
          "num_heads=2 past_present_share_buffer=1",
          "float[2,1,12] | float[2,2,9,4] | float[2,2,9,6]" },
        { "in q float[2,3,8]; in p float[2,2,9,4]; in n int32[1];"
          "y, a, c, s = ms:MultiHeadAttention(q, q, q, , , , p, p, n) num_heads=2",
          "float[2,3,8] | float[2,2,9,4] | float[2,2,9,4] | ?[2,2,3,?]" },
        { "in q float[2,1,32]; in k float[2,1,32]; in p float[2,4,6,8];"
          "y, a, c = ms:MultiHeadAttention(q, k, k, , , , p, p) num_heads=4",
          "float[2,1,32] | float[2,4,7,8] | float[2,4,7,8]" },
        { "in q float[2,1,32]; in k float[2,4,9,8]; y = ms:MultiHeadAttention(q, k, k) num_heads=4",
          "float[2,1,32]" },
        { "in q float[2,1,30]; y = ms:MultiHeadAttention(q, q, q) num_heads=4",
          "error: width of 30" },
        { "in q float[2,1,32]; in p float[2,4,64,8];"
          "y, a = ms:DecoderMaskedMultiHeadAttention(q, q, q, , , p, p) num_heads=4"
          "past_present_share_buffer=1",
          "float[2,1,32] | float[2,4,64,8]" },
        { "in x float[b,5,16]; in w_ float[16,96]; in p float[2,b,4,3,8];"
          "y, a = ms:Attention(x, w_, , , p) num_heads=4",
          "float[b,5,32] | float[2,b,4,8,8]" },
        { "in x float[b,5,16]; in w_ float[16,80]; y = ms:Attention(x, w_) num_heads=4"
          "qkv_hidden_sizes=[32,32,16]",
          "float[b,5,16]" },
        { "in x uint8[b,5,16]; in w_ uint8[16,96]; in b_ float[96];"
          "y = ms:QAttention(x, w_, b_) num_heads=4",
          "float[b,5,32]" },
        { "in x float[n,16]; in w_ float[16,96]; y = ms:PackedAttention(x, w_) num_heads=4",
          "float[n,32]" },
        { "in q float[n,4,3,8]; y = ms:PackedMultiHeadAttention(q) num_heads=4", "float[n,32]" },
        { "in x float[2,5,8]; in c int32[2]; y, o, e, m = ms:RemovePadding(x, c)",
          "float[?,8] | int32[2,5] | int32[3] | int32[1]" },
        { "in x float[n,8]; in o int32[2,5]; y = ms:RestorePadding(x, o)", "float[2,5,8]" },
        { "in t float[32,4]; w q int64(5); w k int64(7);"
          "y = ms:RelativePositionBias(t, q, k) max_distance=128",
          "float[1,4,5,7]" },
        { "in q float[2,5,32]; y = ms:GatedRelativePositionBias(q) num_heads=4", "float[2,4,5,5]" },
        { "in x float[2,5,32]; y = ms:RotaryEmbedding(x)", "float[2,5,32]" },
        { "in x float[n,32]; y = ms:MoE(x, x, x)", "float[n,32]" },
    };
    CASES_CHECK(cases);
}

Test(shapes_domains, searches_are_as_long_as_they_may_get)
{
    static const rule_case cases[] = {
        { "in i int32[b,s]; w m int32{20}; w n int32{1}; w k int32{4}; w r_ int32{2};"
          "graph d; in x float[2]; y = Relu(x); end;"
          "y = ms:BeamSearch(i, m, n, k, r_) decoder=@d",
          "int32[b,2,20]" },
        { "in i int32[b,s]; w m int32{20}; graph d; in x float[2]; y = Relu(x); end;"
          "y = ms:GreedySearch(i, m) decoder=@d",
          "int32[b,20]" },
        { "in i int64[b,s]; in s_ float[b,v]; y = ms:NGramRepeatBlock(i, s_)", "float[b,v]" },
    };
    CASES_CHECK(cases);
}

static const char *prefix_of(const char *domain)
{
    return !strcmp(domain, "com.microsoft") ? "ms:"
           : !strcmp(domain, "ai.onnx.ml")  ? "ml:"
           : domain[0]                      ? "train:"
                                            : "";
}

/* One operator with n inputs of one type and three outputs: any answer or a clear refusal. */
static void try_operator(const clv_op_def *def, const char *type, int n, const char *attrs,
                         int opset)
{
    char text[2048], got[4096];
    snprintf(text, sizeof text, "opset %d; in x %s; a, b, c = %s%s(", opset, type,
             prefix_of(def->domain), def->name);
    for (int i = 0; i < n; i++)
        strcat(text, i ? ", x" : "x");
    strcat(strcat(text, ") "), attrs);
    clv_status status = case_run(text, 0, got, sizeof got);
    cr_expect(status == CLV_OK || status == CLV_EFORMAT, "%s: %s", text, got);
    cr_expect(status == CLV_OK || strstr(got, def->name), "does not name it: %s: %s", text, got);
}

/* Lists that fit one operator or another, and a stride that fits none. */
#define EVERY_LIST                                                                                 \
    "axis=1 axes=[0,1] kernel_shape=[2,2] perm=[1,0] split=[1,1] pads=[1,1,1,1] starts=[0] "       \
    "ends=[1] shape=[2,0,-1] scales=[1.0,2.0] group=2 strides=[0,0] num_outputs=2"

Test(shapes_domains, every_operator_answers_whatever_it_is_given)
{
    static const char *const types[] = {
        "any",      "float[...]",   "float[]",     "float[?]",       "int64[2]",    "float[n,3]",
        "int64[0]", "float[2,3,4]", "seq int64[]", "float[2,4,8,8]", "opt float[2]"
    };
    static const char *const attrs[] = {
        "", "axis=-1 num_heads=2 kv_num_heads=1 blocksize=2 K=8 N=4 layout=1 keepdims=0", EVERY_LIST
    };
    for (int32_t kind = 0; kind < clv_n_op_defs(); kind++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
            for (int n = 0; n <= 9; n += n < 4 ? 1 : 5)
                for (size_t a = 0; a < 3; a++)
                    for (int opset = 1; opset <= 24; opset += a == 0 ? 23 : 100)
                        try_operator(clv_op_def_at(kind), types[t], n, attrs[a], opset);
}

/* The shapes and indices that these four read are not weights; all other operators' are. */
Test(shapes_domains, four_operators_are_marked_as_holding_no_weights)
{
    int n = 0;
    for (int32_t kind = 0; kind < clv_n_op_defs(); kind++)
        n += (clv_op_def_at(kind)->flags & CLV_OPF_NO_BYTES_COST) != 0;
    cr_expect_eq(n, 4);
    static const char *const names[] = { "Reshape", "Slice", "Tile", "Expand" };
    for (size_t i = 0; i < 4; i++) {
        int32_t kind = clv_op_def_find(clv_str_of(""), clv_str_of(names[i]));
        cr_assert_geq(kind, 0);
        cr_expect(clv_op_def_at(kind)->flags & CLV_OPF_NO_BYTES_COST, "%s", names[i]);
    }
}
