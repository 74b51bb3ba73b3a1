/* test_host_copies.c - which inputs the host sends where, and where outputs come back from. */
#include "explain/host_copies.h"

#include <criterion/criterion.h>

#include "graph/infer.h"
#include "support/line_model.h"

static clv_arena *arena;
static clv_model *model;
static clv_plan_layouts layouts;
static clv_plan plan;

/* Four devices that send 1 KB in 1 us, after 10 us; the last one in 2 us. */
static const clv_device_kind kinds[] = { { .host = { 1e9, 10000, 1, CLV_FITTED } },
                                         { .host = { 1e9, 10000, 0.5, CLV_ASSUMED } } };
static const clv_device devices[] = { { 0, "d0" }, { 0, "d1" }, { 0, "d2" }, { 1, "d3" } };
static const clv_cluster cluster = {
    .n_kinds = 2, .n_devices = 4, .kinds = kinds, .devices = devices
};

static void set_up(void) { arena = clv_arena_new(NULL, 0); }
static void tear_down(void) { clv_arena_free(arena); }

TestSuite(host_copies, .init = set_up, .fini = tear_down);

/* device_of: by operator. Every device is a stage, and each tensor whole. */
static void make(const char *const *lines, const int32_t *device_of)
{
    clv_inference *inference;
    clv_error err;
    model = line_model(arena, lines);
    cr_assert_eq(clv_infer(model, NULL, 0, arena, &inference, &err), CLV_OK, "%s", err.message);
    layouts = (clv_plan_layouts){ .graph = model->main, .types = inference->main };
    plan = (clv_plan){ .n_devices = 4, .n_ops = model->main->n_ops, .device_of_op = device_of };
}

/* Two meshes of two, devices 0 2 and 1 3; tensors are copied until they are split. */
static clv_layout *on_meshes(void)
{
    static const int32_t mesh_device[] = { 0, 2, 1, 3 };
    static const clv_plan_axis axis = { .name = "tp", .size = 2 };
    clv_layout *kept = CLV_NEW_ARRAY(arena, clv_layout, model->main->n_tensors);
    for (int32_t t = 0; t < model->main->n_tensors; t++)
        kept[t] = CLV_LAYOUT_COPIES;
    layouts.mesh = (clv_mesh){ .n_axes = 1, .size = { 2, 1, 1 }, .name = { "tp" }, .n_devices = 2 };
    layouts.kept = kept;
    plan.axes = &axis;
    plan.n_axes = 1;
    plan.mesh_devices = plan.n_meshes = 2;
    plan.mesh_device = mesh_device;
    return kept;
}

static void split_rows(clv_layout *kept, const char *tensor)
{
    for (int32_t t = 0; t < model->main->n_tensors; t++)
        if (clv_str_is(model->main->tensors[t].name, tensor))
            clv_layout_split(&kept[t], 0, 0, 1);
}

static const clv_plan_host_copies *find(void)
{
    clv_error err;
    cr_assert_eq(clv_plan_add_host_copies(&layouts, &cluster, arena, &plan, &err), CLV_OK, "%s",
                 err.message);
    return plan.host_copies;
}

/* "x 0 2: 2000 B 11000 ns" */
static void is(const clv_plan_host_copy *copy, const char *want)
{
    const char *text = copy->tensor;
    for (int32_t i = 0; i < copy->n_devices; i++)
        text = clv_arena_printf(arena, "%s %d", text, (int)copy->devices[i]);
    text = clv_arena_printf(arena, "%s: %lld B %lld ns", text, (long long)copy->bytes,
                            (long long)copy->ns);
    cr_expect_str_eq(text, want);
}

/* x is read by two stages, z by one; what is made between them is no input. */
Test(host_copies, go_to_each_stage_that_reads_and_come_from_the_one_that_writes)
{
    make((const char *const[]){ "in x 2 125", "in z 2 125", "Relu x a", "Add a x b", "Add b z c",
                                "out c", "out a", NULL },
         (const int32_t[]){ 0, 1, 3 });
    const clv_plan_host_copies *h = find();
    cr_assert(h->n_inputs == 2 && h->n_outputs == 2);
    is(&h->inputs[0], "x 0 1: 2000 B 11000 ns");
    is(&h->inputs[1], "z 3: 1000 B 12000 ns");
    is(&h->outputs[0], "c 3: 1000 B 12000 ns");
    is(&h->outputs[1], "a 0: 1000 B 11000 ns");
    cr_expect_eq(h->inputs_ns, 12000, "links work side by side");
    cr_expect_eq(h->basis, CLV_ASSUMED, "one of the links is");
    cr_expect_eq(h->outputs_ns, 12000);
}

Test(host_copies, to_one_device_go_one_after_another)
{
    make((const char *const[]){ "in x 250", "in z 500", "Relu x a", "Relu z b", "out a", "out b",
                                NULL },
         (const int32_t[]){ 0, 0 });
    const clv_plan_host_copies *h = find();
    cr_expect_eq(h->basis, CLV_FITTED);
    cr_expect_eq(h->inputs_ns, 11000 + 12000);
    cr_expect_eq(h->outputs_ns, 11000 + 12000);
}

/* Of a mesh each device gets its part, or all where it is copied; outputs come back once. */
Test(host_copies, of_a_mesh_are_parts_or_copies)
{
    make((const char *const[]){ "in x 4 125", "in z 4 125", "Add x z a", "Relu a b", "out a",
                                "out b", NULL },
         (const int32_t[]){ 0, 1 });
    clv_layout *kept = on_meshes();
    split_rows(kept, "x");
    split_rows(kept, "b");
    const clv_plan_host_copies *h = find();
    is(&h->inputs[0], "x 0 2: 2000 B 11000 ns");
    is(&h->inputs[1], "z 0 2: 4000 B 12000 ns");
    is(&h->outputs[0], "a 0: 2000 B 12000 ns");
    is(&h->outputs[1], "b 1 3: 2000 B 12000 ns");
}

/* Shape is known before the run; an output that is an input never left the host. */
Test(host_copies, are_not_needed_where_nothing_is_read)
{
    make((const char *const[]){ "in x 250", "in z 250", "Shape x n", "Relu z b", "out n", "out b",
                                "out z", "out b", NULL },
         (const int32_t[]){ 0, 0 });
    const clv_plan_host_copies *h = find();
    is(&h->inputs[0], "x: 0 B 0 ns");
    cr_assert_eq(h->n_outputs, 1);
    is(&h->outputs[0], "b 0: 1000 B 11000 ns");
}

/* An input whose content comes back as an output stays where it is. */
Test(host_copies, leave_states_on_the_devices)
{
    make((const char *const[]){ "in x 16 16", "in past 16 16", "Transpose past present",
                                "Add past x y", "out y", "out present", NULL },
         (const int32_t[]){ 0, 0 });
    const clv_plan_host_copies *h = find();
    cr_assert(h->n_inputs == 1 && h->n_outputs == 1);
    cr_expect_str_eq(h->inputs[0].tensor, "x");
    cr_expect_str_eq(h->outputs[0].tensor, "y");
}

Test(host_copies, survive_running_out_of_memory_anywhere)
{
    make((const char *const[]){ "in x 250", "Relu x a", "out a", NULL }, (const int32_t[]){ 0 });
    clv_status s = CLV_ENOMEM;
    for (size_t limit = 1; s != CLV_OK; limit += 64) {
        clv_arena *small = clv_arena_new(NULL, limit);
        plan.host_copies = NULL;
        s = small ? clv_plan_add_host_copies(&layouts, &cluster, small, &plan, NULL) : CLV_ENOMEM;
        cr_assert(s == CLV_OK || (s == CLV_ENOMEM && !plan.host_copies));
        clv_arena_free(small);
    }
}
