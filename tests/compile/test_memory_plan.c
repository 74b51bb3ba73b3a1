#include "compile/memory_plan.h"

#include <criterion/criterion.h>

#include "compile/offset_allocator.h"
#include "compile/toy.h"

/* One device of a candidate, laid out with all its buffers. */
typedef struct {
    clv_program *program;
    clv_memory_planner planner;
    clv_group group;
    clv_group_result result;
    clv_placed_buffers buffers;
} laid;

static clv_status try_lay(toy *t, const int32_t *device_of, int32_t device, double proportion,
                          bool is_packed, clv_arena *arena, laid *l)
{
    *l = (laid){ 0 };
    clv_unit_range *ranges = CLV_NEW_ARRAY(t->arena, clv_unit_range, t->units.n);
    int32_t n = 0;
    for (int32_t u = 0; u < t->units.n; u++) {
        if (device_of[u] != device)
            continue;
        if (n > 0 && ranges[n - 1].end == u)
            ranges[n - 1].end++;
        else
            ranges[n++] = (clv_unit_range){ u, u + 1 };
    }
    CLV_TRY(clv_program_build(&t->workload, arena, &l->program, NULL));
    CLV_TRY(clv_memory_planner_init(&l->planner, l->program, arena, NULL));
    l->group = (clv_group){ .device = device,
                            .proportion = proportion,
                            .is_packed = is_packed,
                            .ranges = ranges,
                            .n_ranges = n,
                            .device_of = device_of,
                            .prefix_ns = l->program->prefix_ns[0] };
    return clv_plan_memory(&l->planner, &l->group, arena, &l->result, &l->buffers, NULL);
}

static laid lay(toy *t, const int32_t *device_of, int32_t device)
{
    laid l;
    cr_assert_eq(try_lay(t, device_of, device, 0.6, false, t->arena, &l), CLV_OK);
    return l;
}

static laid lay_packed(toy *t, const int32_t *device_of, int32_t device)
{
    laid l;
    cr_assert_eq(try_lay(t, device_of, device, 0.6, true, t->arena, &l), CLV_OK);
    return l;
}

static const clv_placed_buffer *find(const laid *l, clv_tensor tensor)
{
    for (int32_t k = 0; k < l->buffers.n; k++)
        if (l->buffers.at[k].slot >= 0 &&
            l->program->tensor_of[l->buffers.at[k].slot].i == tensor.i)
            return &l->buffers.at[k];
    return NULL;
}

static toy *new_toy(int32_t n_devices)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    toy *t = CLV_NEW(arena, toy);
    toy_init(t, arena, 600, 2000, 4000);
    toy_cluster(t, n_devices, 1000000, 100, 1e9);
    return t;
}

static void free_toy(toy *t) { clv_arena_free(t->arena); }

/* x -> a -> b -> c -> out, 256 bytes each: at any operator its input and its output live, so two of
 * them. The third tensor takes the place of the first. */
Test(memory_plan, of_a_chain_holds_two_tensors_at_a_time)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1, 256, x);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, a);
    clv_tensor c = TOY_OP(t, NULL, 1, 256, b);
    toy_output(t, c);

    laid l = lay(t, (int32_t[]){ 0, 0, 0 }, 0);

    cr_assert_eq(l.result.live_bytes, 512);
    cr_assert_eq(l.result.arena_bytes, 512);
    cr_assert_eq(l.result.activation_bytes, 512);
    cr_assert_eq(l.result.busy_ns, 3);
    cr_assert_eq(find(&l, x)->offset, 0);
    cr_assert_eq(find(&l, a)->offset, 256);
    cr_assert_eq(find(&l, b)->offset, 0);
    cr_assert_eq(find(&l, c)->offset, 256);
    free_toy(t);
}

Test(memory_plan, counts_each_weight_once_on_each_device_that_reads_it)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256), w = toy_weight(t, 1000), v = toy_weight(t, 10);
    clv_tensor a = TOY_OP(t, NULL, 1, 256, x, w, w);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, a, w, v);
    TOY_OP(t, NULL, 1, 256, b, w);

    laid first = lay(t, (int32_t[]){ 0, 0, 1 }, 0), second = lay(t, (int32_t[]){ 0, 0, 1 }, 1);

    cr_assert_eq(first.result.weight_bytes, 1010);
    cr_assert_eq(second.result.weight_bytes, 1000);
    cr_assert_eq(clv_group_peak(&second.result), 1024 + 512, "the arena starts on a boundary");
    free_toy(t);
}

/* The bodies of an If own 500 bytes beside w, which the main graph has: 500 more, once. */
Test(memory_plan, counts_what_bodies_own)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 256), w = toy_weight(t, 1000);
    TOY_OP(t, "If", 1, 256, x, w);
    toy_last_cost(t)->weight_bytes = 1500;

    laid l = lay(t, (int32_t[]){ 0 }, 0);

    cr_assert_eq(l.result.weight_bytes, 1500);
    free_toy(t);
}

/* a (1024) -> identity -> identity -> b (256); a is read again by c. One buffer, alive from a to c.
 */
Test(memory_plan, gives_a_chain_of_views_one_buffer)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1, 1024, x);
    clv_tensor v = TOY_OP(t, "Identity", 0, 1024, a);
    clv_tensor w = TOY_OP(t, "Identity", 0, 1024, v);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, w);
    toy_output(t, b);

    laid l = lay(t, (int32_t[]){ 0, 0, 0, 0 }, 0);

    cr_assert_eq(l.result.live_bytes, 256 + 1024);
    cr_assert_null(find(&l, v));
    cr_assert_null(find(&l, w));
    cr_assert_eq(find(&l, a)->last, 3, "alive as long as its last view is read");
    free_toy(t);
}

Test(memory_plan, keeps_a_view_of_a_weight_with_the_weights)
{
    toy *t = new_toy(1);
    clv_tensor w = toy_weight(t, 4096), x = toy_input(t, 256);
    clv_tensor v = TOY_OP(t, "Identity", 0, 4096, w);
    TOY_OP(t, NULL, 1, 256, x, v);

    laid l = lay(t, (int32_t[]){ 0, 0 }, 0);

    cr_assert_eq(l.result.weight_bytes, 4096);
    cr_assert_eq(l.result.arena_bytes, 512);
    free_toy(t);
}

/* Device 0: a is sent to device 1 and read here by nobody. It stays through the operator behind it
 * (b), and is gone at c. Device 1 gets a just before its reader d. */
Test(memory_plan, keeps_a_sent_tensor_through_the_next_operator)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1, 512, x);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, x);
    TOY_OP(t, NULL, 1, 256, b);
    TOY_OP(t, NULL, 1, 256, x);
    TOY_OP(t, NULL, 1, 256, a);
    const int32_t device_of[] = { 0, 0, 0, 1, 1 };

    laid sender = lay(t, device_of, 0), receiver = lay(t, device_of, 1);

    cr_assert_eq(find(&sender, a)->first, 0);
    cr_assert_eq(find(&sender, a)->last, 1);
    cr_assert_eq(find(&receiver, a)->first, 1);
    cr_assert_eq(find(&receiver, a)->last, 1);
    free_toy(t);
}

Test(memory_plan, has_model_inputs_from_the_start_and_outputs_to_the_end)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 256), late = toy_input(t, 256);
    clv_tensor a = TOY_OP(t, NULL, 1, 256, x);
    clv_tensor b = TOY_OP(t, NULL, 1, 256, a);
    TOY_OP(t, NULL, 1, 256, b, late);
    toy_output(t, a);

    laid l = lay(t, (int32_t[]){ 0, 0, 0 }, 0);

    cr_assert_eq(find(&l, late)->first, 0);
    cr_assert_eq(find(&l, late)->last, 2);
    cr_assert_eq(find(&l, x)->last, 0);
    cr_assert_eq(find(&l, a)->last, 2);
    free_toy(t);
}

/* A cache that is appended in place: its input is no memory of its own. */
Test(memory_plan, has_a_state_in_place_all_the_time)
{
    static const clv_dim before[] = { 7, 8 }, after[] = { 8, 8 };
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 512), past = toy_input(t, 0);
    clv_tensor a = TOY_OP(t, NULL, 1, 1024, x);
    clv_tensor b = TOY_OP(t, NULL, 1, 32, a);
    clv_tensor present = TOY_OP(t, "Concat", 1, 256, past, b);
    t->types.of[past.i] =
        (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT, .rank = 2, .dims = before };
    t->types.of[present.i] =
        (clv_type){ .kind = CLV_TYPE_TENSOR, .dtype = CLV_DT_FLOAT, .rank = 2, .dims = after };
    toy_output(t, present);

    laid l = lay(t, (int32_t[]){ 0, 0, 0 }, 0);
    cr_expect_eq(find(&l, present)->first, 0);
    cr_expect_eq(l.result.activation_bytes, 512 + 1024 + 256);

    t->types.bytes[past.i] = 224; /* two tensors: the present is made by its operator */
    l = lay(t, (int32_t[]){ 0, 0, 0 }, 0);
    cr_expect_eq(find(&l, present)->first, 2);
    cr_expect_eq(find(&l, past)->first, 0);
    free_toy(t);
}

/* A Constant's tensor and a folded tensor of another device are copies among the weights. */
Test(memory_plan, copies_constants_and_folded_values)
{
    toy *t = new_toy(2);
    clv_tensor x = toy_input(t, 256);
    clv_tensor k = toy_op(t, "Constant", 0, 100, 0, NULL);
    clv_tensor shape = TOY_OP(t, NULL, 1, 8, x);
    t->types.value[shape.i] = t->known;
    TOY_OP(t, NULL, 1, 256, x, k, shape);
    const int32_t device_of[] = { 0, 0, 1 };

    laid maker = lay(t, device_of, 0), reader = lay(t, device_of, 1);

    cr_assert_eq(maker.result.weight_bytes, 100);
    cr_assert_eq(reader.result.weight_bytes, 108);
    cr_assert_null(find(&reader, shape));
    free_toy(t);
}

/* 1,000,000 bytes for tensors; the operator wants 700,000 and gets 60 % of them, then 10 %. */
Test(memory_plan, gives_an_operator_workspace_by_the_proportion)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 256);
    TOY_OP(t, NULL, 1, 256, x);
    toy_last_cost(t)->workspace_bytes = 700000;
    laid l;

    cr_assert_eq(try_lay(t, (int32_t[]){ 0 }, 0, 0.6, false, t->arena, &l), CLV_OK);
    cr_assert_eq(l.result.workspace_bytes, 600000);
    cr_assert_eq(l.result.live_bytes, 512 + clv_align_bytes(600000));
    cr_assert_eq(l.result.activation_bytes, 512);
    cr_assert_eq(try_lay(t, (int32_t[]){ 0 }, 0, 0.1, false, t->arena, &l), CLV_OK);
    cr_assert_eq(l.result.workspace_bytes, 100000);
    free_toy(t);
}

Test(memory_plan, counts_tensors_of_open_shape_as_empty)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, -1);
    TOY_OP(t, NULL, 1, -1, x);

    laid l = lay(t, (int32_t[]){ 0 }, 0);

    cr_assert_eq(l.result.arena_bytes, 0);
    cr_assert_eq(l.result.n_ops, 1);
    cr_assert_eq(l.result.peak_position, 0);
    free_toy(t);
}

/* A hundred layers of the same four sizes: the arena is less than a fifth larger than what lives.
 */
Test(memory_plan, hardly_wastes_on_chains_of_layers)
{
    toy *t = new_toy(1);
    clv_tensor at = toy_input(t, 3000);
    for (int32_t layer = 0; layer < 100; layer++) {
        clv_tensor q = TOY_OP(t, NULL, 1, 9000, at), s = TOY_OP(t, NULL, 1, 700, q, at);
        clv_tensor m = TOY_OP(t, NULL, 1, 40000, s);
        at = TOY_OP(t, NULL, 1, 3000, m, at);
    }
    toy_output(t, at);
    int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, 400);

    laid l = lay(t, device_of, 0);

    cr_assert_geq(l.result.arena_bytes, l.result.live_bytes);
    cr_assert_leq(l.result.arena_bytes, l.result.live_bytes + l.result.live_bytes / 5);
    free_toy(t);
}

/* -- the checker: reads the model, not the program -- */

typedef struct {
    int32_t first, last; /* operators of this device, counted from 0; first -1: not here */
    int64_t bytes;
} lifetime;

static clv_tensor producer_view(const toy *t, clv_tensor x)
{
    clv_op op = t->graph.tensors[x.i].producer;
    if (op.i < 0 || strncmp(t->graph.ops[op.i].type.at, "Identity", 8) != 0)
        return CLV_NO_TENSOR;
    return t->graph.inputs_of[t->graph.ops[op.i].first_in];
}

static bool is_here(const toy *t, const int32_t *device_of, int32_t op, int32_t device)
{
    return device_of[t->units.of[op]] == device;
}

/* The tensor whose memory x is on this device: through views that run here. */
static clv_tensor local_root(const toy *t, const int32_t *device_of, int32_t device, clv_tensor x)
{
    for (;;) {
        clv_tensor from = producer_view(t, x);
        if (from.i < 0 || !is_here(t, device_of, t->graph.tensors[x.i].producer.i, device))
            return x;
        x = from;
    }
}

static bool has_no_arena(const toy *t, const int32_t *device_of, int32_t device, clv_tensor x)
{
    const clv_tensor_info *info = &t->graph.tensors[x.i];
    if (info->role == CLV_TENSOR_WEIGHT)
        return true;
    if (info->role == CLV_TENSOR_INPUT)
        return false;
    return strncmp(t->graph.ops[info->producer.i].type.at, "Constant", 8) == 0 ||
           (t->types.value[x.i] && !is_here(t, device_of, info->producer.i, device));
}

static void touch(lifetime *of, int32_t first, int32_t last)
{
    if (of->first < 0 || first < of->first)
        of->first = first;
    if (last > of->last)
        of->last = last;
}

/* Lifetimes by the rules of docs/cost-model.md, in the plainest way. */
static void work_out(const toy *t, const int32_t *device_of, int32_t device, lifetime *of)
{
    int32_t n = 0, i = 0;
    for (int32_t op = 0; op < t->graph.n_ops; op++)
        n += is_here(t, device_of, op, device);
    for (int32_t x = 0; x < t->graph.n_tensors; x++)
        of[x] = (lifetime){ -1, -1, 0 };
    for (int32_t op = 0; op < t->graph.n_ops; op++) {
        const clv_op_info *info = &t->graph.ops[op];
        if (!is_here(t, device_of, op, device))
            continue;
        for (int32_t k = 0; k <= info->n_in; k++) {
            bool is_out = k == info->n_in;
            clv_tensor x = is_out ? t->graph.outputs_of[info->first_out]
                                  : t->graph.inputs_of[info->first_in + k];
            clv_tensor root = local_root(t, device_of, device, x);
            if (has_no_arena(t, device_of, device, root) || has_no_arena(t, device_of, device, x))
                continue;
            bool is_input = t->graph.tensors[root.i].role == CLV_TENSOR_INPUT;
            touch(&of[root.i], is_input ? 0 : i, i);
            if (t->types.bytes[x.i] > of[root.i].bytes)
                of[root.i].bytes = t->types.bytes[x.i];
            if (!is_out)
                continue;
            if (t->graph.tensors[x.i].is_output)
                touch(&of[root.i], i, n - 1);
            for (int32_t e = 0; e < t->graph.n_ops && !t->types.value[x.i]; e++)
                for (int32_t j = 0; j < t->graph.ops[e].n_in; j++)
                    if (t->graph.inputs_of[t->graph.ops[e].first_in + j].i == x.i &&
                        !is_here(t, device_of, e, device))
                        touch(&of[root.i], i, i + 1 < n ? i + 1 : i);
        }
        i++;
    }
}

static bool clash(const clv_placed_buffer *a, const clv_placed_buffer *b)
{
    return a->first <= b->last && b->first <= a->last && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static void check(const toy *t, const int32_t *device_of, const laid *l, uint32_t seed)
{
    lifetime *of = CLV_NEW_ARRAY(t->arena, lifetime, t->graph.n_tensors);
    int64_t *live = CLV_NEW_ARRAY(t->arena, int64_t, t->graph.n_ops + 1);
    int32_t expected = 0, found = 0;
    work_out(t, device_of, l->group.device, of);
    for (int32_t x = 0; x < t->graph.n_tensors; x++)
        expected += of[x].first >= 0 && of[x].bytes > 0;
    for (int32_t k = 0; k < l->buffers.n; k++) {
        const clv_placed_buffer *p = &l->buffers.at[k];
        cr_assert(p->offset >= 0 && p->offset + p->bytes <= l->result.arena_bytes);
        for (int32_t j = 0; j < k; j++)
            cr_assert_not(clash(p, &l->buffers.at[j]), "seed %u: %d and %d", seed, k, j);
        for (int32_t i = p->first; i <= p->last; i++)
            live[i] += clv_align_bytes(p->bytes);
        if (p->slot < 0)
            continue;
        const lifetime *want = &of[l->program->tensor_of[p->slot].i];
        found++;
        cr_assert_eq(p->first, want->first, "seed %u slot %d", seed, p->slot);
        cr_assert_eq(p->last, want->last, "seed %u slot %d: %d not %d", seed, p->slot, p->last,
                     want->last);
        cr_assert_eq(p->bytes, want->bytes);
    }
    int64_t most = 0;
    for (int32_t i = 0; i < l->result.n_ops; i++)
        most = live[i] > most ? live[i] : most;
    cr_assert_eq(found, expected, "seed %u: every tensor has its place", seed);
    cr_assert_eq(l->result.live_bytes, most);
    cr_assert_eq(l->result.activation_bytes + clv_align_bytes(l->result.workspace_bytes), most);
    cr_assert_geq(l->result.arena_bytes, most);
    cr_assert_leq(l->result.arena_bytes, most * 2, "seed %u: half wasted", seed);
}

Test(memory_plan, never_lets_two_live_tensors_overlap)
{
    int32_t n_closer = 0;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        toy *t = new_toy(3);
        uint32_t random = seed;
        toy_grow_random(t, 120, seed);
        int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
        for (int32_t u = 0; u < t->units.n; u++)
            device_of[u] = seed % 2 ? (int32_t)toy_random(&random, 3) : u * 3 / t->units.n;
        for (int32_t d = 0; d < 3; d++) {
            laid l = lay(t, device_of, d), packed = lay_packed(t, device_of, d);
            check(t, device_of, &l, seed);
            check(t, device_of, &packed, seed);
            cr_assert_leq(packed.result.arena_bytes, l.result.arena_bytes);
            n_closer += packed.result.arena_bytes < l.result.arena_bytes;
        }
        free_toy(t);
    }
    cr_expect_gt(n_closer, 20, "%d", n_closer);
}

/* A decoder's layers read a cache each and write one that is a little larger, so no new one fits
 * where an old one was: in one pass the arena grows with each. All lifetimes known, it need not. */
Test(memory_plan, of_packed_caches_has_no_gaps)
{
    enum { LAYERS = 8, CACHE = 25600, GROWN = 25856, CARRY = 256 };
    toy *t = new_toy(1);
    clv_tensor carry = toy_input(t, CARRY), cache[LAYERS];
    for (int32_t i = 0; i < LAYERS; i++)
        cache[i] = toy_input(t, CACHE);
    for (int32_t i = 0; i < LAYERS; i++) {
        clv_tensor grown = TOY_OP(t, NULL, 1, GROWN, cache[i], carry);
        carry = TOY_OP(t, NULL, 1, CARRY, carry, grown);
        toy_output(t, grown);
    }
    int32_t device_of[2 * LAYERS] = { 0 };

    laid l = lay(t, device_of, 0), packed = lay_packed(t, device_of, 0);

    cr_expect_gt(l.result.arena_bytes, l.result.live_bytes + GROWN / 2);
    cr_expect_eq(packed.result.arena_bytes, packed.result.live_bytes);
    cr_expect_eq(packed.result.live_bytes, l.result.live_bytes);
    check(t, device_of, &packed, 0);
    free_toy(t);
}

Test(memory_plan, refuses_tensors_that_64_bits_cannot_add)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, INT64_MAX / 9);
    TOY_OP(t, NULL, 1, INT64_MAX / 9, x);
    clv_program *p = NULL;
    clv_error err = { 0 };

    cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, &err), CLV_ELIMIT);
    cr_assert_null(p);
    cr_assert(strstr(err.message, "'toy'"), "said: %s", err.message);
    free_toy(t);
}

Test(memory_plan, refuses_times_that_64_bits_cannot_add)
{
    toy *t = new_toy(1);
    clv_tensor x = toy_input(t, 1);
    clv_tensor a = TOY_OP(t, NULL, INT64_MAX / 16, 1, x);
    TOY_OP(t, NULL, INT64_MAX / 16, 1, a);
    clv_program *p = NULL;
    clv_error err = { 0 };

    cr_assert_eq(clv_program_build(&t->workload, t->arena, &p, &err), CLV_ELIMIT);
    cr_assert(strstr(err.message, "'toy'"), "said: %s", err.message);
    free_toy(t);
}

Test(memory_plan, of_an_empty_model_is_empty)
{
    toy *t = new_toy(1);

    laid l = lay(t, NULL, 0);

    cr_assert_eq(clv_group_peak(&l.result), 0);
    cr_assert_eq(l.result.peak_position, -1);
    free_toy(t);
}

Test(memory_plan, survives_running_out_of_memory_anywhere)
{
    toy *t = new_toy(2);
    toy_grow_random(t, 60, 3);
    int32_t *device_of = CLV_NEW_ARRAY(t->arena, int32_t, t->units.n);
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 200; s != CLV_OK; limit += 97) {
        clv_arena *arena = clv_arena_new(NULL, limit);
        laid l;
        if (!arena)
            continue;
        s = try_lay(t, device_of, 0, 0.6, limit % 2, arena, &l);
        cr_assert(s == CLV_OK || s == CLV_ENOMEM);
        clv_arena_free(arena);
    }
    free_toy(t);
}
