/* test_proof.c - programs of plans are proven, and their counts reported; what is wrong is refused
 * in a sentence that names it. What else is refused: test_proof_mutants.c.
 */
#include "verify/programs.h"
#include "verify/random_ops.h"

static clv_arena *arena;
static made *m;

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    m = made_new(arena);
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(proof, .init = set_up, .fini = tear_down);

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

/* (x W) V, with a bias: columns, then rows. */
static void make_mlp(void)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,6");
    made_weight(m, "w", CLV_DT_FLOAT, "6,10");
    made_weight(m, "v", CLV_DT_FLOAT, "10,8");
    made_weight(m, "c", CLV_DT_FLOAT, "8");
    made_op(m, "MatMul", "x,w", "h");
    made_op(m, "Relu", "h", "r");
    made_op(m, "Gemm", "r,v,c", "y");
    made_op(m, "Softmax", "y", "p");
    made_output(m, "p");
    made_build(m);
}

static const program_split megatron[] = { { "h", "tp=n" }, { "r", "tp=d1" }, { "y", "tp=k" } };

static clv_spmd *megatron_program(void)
{
    make_mlp();
    clv_plan *plan = program_plan(m, "4", 1);
    program_split_ops(m, plan, megatron, N(megatron));
    return program_of(m, plan);
}

Test(proof, holds_for_columns_then_rows_and_counts_what_it_looked_at)
{
    clv_spmd *s = megatron_program();
    clv_proof proof = proof_of(m, s);
    char text[CLV_INT128_TEXT];

    cr_assert(proof.holds, "%s", proof.fault);
    cr_expect_eq(proof.n_operators, 4);
    cr_expect_eq(proof.n_steps, 1, "the sum after the rows");
    cr_expect_eq(proof.n_tensors, 8);
    cr_expect_eq(proof.n_values, 9, "y is there partial and summed");
    cr_expect_eq(proof.n_devices, 4);
    /* x 24, w 60, h 40, r 40, v 80, c 8, y twice 32, p 32 */
    cr_expect_str_eq(clv_int128_text(text, proof.elems), "348");
    /* split: w 60, h 40, r 40, v 80; on four devices: x 96, c 32, y 128 twice, p 128 */
    cr_expect_str_eq(clv_int128_text(text, proof.parts), "732");
}

Test(proof, holds_for_uneven_parts_and_parts_that_are_empty)
{
    make_mlp(); /* 10 columns over 8: 2, 2, 2, 2, 2, 0, 0, 0 */
    clv_plan *plan = program_plan(m, "8", 1);
    program_split_ops(m, plan, megatron, N(megatron));
    clv_proof proof = proof_of(m, program_of(m, plan));
    cr_expect(proof.holds, "%s", proof.fault);
}

Test(proof, holds_for_devices_with_shares)
{
    static const int64_t shares[] = { 1, 2 };
    make_mlp();
    clv_plan *plan = program_plan(m, "2", 1);
    ((clv_plan_axis *)plan->axes)[0].shares = shares;
    program_split_ops(m, plan, megatron, N(megatron));
    clv_spmd *s = program_of(m, plan);
    clv_proof proof = proof_of(m, s);
    cr_expect(proof.holds, "%s", proof.fault);
    for (int32_t v = 0; v < s->n_values; v++)
        if (clv_str_is(clv_tensor_at(s->model->main, s->values[v].tensor)->name, "v"))
            s->values[v].layout.dim[0] = 1;
    proof = proof_of(m, s);
    cr_assert(!proof.holds);
    cr_expect(
        strstr(proof.fault, "of dimension 0 of 'v' gpu0 has elements 0 to 9, but works on 0 to 2"),
        "10 rows are 3 and 7: %s", proof.fault);
}

Test(proof, holds_for_stages_with_meshes)
{
    make_mlp();
    clv_plan *plan = program_plan(m, "2", 2);
    program_split_ops(m, plan, megatron, N(megatron));
    clv_proof proof = proof_of(m, program_of(m, plan));
    cr_assert(proof.holds, "%s", proof.fault);
    cr_expect_eq(proof.n_phases, 2);
    cr_expect_eq(proof.n_transfers, 1);
}

Test(proof, holds_for_every_kind_of_step)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,8");
    made_weight(m, "w", CLV_DT_FLOAT, "8,8");
    made_op(m, "MatMul", "x,w", "h");
    made_op(m, "Relu", "h", "r");
    made_output(m, "r");
    made_build(m);
    clv_plan *plan = program_plan(m, "2x2", 1);
    static const program_split splits[] = { { "h", "dp=m tp=k" }, { "r", "dp=d1" } };
    static const program_step steps[] = {
        { "reduce-scatter", "tp", "h", "{dp, -} sum(tp)", "{dp, tp}" },
        { "permute", "dp,tp", "h", "{dp, tp}", "{tp, dp}" },
        { "all-gather", "tp", "h", "{tp, dp}", "{-, dp}" },
        { "all-to-all", "dp", "r", "{-, dp}", "{dp, -}" },
        { "neutral", "tp", "r", "{dp, -}", "{dp, -} sum(tp)" },
        { "all-reduce", "tp", "r", "{dp, -} sum(tp)", "{dp, -}" },
        { "slice", "tp", "r", "{dp, -}", "{dp, tp}" },
    };
    program_split_ops(m, plan, splits, N(splits));
    program_steps(m, plan, steps, N(steps));
    clv_proof proof = proof_of(m, program_of(m, plan));
    cr_assert(proof.holds, "%s", proof.fault);
    cr_expect_eq(proof.n_steps, N(steps));
}

/* A permutation may take a partial result along: its summands are then over another axis. */
Test(proof, follows_summands_through_a_permutation)
{
    made_input(m, "x", CLV_DT_FLOAT, "8,8");
    made_weight(m, "w", CLV_DT_FLOAT, "8,8");
    made_op(m, "MatMul", "x,w", "h");
    made_output(m, "h");
    made_build(m);
    clv_plan *plan = program_plan(m, "2x2", 1);
    static const program_split splits[] = { { "h", "dp=k tp=n" } };
    static const program_step steps[] = {
        { "permute", "dp,tp", "h", "{-, tp} sum(dp)", "{-, dp} sum(tp)" },
        { "all-reduce", "tp", "h", "{-, dp} sum(tp)", "{-, dp}" },
    };
    program_split_ops(m, plan, splits, N(splits));
    program_steps(m, plan, steps, N(steps));
    clv_spmd *s = program_of(m, plan);
    clv_proof proof = proof_of(m, s);
    cr_assert(proof.holds, "%s", proof.fault);

    s->instrs[2].axes = 1; /* summed over dp: parts of different columns */
    cr_expect(!proof_of(m, s).holds);
}

/* -- what is refused, and how it is reported -- */

static void expect_fault(const clv_spmd *s, const char *words)
{
    clv_proof proof = proof_of(m, s);
    cr_assert(!proof.holds, "expected: %s", words);
    cr_expect(strstr(proof.fault, words), "said: %s\nexpected: %s", proof.fault, words);
}

static clv_spmd_value *value_of(clv_spmd *s, const char *tensor)
{
    for (int32_t v = 0; v < s->n_values; v++)
        if (clv_str_is(clv_tensor_at(s->model->main, s->values[v].tensor)->name, tensor))
            return &s->values[v];
    cr_assert_fail("no value of '%s'", tensor);
    return NULL;
}

static clv_spmd_instr *instr_of(clv_spmd *s, const char *tensor)
{
    int32_t op = made_writer(m, tensor).i;
    for (int32_t i = 0; i < s->n_instrs; i++)
        if (s->instrs[i].op.i == op)
            return &s->instrs[i];
    cr_assert_fail("no instruction makes '%s'", tensor);
    return NULL;
}

Test(proof, names_the_device_and_the_elements_that_an_input_lacks)
{
    clv_spmd *s = megatron_program();
    value_of(s, "w")->layout.dim[0] = 0; /* rows instead of columns */
    expect_fault(s, "operator 'h' (MatMul): of dimension 0 of 'w' gpu0 has elements 0 to 1, but "
                    "works on 0 to 5");
}

/* -- parts of sums that go through operators -- */

/* (x V) + r * (x W) + c, added up once. */
static clv_spmd *sums_program(void)
{
    static const program_split splits[] = {
        { "a", "tp=k" }, { "b", "tp=k" }, { "s", "tp=sum1" }, { "y", "tp=sum" }
    };
    made_input(m, "x", CLV_DT_FLOAT, "4,8");
    made_input(m, "r", CLV_DT_FLOAT, "4,1");
    made_weight(m, "v", CLV_DT_FLOAT, "8,6");
    made_weight(m, "w", CLV_DT_FLOAT, "8,6");
    made_weight(m, "c", CLV_DT_FLOAT, "6");
    made_op(m, "MatMul", "x,v", "a");
    made_op(m, "MatMul", "x,w", "b");
    made_op(m, "Mul", "r,b", "s");
    made_op(m, "Sum", "a,s,c", "y");
    made_op(m, "Relu", "y", "z");
    made_output(m, "z");
    made_build(m);
    clv_plan *plan = program_plan(m, "4", 1);
    program_split_ops(m, plan, splits, N(splits));
    return program_of(m, plan);
}

static clv_factor *summands_of(const clv_spmd *s, const char *tensor)
{
    const clv_factors *f = &s->factors[made_writer(m, tensor).i];
    for (int32_t i = 0; i < f->n_factors; i++)
        if (f->factors[i].kind == CLV_FACTOR_SUMMANDS)
            return (clv_factor *)&f->factors[i];
    cr_assert_fail("'%s' has no factor of summands", tensor);
    return NULL;
}

Test(proof, follows_parts_of_sums_through_operators_that_are_linear)
{
    clv_proof proof = proof_of(m, sums_program());
    cr_assert(proof.holds, "%s", proof.fault);
    cr_expect_eq(proof.n_steps, 1, "the sum is made once");
}

Test(proof, refuses_a_whole_tensor_that_each_device_would_add)
{
    clv_spmd *s = sums_program();
    clv_operand_factors *in = (clv_operand_factors *)s->factors[made_writer(m, "y").i].in;
    in[2].once = false;
    expect_fault(s, "operator 'y' (Sum): input 2 is no parts of a sum by its rule");
}

Test(proof, refuses_parts_where_the_rule_wants_the_whole)
{
    clv_spmd *s = sums_program();
    clv_operand_factors *in = (clv_operand_factors *)s->factors[made_writer(m, "s").i].in;
    in[1].sums = 0;
    expect_fault(s, "operator 's' (Mul): 0 inputs are parts of a sum");
    in[1].sums = in[0].sums = 1; /* r b is not linear in both */
    expect_fault(s, "operator 's' (Mul): 2 inputs are parts of a sum");
}

/* Whatever a rule says. */
Test(proof, refuses_parts_of_sums_through_what_is_not_linear)
{
    clv_spmd *s = sums_program();
    clv_factors *relu = (clv_factors *)&s->factors[made_writer(m, "z").i];
    *relu = s->factors[made_writer(m, "y").i];
    instr_of(s, "z")->factor[0] = (int16_t)(summands_of(s, "y") - relu->factors);
    expect_fault(s, "operator 'z' (Relu): it is not linear");
}

Test(proof, refuses_summands_of_another_reduction)
{
    clv_spmd *s = sums_program();
    value_of(s, "b")->layout.reduce[0] = CLV_REDUCE_MEAN;
    expect_fault(s, "operator 'b' (MatMul): 'b' is said to be partial by mean");
}

Test(proof, refuses_a_maximum_of_summands)
{
    clv_spmd *s = sums_program();
    summands_of(s, "y")->reduce = CLV_REDUCE_MAX;
    expect_fault(s, "operator 'y' (Sum): parts by max do not go");
}

Test(proof, refuses_an_operator_that_reads_a_partial_result)
{
    clv_spmd *s = megatron_program();
    clv_spmd_instr *p = instr_of(s, "p"), *y = instr_of(s, "y");
    s->operands[p->first_in] = s->operands[y->first_out];
    expect_fault(s, "operator 'p' (Softmax): it reads 'y' while that is partial by sum");
}

Test(proof, refuses_a_sum_that_is_made_twice)
{
    clv_spmd *s = megatron_program();
    clv_layout *y = &s->values[s->operands[instr_of(s, "y")->first_out]].layout;
    *y = CLV_LAYOUT_COPIES;
    expect_fault(s, "operator 'y' (Gemm): 'y' is partial over other axes");
}

Test(proof, refuses_what_is_read_before_it_is_made)
{
    clv_spmd *s = megatron_program();
    clv_spmd_instr first = s->instrs[0];
    s->instrs[0] = s->instrs[1];
    s->instrs[1] = first;
    expect_fault(s, "operator 'r' (Relu): 'h' is read before it is there");
}

Test(proof, refuses_an_operator_that_runs_twice)
{
    clv_spmd *s = megatron_program();
    s->instrs[1] = s->instrs[0];
    expect_fault(s, "operator 'h' (MatMul) runs twice");
}

Test(proof, refuses_a_softmax_over_parts)
{
    clv_spmd *s = megatron_program();
    instr_of(s, "p")->factor[0] = 1;
    expect_fault(s, "operator 'p' (Softmax): factor");
}

Test(proof, refuses_an_output_that_stays_partial)
{
    clv_spmd *s = megatron_program();
    s->model->main->outputs[0] = value_of(s, "y")->tensor;
    s->result[0] = (int32_t)(value_of(s, "y") - s->values);
    s->values[s->result[0]].returned = true;
    expect_fault(s, "output 'y' of the model is partial by sum");
}

Test(proof, refuses_a_bias_that_several_devices_would_add)
{
    clv_spmd *s = megatron_program();
    clv_factors *f = (clv_factors *)&s->factors[made_writer(m, "y").i];
    clv_factor *factor = (clv_factor *)f->factors;
    for (int32_t i = 0; i < f->n_factors; i++)
        if (factor[i].kind == CLV_FACTOR_REDUCED)
            factor[i].reduce = CLV_REDUCE_MAX;
    s->values[s->operands[instr_of(s, "y")->first_out]].layout.reduce[0] = CLV_REDUCE_MAX;
    expect_fault(s, "operator 'y' (Gemm): 'c' would be counted by each device");
}

Test(proof, refuses_random_numbers_on_several_devices)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,4");
    made_op(m, "RandomNormalLike", "x", "y");
    made_op(m, "Add", "x,y", "z");
    made_output(m, "z");
    made_attr_int(m, "unused", 0);
    m->draft.ops[0].attrs[0].name = clv_str_of("seed");
    m->draft.ops[0].attrs[0].kind = CLV_ATTR_FLOAT;
    m->draft.ops[0].attrs[0].n = m->draft.ops[0].n_attrs = 1;
    made_build(m);
    clv_spmd *s = program_of(m, program_plan(m, "2", 1));
    cr_expect(proof_of(m, s).holds, "it has a seed");
    s->model->main->attrs[s->model->main->ops[0].first_attr].name = clv_str_of("other");
    expect_fault(s, "operator 'y' (RandomNormalLike): it draws other random numbers");
}

/* A Dropout in training: with a seed it may be copied, not split. */
Test(proof, refuses_a_dropout_that_is_split)
{
    made_input(m, "x", CLV_DT_FLOAT, "4,4");
    made_weight(m, "ratio", CLV_DT_FLOAT, "");
    clv_const *training = made_weight(m, "training", CLV_DT_BOOL, "");
    clv_value *value = CLV_NEW(arena, clv_value);
    int64_t *on = CLV_NEW(arena, int64_t);
    *value = (clv_value){ .n = 1, .i = on };
    training->value = value;
    made_op(m, "Dropout", "x,ratio,training", "y");
    made_attr_int(m, "seed", 3);
    made_output(m, "y");
    made_build(m);
    clv_plan *plan = program_plan(m, "2", 1);
    const clv_factors *f = program_of(m, plan)->factors;
    char split[32];
    cr_expect_null(clv_op_that_draws(m->types));
    cr_assert_gt(f->n_factors, 0);
    snprintf(split, sizeof split, "tp=%s", f->factors[0].name);
    program_split_ops(m, plan, &(program_split){ "y", split }, 1);
    clv_spmd *program = program_of(m, plan);
    cr_expect(proof_of(m, program).holds, "it is switched off");
    *on = 1; /* from here on its rule would not admit it */
    expect_fault(program, "operator 'y' (Dropout): it draws other random numbers");
    program_split_ops(m, plan, &(program_split){ "y", "" }, 1);
    cr_expect(proof_of(m, program_of(m, plan)).holds, "the same on each device");
}

Test(proof, refuses_a_part_that_another_stage_has_otherwise)
{
    make_mlp();
    clv_plan *plan = program_plan(m, "2", 2);
    static const program_split splits[] = { { "h", "tp=n" }, { "r", "tp=d1" }, { "y", "tp=m" } };
    program_split_ops(m, plan, splits, N(splits));
    clv_spmd *s = program_of(m, plan);
    cr_assert(proof_of(m, s).holds, "%s", proof_of(m, s).fault);
    for (int32_t v = 0; v < s->n_values; v++)
        if (s->values[v].role == CLV_SPMD_RECEIVED)
            s->values[v].layout.dim[0] = 0;
    expect_fault(s, "'r' lies otherwise in stage 1 than where it was sent from");
}

Test(proof, names_a_border_that_no_neighbour_has)
{
    made_input(m, "x", CLV_DT_FLOAT, "1,2,8,8");
    made_weight(m, "w", CLV_DT_FLOAT, "2,2,3,3");
    made_op(m, "Conv", "x,w", "y");
    made_attr_ints(m, "pads", "1,1,1,1");
    made_output(m, "y");
    made_build(m);
    clv_plan *plan = program_plan(m, "2", 1);
    const clv_factors *f;
    clv_spmd *s = program_of(m, plan);
    char split[32];
    f = &s->factors[0];
    for (int32_t i = 0; i < f->n_factors; i++) {
        if (f->factors[i].kind != CLV_FACTOR_HALO)
            continue;
        snprintf(split, sizeof split, "tp=%s", f->factors[i].name);
        program_split_ops(m, plan, &(program_split){ "y", split }, 1);
        s = program_of(m, plan);
        clv_proof proof = proof_of(m, s);
        cr_expect(proof.holds, "%s", proof.fault);
        return;
    }
    cr_assert_fail("no factor of the Conv has a halo");
}

/* Give it one more byte each time: it fails cleanly until it succeeds. */
Test(proof, survives_running_out_of_memory_anywhere)
{
    enum { STEP = 256 };
    clv_spmd *s = megatron_program();
    clv_status status = CLV_ENOMEM;
    for (size_t limit = STEP; status != CLV_OK; limit += STEP) {
        clv_arena *small = clv_arena_new(NULL, limit);
        clv_error err;
        clv_proof proof;
        if (!small)
            continue;
        status = clv_prove(s, small, &proof, &err);
        cr_assert(status == CLV_OK || status == CLV_ENOMEM, "%s", err.message);
        cr_assert_eq(proof.holds, status == CLV_OK);
        clv_arena_free(small);
    }
}
