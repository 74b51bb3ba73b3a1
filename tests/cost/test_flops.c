/* FLOPs of each formula, worked by hand: m is what runs on matrix units, v the rest. */
#include "made.h"

static clv_arena *arena;
static made *m;

static void setup(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
}
static void teardown(void) { clv_arena_free(arena); }
TestSuite(flops, .init = setup, .fini = teardown);

/* Builds, and compares the operator that writes y. */
static void expect(int64_t matrix, int64_t vector)
{
    made_build(m);
    const clv_op_cost *c = made_cost(m, "y");
    cr_expect_eq(c->matmul_flops, matrix, "matrix: %lld", (long long)c->matmul_flops);
    cr_expect_eq(c->flops - c->matmul_flops, vector, "vector: %lld",
                 (long long)(c->flops - c->matmul_flops));
    cr_expect_eq(m->costs->n_unsized, 0);
}

static void f32(const char *name, const char *dims) { made_input(m, name, CLV_DT_FLOAT, dims); }
static void weight(const char *name, const char *dims) { made_weight(m, name, CLV_DT_FLOAT, dims); }

/* covers: B.012 */
Test(flops, an_addition_is_one_for_each_element)
{
    f32("a", "2,3");
    f32("b", "3");
    made_op(m, "Add", "a,b", "y");
    expect(0, 6);
}

Test(flops, moving_data_is_free_of_arithmetic)
{
    f32("x", "2,3");
    made_op(m, "Transpose", "x", "y");
    expect(0, 0);
}

Test(flops, a_reduction_counts_what_it_reads)
{
    f32("x", "4,5");
    made_op(m, "ReduceSum", "x", "y");
    expect(0, 20);
}

Test(flops, a_sum_of_four_needs_three_additions_an_element)
{
    f32("x", "5");
    made_op(m, "Sum", "x,x,x,x", "y");
    expect(0, 15);
}

Test(flops, a_matrix_product_is_2mnk)
{
    f32("a", "7,4,5");
    weight("b", "5,6");
    made_op(m, "MatMul", "a,b", "y");
    expect(2 * 7 * 4 * 6 * 5, 0);
}

Test(flops, a_vector_times_a_matrix)
{
    f32("a", "5");
    weight("b", "5,6");
    made_op(m, "MatMul", "a,b", "y");
    expect(2 * 5 * 6, 0);
}

Test(flops, a_fused_product_reads_its_first_operand_turned)
{
    f32("a", "5,4"); /* [K,M] */
    weight("b", "5,6");
    made_op(m, "com.microsoft:FusedMatMul", "a,b", "y");
    made_attr_int(m, "transA", 1);
    expect(2 * 4 * 6 * 5, 0);
}

Test(flops, gemm_adds_its_bias)
{
    f32("a", "5,4");
    weight("b", "6,5");
    weight("c", "6");
    made_op(m, "Gemm", "a,b,c", "y");
    made_attr_int(m, "transA", 1);
    made_attr_int(m, "transB", 1);
    expect(2 * 4 * 6 * 5, 4 * 6);
}

Test(flops, a_convolution_in_groups_with_stride_and_bias)
{
    f32("x", "2,4,9,9"); /* 3x3, stride 2, pad 1: 5x5 out */
    weight("w", "6,2,3,3");
    weight("b", "6");
    made_op(m, "Conv", "x,w,b", "y");
    made_attr_int(m, "group", 2);
    made_attr_ints(m, "strides", "2,2");
    made_attr_ints(m, "pads", "1,1,1,1");
    expect(2LL * (2 * 6 * 5 * 5) * (2 * 3 * 3), 2 * 6 * 5 * 5);
}

Test(flops, a_zero_point_of_an_integer_convolution_is_no_bias)
{
    made_input(m, "x", CLV_DT_UINT8, "1,1,3,3");
    made_weight(m, "w", CLV_DT_UINT8, "1,1,3,3");
    made_weight(m, "z", CLV_DT_UINT8, "");
    made_op(m, "ConvInteger", "x,w,z", "y");
    expect(2 * 9, 0);
}

Test(flops, a_transposed_convolution_counts_by_its_input)
{
    f32("x", "1,3,4,4"); /* 2x2, stride 2: 8x8 out, 5 channels */
    weight("w", "3,5,2,2");
    weight("b", "5");
    made_op(m, "ConvTranspose", "x,w,b", "y");
    made_attr_ints(m, "strides", "2,2");
    expect(2 * (3 * 4 * 4) * (5 * 2 * 2), 5 * 8 * 8);
}

Test(flops, a_deformable_convolution_also_samples)
{
    f32("x", "1,2,4,4"); /* 2x2: 3x3 out */
    weight("w", "3,2,2,2");
    f32("o", "1,8,3,3");
    made_op(m, "DeformConv", "x,w,o", "y");
    /* 8 for each of 2 channels, 4 kernel elements, 9 places */
    expect(2 * (3 * 9) * (2 * 4), 8 * 2 * 4 * 9);
}

Test(flops, a_pool_looks_at_its_kernel_for_each_output)
{
    f32("x", "1,3,8,8");
    made_op(m, "MaxPool", "x", "y");
    made_attr_ints(m, "kernel_shape", "2,2");
    made_attr_ints(m, "strides", "2,2");
    expect(0, 3 * 4 * 4 * 4);
}

Test(flops, einsum_of_two_runs_over_all_labels)
{
    f32("a", "2,3,4,5");
    f32("b", "2,3,6,5");
    made_op(m, "Einsum", "a,b", "y");
    made_attr_str(m, "equation", "bhid, bhjd -> bhij");
    expect(2LL * 2 * 3 * 4 * 6 * 5, 0);
}

Test(flops, einsum_with_dots_and_no_result)
{
    f32("a", "7,4,5");
    f32("b", "5,6");
    made_op(m, "Einsum", "a,b", "y");
    made_attr_str(m, "equation", "...ij,jk");
    expect(2 * 7 * 4 * 5 * 6, 0);
}

Test(flops, einsum_of_three_joins_from_the_left)
{
    f32("a", "2,3");
    f32("b", "3,4");
    f32("c", "4,5");
    made_op(m, "Einsum", "a,b,c", "y");
    made_attr_str(m, "equation", "ij,jk,kl->il");
    expect(2 * 2 * 3 * 4 + 2 * 2 * 4 * 5, 0);
}

Test(flops, einsum_of_one_sums_or_turns)
{
    f32("x", "3,4");
    made_op(m, "Einsum", "x", "y");
    made_attr_str(m, "equation", "ij->i");
    made_op(m, "Einsum", "x", "z");
    made_attr_str(m, "equation", "ij->ji");
    expect(0, 12);
    cr_expect_eq(made_cost(m, "z")->flops, 0);
}

Test(flops, the_same_product_costs_the_same_however_it_is_written)
{
    f32("a", "8,16"); /* M 8, K 16, N 32 */
    f32("image", "1,16,2,4");
    weight("b", "16,32");
    weight("kernel", "32,16,1,1");
    made_op(m, "MatMul", "a,b", "y");
    made_op(m, "Gemm", "a,b", "gemm");
    made_op(m, "Einsum", "a,b", "einsum");
    made_attr_str(m, "equation", "mk,kn->mn");
    made_op(m, "Conv", "image,kernel", "conv");
    expect(2 * 8 * 16 * 32, 0);
    cr_expect_eq(made_cost(m, "gemm")->flops, 8192);
    cr_expect_eq(made_cost(m, "einsum")->flops, 8192);
    cr_expect_eq(made_cost(m, "conv")->flops, 8192);
}

Test(flops, an_lstm_has_four_gates_in_both_directions)
{
    f32("x", "5,2,3"); /* steps 5, batch 2, input 3, hidden 4 */
    weight("w", "2,16,3");
    weight("r", "2,16,4");
    made_op(m, "LSTM", "x,w,r", "y");
    made_attr_int(m, "hidden_size", 4);
    made_attr_str(m, "direction", "bidirectional");
    /* gates: 5*2 rows * 4 hidden * 4 * 2 directions */
    expect(2 * (5 * 2 * 4 * 4 * 2) * (3 + 4), 6 * (5 * 2 * 4 * 4 * 2));
}

Test(flops, attention_with_past_keys_and_shared_heads)
{
    f32("q", "2,8,3,16"); /* batch 2, 8 heads, 3 queries, width 16; 5 + 3 keys */
    f32("k", "2,2,3,16");
    f32("v", "2,2,3,10");
    f32("pk", "2,2,5,16");
    f32("pv", "2,2,5,10");
    made_op(m, "Attention", "q,k,v,,pk,pv", "y,nk,nv");
    expect(2 * (2 * 8 * 3 * 8) * (16 + 10), 6 * (2 * 8 * 3 * 8));
}

Test(flops, attention_with_its_heads_in_attributes)
{
    f32("q", "2,3,128");
    f32("k", "2,7,32");
    f32("v", "2,7,20");
    made_op(m, "Attention", "q,k,v", "y");
    made_attr_int(m, "q_num_heads", 8);
    made_attr_int(m, "kv_num_heads", 2);
    expect(2 * (2 * 8 * 3 * 7) * (16 + 10), 6 * (2 * 8 * 3 * 7));
}

Test(flops, grouped_attention_looks_at_past_and_new_keys)
{
    f32("q", "2,1,64"); /* 4 heads of 16 */
    f32("k", "2,1,32");
    f32("v", "2,1,32");
    f32("pk", "2,2,9,16");
    f32("pv", "2,2,9,16");
    made_input(m, "lens", CLV_DT_INT32, "2");
    made_input(m, "total", CLV_DT_INT32, "");
    made_op(m, "com.microsoft:GroupQueryAttention", "q,k,v,pk,pv,lens,total", "y,nk,nv");
    made_attr_int(m, "num_heads", 4);
    made_attr_int(m, "kv_num_heads", 2);
    made_build(m);
    cr_expect_eq(made_cost(m, "y")->matmul_flops, 2 * (2 * 4 * 1 * 10) * (16 + 16));
}

Test(flops, multi_head_attention_across_two_sequences)
{
    f32("q", "2,3,64");
    f32("k", "2,5,64");
    f32("v", "2,5,32");
    made_op(m, "com.microsoft:MultiHeadAttention", "q,k,v", "y");
    made_attr_int(m, "num_heads", 4);
    expect(2 * (2 * 4 * 3 * 5) * (16 + 8), 6 * (2 * 4 * 3 * 5));
}

/* 2 * 3 tokens; the states of 2 heads, 8 by 6, are added to, read by 4 queries and, for a delta
 * rule, read by the keys; what is forgotten is one product for each element. */
Test(flops, linear_attention_reads_and_changes_a_state_for_each_token)
{
    f32("q", "2,3,32");
    f32("k", "2,3,16");
    f32("v", "2,3,12");
    f32("g", "2,3,2");
    made_op(m, "com.microsoft:LinearAttention", "q,k,v,,g,g", "y,s");
    made_attr_int(m, "q_num_heads", 4);
    made_attr_int(m, "kv_num_heads", 2);
    expect(2 * (2 * 3) * (8 * 6) * (2 + 4 + 2), (2 * 3) * (8 * 6) * 2);
}

Test(flops, an_attention_that_projects_counts_the_projection)
{
    f32("x", "2,3,12");
    weight("w", "12,48"); /* 16 each, 4 heads of 4 */
    weight("b", "48");
    made_op(m, "com.microsoft:Attention", "x,w,b", "y");
    made_attr_int(m, "num_heads", 4);
    expect(2 * (2 * 3) * 12 * 48 + 2 * (2 * 4 * 3 * 3) * (4 + 4), 6 * (2 * 4 * 3 * 3));
}

Test(flops, packed_weights_count_by_their_attributes)
{
    f32("a", "2,3,64");
    made_weight(m, "b", CLV_DT_UINT8, "10,2,16");
    weight("s", "20");
    made_op(m, "com.microsoft:MatMulNBits", "a,b,s", "y");
    made_attr_int(m, "K", 64);
    made_attr_int(m, "N", 10);
    made_attr_int(m, "bits", 4);
    made_attr_int(m, "block_size", 32);
    expect(2 * 6 * 64 * 10, 2 * 64 * 10);
}

Test(flops, only_the_chosen_experts_compute)
{
    f32("x", "6,8"); /* 6 rows to 2 of 4 experts, 8 -> 16 -> 8 */
    f32("router", "6,4");
    weight("w1", "4,16,8");
    weight("w2", "4,8,16");
    made_op(m, "com.microsoft:MoE", "x,router,w1,,w2", "y");
    made_attr_int(m, "k", 2);
    expect(2 * 6 * 2 * (16 * 8 + 8 * 16), 5 * 6 * 4);
}

Test(flops, packed_experts_are_as_dear_as_plain_ones)
{
    f32("x", "6,8");
    f32("router", "6,4");
    made_weight(m, "w1", CLV_DT_UINT8, "4,16,4");
    weight("s1", "4,16");
    made_weight(m, "w2", CLV_DT_UINT8, "4,8,8");
    weight("s2", "4,8");
    made_op(m, "com.microsoft:QMoE", "x,router,w1,s1,,w2,s2", "y");
    made_attr_int(m, "k", 2);
    expect(2 * 6 * 2 * (16 * 8 + 8 * 16), 5 * 6 * 4);
}

Test(flops, a_fourier_transform_is_5_n_log_n)
{
    f32("x", "3,8,1");
    made_op(m, "DFT", "x", "y");
    expect(0, 3 * 5 * 8 * 3);
}

Test(flops, choosing_the_largest_sorts_each_row)
{
    f32("x", "3,16");
    made_ints(m, "k", "2");
    made_op(m, "TopK", "x,k", "y,i");
    expect(0, 3 * 16 * 4);
}

Test(flops, boxes_are_sorted_and_compared_with_those_kept)
{
    f32("boxes", "1,8,4");
    f32("scores", "1,2,8");
    made_ints(m, "most", "3");
    made_op(m, "NonMaxSuppression", "boxes,scores,most", "y");
    made_build(m);
    cr_expect_eq(made_cost(m, "y")->flops, 2 * 8 * (3 + 3 * 12));
}

Test(flops, sizes_of_no_element_cost_nothing)
{
    f32("a", "0,5");
    weight("b", "5,6");
    made_op(m, "MatMul", "a,b", "y");
    expect(0, 0);
}

Test(flops, an_open_shape_counts_nothing_and_is_listed)
{
    f32("a", "?,5");
    weight("b", "5,6");
    made_op(m, "MatMul", "a,b", "y");
    made_build(m);
    cr_expect_eq(made_cost(m, "y")->flops, 0);
    cr_assert_eq(m->costs->n_unsized, 1);
    cr_expect_eq(m->costs->unsized[0].i, 0);
}

Test(flops, what_64_bits_cannot_hold_is_refused_with_the_operators_name)
{
    f32("a", "1000000000,1"); /* 1e18 elements: 4e18 bytes still fit, 3 * 4 * 1e18 FLOPs do not */
    f32("b", "1,1000000000");
    made_op(m, "Add", "a,b", "wide");
    made_op(m, "Gelu", "wide", "y");
    cr_assert_eq(made_try(m), CLV_EFORMAT);
    cr_expect(strstr(m->err.message, "'y' (Gelu)"), "said: %s", m->err.message);
    cr_expect_null(m->costs);
}
