/* test_report_mesh.c - what a person reads of a plan whose stages are meshes. */
#include "explain/report_plan.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "explain/says.h"
#include "explain/text.h"
#include "plan/mesh_plan.h"

static clv_arena *arena;
static mesh_plan m;
static clv_plan_transfer transfers[8];

static void set_up(void)
{
    arena = clv_arena_new(NULL, 0);
    mesh_plan_init(&m);
    for (int i = 0; i < 4; i++)
        transfers[i] =
            (clv_plan_transfer){ "act", m.order[i], m.order[4 + i], 2048, 700, CLV_ASSUMED };
    m.plan.transfers = transfers;
    m.plan.n_transfers = 4;
}

static void tear_down(void) { clv_arena_free(arena); }

TestSuite(report_mesh, .init = set_up, .fini = tear_down);

static const char *text(void) { return plan_report(arena, &m.plan); }
static void says(const char *words) { expect_words(text(), words); }
static void says_not(const char *words) { expect_no_words(text(), words); }

static void mesh_in_order(void)
{
    for (int32_t i = 0; i < 8; i++)
        m.order[i] = i;
}

Test(report_mesh, begins_with_the_mesh_and_what_was_found)
{
    says("m.onnx on c: fits 8 of 8 devices in 2 stages\n\n"
         "mesh        dp=2xtp=2: each stage has 4 devices, which share its tensors\n"
         "found       Megatron row over tp (2 matmuls), pipeline (2 stages)\n");
}

Test(report_mesh, a_mesh_has_one_line_in_each_table)
{
    mesh_in_order();
    says("\nd0-3    h100      0          3");
    says("\nd4-7    h100      1          2");
    says("\nd0-3      100 B         20 B");
    says("\nact                d0-3  d4-7");
    says("  bytes of each  ");
    says("4 transfers, 8.000 KiB a run");
    says_not("\nd1");
}

Test(report_mesh, devices_that_do_not_count_up_are_shown_by_their_ends)
{
    says("\nd0..d3 (4)  h100");
    m.devices[0].name = "a/x9", m.devices[2].name = "a/x10", m.devices[1].name = "a/x11";
    m.devices[3].name = "a/x12";
    says("\na/x9-12 ");
    m.devices[3].name = "b/x12";
    says("\na/x9..b/x12 (4) ");
    m.devices[3].name = "odd";
    says("\na/x9..odd (4) ");
}

/* The device with least to spare speaks for its mesh. */
Test(report_mesh, unequal_devices_are_shown_as_such)
{
    mesh_in_order();
    m.devices[2].kind = "l40s";
    m.devices[2].capacity_bytes = 240;
    says("\nd0-3    mixed");
    says("240 B  50.0 %");
}

Test(report_mesh, collectives_are_summed_by_kind_and_axes_and_the_largest_named)
{
    says("\ncollectives  over  number  sent by each     time\n");
    says("\nall-reduce   tp         2     12.00 KiB  4.00 us\n");
    says("\nall-gather   dp         1          64 B   900 ns\n");
    says("\nz                    all-reduce  tp    all readers  8.000 KiB  2.50 us       1\n"
         "y                    all-reduce  tp    all readers  4.000 KiB  1.50 us       1\n"
         "w                    all-gather  dp    fc                64 B   900 ns       1\n");
    says("\n3 collectives a run: 12.06 KiB sent and 4.90 us, of one device of each stage\n");
}

/* As in the layers of a model. */
Test(report_mesh, alike_ones_share_a_line)
{
    m.collectives[0] = m.collectives[2];
    m.collectives[0].tensor = "first";
    says("\nfirst                all-reduce  tp    all readers  8.000 KiB  2.50 us       2\n"
         "w ");
}

Test(report_mesh, one_is_not_many)
{
    m.found[0].n = 1;
    says("Megatron row over tp (1 matmul), ");
}

Test(report_mesh, none_is_said_too)
{
    m.plan.n_collectives = 0;
    says("no collectives: the devices of a stage need nothing of each other\n");
}

/* A cut of what is there already sends nothing. */
Test(report_mesh, what_sends_nothing_is_no_collective)
{
    m.collectives[1].kind = "slice";
    says("\n2 collectives a run: ");
    says("\n1 tensor is cut where it lies, without a collective\n");
    says_not("\nslice ");
    m.collectives[0].kind = m.collectives[2].kind = "slice";
    says("no collectives: the devices of a stage need nothing of each other\n"
         "3 tensors are cut where they lie, without a collective\n");
}

Test(report_mesh, an_overlap_is_said_with_what_it_assumes)
{
    says_not("overlap");
    m.plan.overlap = 0.5;
    says("\noverlap     50 % of the bytes of collectives are taken to pass beside compute\n");
}

Test(report_mesh, unknown_bytes_are_not_summed)
{
    m.collectives[0].bytes = CLV_PLAN_UNKNOWN;
    says("\nall-reduce   tp         2             -  4.00 us\n");
    says("\n3 collectives a run\n");
}

/* covers: A.021 */
Test(report_mesh, what_specs_cannot_say_is_listed)
{
    says("uneven      1 tensor in parts of unequal size");
    says("\n  w: axis 1 in 4, 3\n");
    says("partial     1 tensor made as parts of a sum");
}

Test(report_mesh, lines_are_not_too_wide)
{
    static clv_plan_finding many[20];
    for (int i = 0; i < 20; i++)
        many[i] = (clv_plan_finding){ "vocabulary parallel embedding", "tp", "tables", 123456 };
    m.plan.found = many;
    m.plan.n_found = 20;
    m.collectives[1].reader = "/model/layers.31/self_attn/o_proj/MatMul/with/a/long/name";
    m.collectives[1].tensor =
        "/model/layers.31/self_attn/o_proj/MatMul_output_0/of/a/long/name/too";
    for (char *line = (char *)(uintptr_t)text(), *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        cr_expect_leq(end - line, CLV_REPORT_WIDTH, "%.*s", (int)(end - line), line);
    }
}

/* Only leads have nodes at which the model is cut. */
Test(report_mesh, sharding_nodes_are_of_leads)
{
    says("Sharding nodes: Device 0 - []\n[Success]");
    says_not("Device 1 -");
    says_not("Device 4 -");
}
