/* Shapes are worked by hand from the operators' definitions. */
#include "op_case.h"

/* covers: A.060 */
Test(shapes_contraction, matmul_multiplies_the_last_two_dimensions)
{
    shape(13, "MatMul", "float[2,3] float[3,4]", "", "float[2,4]");
    shape(13, "MatMul", "float[3] float[3,4]", "", "float[4]");
    shape(13, "MatMul", "float[2,3] float[3]", "", "float[2]");
    shape(13, "MatMul", "float[3] float[3]", "", "float[]");
    shape(13, "MatMul", "float[5,1,2,3] float[7,3,4]", "", "float[5,7,2,4]");
    shape(13, "MatMul", "float[n,s,64] float[64,m]", "", "float[n,s,m]");
    shape(13, "MatMul", "float[...] float[3,4]", "", "float[...]");
    fails(13, "MatMul", "float[2,3] float[4,5]", "", "3");
    fails(13, "MatMul", "float[] float[4,5]", "", "rank 0");
}

Test(shapes_contraction, quantised_products_have_their_own_types)
{
    shape(10, "MatMulInteger", "uint8[2,3] int8[3,4] uint8[] int8[]", "", "int32[2,4]");
    shape(10, "QLinearMatMul",
          "uint8[2,3] float[] uint8[] uint8[3,4] float[] uint8[] float[] int8[]", "", "int8[2,4]");
}

/* covers: A.062 */
Test(shapes_contraction, gemm_reads_its_matrices_as_asked)
{
    shape(13, "Gemm", "float[2,3] float[3,4] float[4]", "", "float[2,4]");
    shape(13, "Gemm", "float[3,2] float[4,3]", "transA=1 transB=1", "float[2,4]");
    shape(6, "Gemm", "float[n,3] float[4,3] float[4]", "transB=1 broadcast=1", "float[n,4]");
    shape(13, "Gemm", "float[...] float[3,4]", "", "float[?,4]");
    fails(13, "Gemm", "float[2,3] float[4,3]", "", "3");
    fails(13, "Gemm", "float[2,3,4] float[4,3]", "", "rank 3");
}

Test(shapes_contraction, einsum_names_its_dimensions)
{
    shape(12, "Einsum", "float[2,3] float[3,4]", "equation=ij,jk->ik", "float[2,4]");
    shape(12, "Einsum", "float[2,3]", "equation=ij->ji", "float[3,2]");
    shape(12, "Einsum", "float[4,4]", "equation=ii->i", "float[4]");
    shape(12, "Einsum", "float[2,3] float[3]", "equation=ij,j->", "float[]");
    shape(12, "Einsum", "float[n,8,s,64] float[n,8,t,64]", "equation=bhqd,bhkd->bhqk",
          "float[n,8,s,t]");
}

/* "ba" with each letter once gives a, b; a letter that occurs twice is summed over */
Test(shapes_contraction, einsum_without_an_arrow_sorts_the_letters)
{
    shape(12, "Einsum", "float[2,3]", "equation=ba", "float[3,2]");
    shape(12, "Einsum", "float[2,3] float[3,4]", "equation=ij,jk", "float[2,4]");
    shape(12, "Einsum", "float[2,3] float[4]", "equation=aB,c", "float[3,2,4]");
}

Test(shapes_contraction, einsum_broadcasts_what_has_no_letter)
{
    shape(12, "Einsum", "float[5,1,2,3] float[7,3,4]", "equation=...ij,...jk->...ik",
          "float[5,7,2,4]");
    shape(12, "Einsum", "float[5,6,3]", "equation=...i", "float[5,6,3]");
    shape(12, "Einsum", "float[5,6,3]", "equation=...i->i...", "float[3,5,6]");
    shape(12, "Einsum", "float[...] float[3]", "equation=...i,i->...", "float[...]");
    shape(12, "Einsum", "float[...] float[3]", "equation=ij,j->i", "float[?]");
}

Test(shapes_contraction, einsum_refuses_equations_that_do_not_fit)
{
    fails(12, "Einsum", "float[2,3]", "equation=i->i", "rank 2");
    fails(12, "Einsum", "float[2,3]", "equation=ij,j->i", "2 operands");
    fails(12, "Einsum", "float[2,3]", "equation=ij->k", "'k'");
    fails(12, "Einsum", "float[2,3]", "equation=i1->i", "i1");
    fails(12, "Einsum", "float[2,3] float[4]", "equation=ij,j->i", "3");
    fails(12, "Einsum", "float[2,3]", "", "rank 2");
}

Test(shapes_contraction, the_determinant_takes_the_matrices_away)
{
    shape(11, "Det", "float[3,3]", "", "float[]");
    shape(11, "Det", "float[n,5,3,3]", "", "float[n,5]");
    shape(11, "Det", "float[...]", "", "float[...]");
    fails(11, "Det", "float[3]", "", "rank 1");
    fails(11, "Det", "float[3,4]", "", "4");
}

Test(shapes_contraction, attention_of_four_dimensions_says_all)
{
    shape(23, "Attention", "float[2,8,5,64] float[2,4,7,64] float[2,4,7,32]", "",
          "float[2,8,5,32] float[2,4,7,64] float[2,4,7,32] float[2,8,5,7]");
}

/* 8 heads of 512 / 8 = 64 ask; 2 heads of 128 / 2 = 64 answer; 7 + 10 past positions */
Test(shapes_contraction, attention_of_three_dimensions_needs_its_heads)
{
    shape(23, "Attention",
          "float[n,5,512] float[n,7,128] float[n,7,128] - float[n,2,10,64] float[n,2,10,64]",
          "q_num_heads=8 kv_num_heads=2",
          "float[n,5,512] float[n,2,17,64] float[n,2,17,64] float[n,8,5,17]");
    shape(24, "Attention", "float[n,5,512] float[n,p,128] float[n,p,128] - ? ?",
          "q_num_heads=8 kv_num_heads=2", "float[n,5,512] float[n,2,?,64] - float[n,8,5,?]");
    fails(23, "Attention", "float[2,5,512] float[2,7,128] float[2,7,128]", "", "q_num_heads");
    fails(23, "Attention", "float[2,5,10] float[2,7,10] float[2,7,10]",
          "q_num_heads=3 kv_num_heads=2", "multiple");
}
