/* What a choice of factors means for the layouts of inputs and outputs, and which are allowed. */
#include "sharding/factors_layout.h"
#include "sharding/rule_case.h"

typedef struct {
    clv_arena *arena;
    clv_factors f;
} one_op;

static one_op op_of(const char *domain, int opset, const char *type, const char *inputs,
                    const char *attrs, const char *outputs)
{
    op_case c;
    one_op o = { .arena = clv_arena_new(NULL, 0) };
    clv_error err = { .status = CLV_OK };
    clv_inference *found = NULL;
    cr_assert_eq(case_run(&c, o.arena, domain, opset, type, inputs, attrs, outputs, &found, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(resolve_case(found, o.arena, &o.f, &err), CLV_OK, "%s", err.message);
    return o;
}

static clv_mesh mesh_of(int32_t a, int32_t b)
{
    return (
        clv_mesh){ .n_axes = b ? 2 : 1, .size = { a, b ? b : 1, 1 }, .n_devices = a * (b ? b : 1) };
}

static int16_t factor(const clv_factors *f, const char *name)
{
    for (int16_t i = 0; i < f->n_factors; i++)
        if (strcmp(f->factors[i].name, name) == 0)
            return i;
    return -1;
}

/* "0@2*4 p:sum -": by axis the dimension, outer and unit, partial, or a copy; nests as ".1". */
static void show_layout(const clv_layout *l, int32_t n_axes, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = '\0';
    for (int32_t a = 0; a < n_axes && n < size; a++) {
        const char *space = a ? " " : "";
        if (l->dim[a] == CLV_AXIS_COPY)
            n += (size_t)snprintf(buf + n, size - n, "%s-", space);
        else if (l->dim[a] == CLV_AXIS_PARTIAL)
            n += (size_t)snprintf(buf + n, size - n, "%sp%s", space, reduce_words[l->reduce[a]]);
        else
            n += (size_t)snprintf(buf + n, size - n, "%s%d", space, l->dim[a]);
        if (l->dim[a] >= 0 && l->outer[a] != 1 && n < size)
            n += (size_t)snprintf(buf + n, size - n, "@%d", l->outer[a]);
        if (l->dim[a] >= 0 && l->unit[a] != 1 && n < size)
            n += (size_t)snprintf(buf + n, size - n, "*%d", l->unit[a]);
        if (l->dim[a] >= 0 && l->nest[a] && n < size)
            n += (size_t)snprintf(buf + n, size - n, ".%d", l->nest[a]);
    }
}

/* a, b: names of the factors that the axes split, NULL for none. want: inputs | outputs. */
static void expect_choice(const one_op *o, clv_mesh mesh, const char *a, const char *b,
                          const char *want)
{
    int16_t choice[CLV_MESH_AXES_MAX] = { a ? factor(&o->f, a) : -1, b ? factor(&o->f, b) : -1,
                                          -1 };
    char got[512] = "", one[128];
    clv_layout l;
    cr_assert((!a || choice[0] >= 0) && (!b || choice[1] >= 0), "no factor %s or %s", a, b);
    if (!clv_factors_allow(&o->f, &mesh, choice)) {
        cr_expect_str_eq("not allowed", want, "%s, %s", a, b);
        return;
    }
    for (int32_t k = 0; k < o->f.n_in + o->f.n_out; k++) {
        if (k < o->f.n_in)
            clv_factors_in(&o->f, &mesh, choice, k, &l);
        else
            clv_factors_out(&o->f, &mesh, choice, k - o->f.n_in, &l);
        clv_layout plain = clv_layout_plain(&l, &mesh);
        cr_expect(clv_layout_equal(&plain, &l), "%s, %s: not the one way to write it", a, b);
        show_layout(&l, mesh.n_axes, one, sizeof one);
        strcat(got, k == 0 ? "" : k == o->f.n_in ? " | " : ", ");
        strcat(got, one);
    }
    cr_expect_str_eq(got, want, "%s, %s: got %s, expected %s", a, b ? b : "", got, want);
}

/* The product: rows, columns, or the summed dimension, and two of them at once; a mesh axis that
 * splits nothing has copies. covers: A.056 A.059 A.061 C.005 C.007 C.008 */
Test(choices, product)
{
    one_op o = op_of("", 13, "MatMul", "float[8,12] float[12,6]", "", "o");
    expect_choice(&o, mesh_of(2, 0), NULL, NULL, "-, - | -");
    expect_choice(&o, mesh_of(2, 0), "m", NULL, "0, - | 0");
    expect_choice(&o, mesh_of(2, 0), "n", NULL, "-, 1 | 1");
    expect_choice(&o, mesh_of(2, 0), "k", NULL, "1, 0 | p:sum");
    expect_choice(&o, mesh_of(2, 2), "m", "n", "0 -, - 1 | 0 1");
    expect_choice(&o, mesh_of(2, 2), "m", "k", "0 1, - 0 | 0 p:sum");
    expect_choice(&o, mesh_of(2, 2), "n", "n", "- -, 1 1.1 | 1 1.1");
    expect_choice(&o, mesh_of(2, 2), "k", "k", "1 1.1, 0 0.1 | p:sum p:sum");
    expect_choice(&o, mesh_of(2, 2), NULL, "m", "- 0, - - | - 0");
    expect_choice(&o, mesh_of(4, 1), "m", "n", "0 -, - - | 0 -"); /* an axis of one device */
    clv_arena_free(o.arena);
}

/* A size of 1 that is broadcast is on all devices. covers: A.053 A.056 */
Test(choices, broadcast)
{
    one_op o = op_of("", 13, "Add", "float[4,1] float[1,8]", "", "o");
    expect_choice(&o, mesh_of(2, 2), "d0", "d1", "0 -, - 1 | 0 1");
    clv_arena_free(o.arena);
}

/* covers: A.059 */
Test(choices, reductions_that_are_no_sums)
{
    one_op max = op_of("", 13, "ReduceMax", "float[4,6]", "", "o");
    expect_choice(&max, mesh_of(2, 3), "a0", "a1", "0 1 | p:max p:max");
    one_op mean = op_of("", 11, "ReduceMean", "float[4,6]", "axes=[1]", "o");
    expect_choice(&mean, mesh_of(3, 0), "a1", NULL, "1 | p:mean");
    expect_choice(&mean, mesh_of(4, 0), "a1", NULL, "not allowed"); /* parts weigh the same */
    expect_choice(&mean, mesh_of(3, 0), "a0", NULL, "0 | 0");       /* 2, 1, 1 rows */
    clv_arena_free(max.arena);
    clv_arena_free(mean.arena);
}

Test(choices, fused_dimensions)
{
    one_op o = op_of("", 13, "Reshape", "float[2,6,10] int64[2]{12,10}", "", "o");
    expect_choice(&o, mesh_of(2, 0), "f0", NULL, "0, - | 0");
    expect_choice(&o, mesh_of(3, 0), "f1", NULL, "1, - | 0@2");
    /* the outer one split into single elements: then the inner one is an ordinary split */
    expect_choice(&o, mesh_of(2, 3), "f0", "f1", "0 1, - - | 0 0.1");
    expect_choice(&o, mesh_of(3, 2), "f1", "f0", "1 0, - - | 0.1 0");
    expect_choice(&o, mesh_of(4, 0), "f1", NULL, "1, - | 0@2");
    clv_arena_free(o.arena);
}

/* Uneven parts of an outer factor are whole runs of the inner ones, so 3 and 2 heads of 4; nothing
 * else can be split within these. covers: A.021 */
Test(choices, uneven_parts_are_whole_units)
{
    one_op o = op_of("", 13, "Reshape", "float[5,4] int64[1]{20}", "", "o");
    expect_choice(&o, mesh_of(2, 0), "f0", NULL, "0, - | 0*4");
    expect_choice(&o, mesh_of(5, 0), "f0", NULL, "0, - | 0");
    expect_choice(&o, mesh_of(6, 0), "f0", NULL, "not allowed");
    expect_choice(&o, mesh_of(2, 2), "f0", "f0", "0 0.1, - - | 0*4 0*4.1");
    expect_choice(&o, mesh_of(2, 2), "f0", "f1", "not allowed");
    expect_choice(&o, mesh_of(5, 2), "f0", "f1", "0 1, - - | 0 0.1");
    one_op three = op_of("", 13, "Reshape", "float[2,7,4] int64[1]{56}", "", "o");
    expect_choice(&three, mesh_of(2, 0), "f1", NULL, "1, - | 0@2*4");
    /* both halves of the 2 are cut alike: 14 runs of 4 */
    expect_choice(&three, mesh_of(2, 2), "f0", "f1", "0 1, - - | 0*4 0*4.1");
    expect_choice(&three, mesh_of(2, 7), "f0", "f1", "0 1, - - | 0 0.1");
    clv_arena_free(o.arena);
    clv_arena_free(three.arena);
}

/* covers: C.016 */
Test(choices, what_is_not_allowed)
{
    one_op softmax = op_of("", 13, "Softmax", "float[3,8]", "", "o");
    expect_choice(&softmax, mesh_of(2, 0), "n", NULL, "not allowed");  /* must be whole */
    expect_choice(&softmax, mesh_of(2, 0), "a0", NULL, "0 | 0");       /* 2 and 1 rows */
    expect_choice(&softmax, mesh_of(4, 0), "a0", NULL, "not allowed"); /* more parts than rows */
    expect_choice(&softmax, mesh_of(2, 2), "a0", "a0", "not allowed");
    clv_arena_free(softmax.arena);
}

Test(choices, halo)
{
    one_op o = op_of("", 11, "Conv", "float[2,3,8] float[4,3,5]", "pads=[2,2]", "o");
    expect_choice(&o, mesh_of(2, 0), "y0", NULL, "2, - | 2");
    expect_choice(&o, mesh_of(4, 0), "y0", NULL, "2, - | 2");    /* parts of 2 lend 2 */
    expect_choice(&o, mesh_of(8, 0), "y0", NULL, "not allowed"); /* two neighbours away */
    expect_choice(&o, mesh_of(2, 2), "y0", "y0", "not allowed"); /* neighbours on two axes */
    expect_choice(&o, mesh_of(2, 2), "y0", "c", "2 1, - 1 | 2 p:sum");
    clv_arena_free(o.arena);
}

/* Groups of heads: the axis that splits the queries of a group has copies of keys and values. */
Test(choices, heads)
{
    one_op o = op_of("com.microsoft", 1, "GroupQueryAttention",
                     "float[2,1,32] float[2,1,16] float[2,1,16] float[2,4,9,4] float[2,4,9,4] "
                     "int32[2] int32[]{10}",
                     "num_heads=8 kv_num_heads=4", "o p q");
    expect_choice(&o, mesh_of(4, 2), "g", "r",
                  "2 2.1, 2 -, 2 -, 1 -, 1 -, - -, - - | 2 2.1, 1 -, 1 -");
    expect_choice(&o, mesh_of(2, 2), "g", "r",
                  "2 2@4.1, 2 -, 2 -, 1 -, 1 -, - -, - - | 2 2@4.1, 1 -, 1 -");
    /* heads are not cut: 2, 2 and no groups of two heads of 4 elements */
    expect_choice(&o, mesh_of(3, 0), "g", NULL, "2*8, 2*4, 2*4, 1, 1, -, - | 2*8, 1, 1");
    clv_arena_free(o.arena);
}
