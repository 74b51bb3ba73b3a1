/* The set of matrices that presolve works with. */
#include "solver/intra_op/presolve_matrices.h"

#include <criterion/criterion.h>

#include "solver/common/random.h"

enum { MOST = 12 };

/* No matrices are given. */
static void begin(clv_pre_matrices *set)
{
    static const int32_t none[1] = { 0 };
    static const int64_t no_entry[1] = { 0 };
    clv_intra_op_problem p = { .first_choice = none, .first_end = none, .first_entry = no_entry };
    clv_error err;

    cr_assert_eq(clv_pre_matrices_new(set, &p, NULL, &err), CLV_OK);
}

static int32_t put(clv_pre_matrices *set, int64_t n, int32_t rows, const int64_t *entry)
{
    int32_t m = -1;

    cr_assert(clv_pre_matrices_intern(set, n, rows, entry, &m));
    return m;
}

/* Matrix `number`: its entries are reported from all others'. */
static void make(int64_t *entry, int32_t number)
{
    for (int32_t i = 0; i < MOST; i++)
        entry[i] = (int64_t)number * i + (i == number % MOST);
}

Test(presolve_matrices, keeps_equal_ones_once)
{
    clv_pre_matrices set;
    int64_t entry[MOST];

    begin(&set);
    for (int32_t turn = 0; turn < 2; turn++)
        for (int32_t k = 0; k < 1000; k++) {
            make(entry, k);
            cr_assert_eq(put(&set, MOST, 3, entry), 2 * k);
            cr_assert_eq(put(&set, MOST, 4, entry), 2 * k + 1); /* another shape */
        }
    cr_assert_eq(set.n, 2000);
    cr_assert_eq(put(&set, 6, 3, entry), 2000);
    clv_pre_matrices_free(&set);
}

Test(presolve_matrices, forgets_those_that_no_edge_has)
{
    enum { N = 20000, EDGES = 100 };
    clv_pre_matrices set;
    int64_t entry[MOST];
    int32_t matrix_of[EDGES];
    clv_error err;

    begin(&set);
    for (int32_t k = 0; k < N; k++) {
        make(entry, k);
        put(&set, MOST, 3, entry);
    }
    for (int32_t e = 0; e < EDGES; e++)
        matrix_of[e] = (e * 7919) % N;
    cr_assert_eq(clv_pre_matrices_tidy(&set, EDGES, matrix_of, &err), CLV_OK);
    cr_assert_eq(set.n, EDGES);
    for (int32_t e = 0; e < EDGES; e++) {
        make(entry, (e * 7919) % N);
        cr_assert_arr_eq(set.of[matrix_of[e]].entry, entry, sizeof entry);
        cr_assert_eq(put(&set, MOST, 3, entry), matrix_of[e]);
        for (int32_t f = 0; f < e; f++) /* in the order they were in */
            cr_assert_eq(matrix_of[f] < matrix_of[e], (f * 7919) % N < (e * 7919) % N);
    }
    cr_assert_eq(clv_pre_matrices_tidy(&set, 1, matrix_of, &err), CLV_OK);
    cr_assert_eq(set.n, EDGES, "a small set is left alone");
    clv_pre_matrices_free(&set);
}

Test(presolve_matrices, knows_what_it_holds)
{
    uint64_t rng = 1;
    int32_t forced = 0;

    for (int32_t trial = 0; trial < 2000; trial++) {
        int32_t rows = 1 + clv_random_below(&rng, 3), columns = 1 + clv_random_below(&rng, 4), m;
        bool first = true, second = true, never = false;
        int64_t entry[MOST], largest = 0;
        clv_pre_matrices set;

        begin(&set);
        for (int32_t i = 0; i < rows * columns; i++) {
            entry[i] = clv_random_below(&rng, 2) ? CLV_INTRA_OP_NEVER : clv_random_below(&rng, 9);
            never = never || entry[i] == CLV_INTRA_OP_NEVER;
            if (entry[i] < CLV_INTRA_OP_NEVER && entry[i] > largest)
                largest = entry[i];
        }
        m = put(&set, (int64_t)rows * columns, rows, entry);
        for (int32_t i = 0; i < rows; i++) {
            int32_t found = 0;

            for (int32_t j = 0; j < columns; j++)
                found += entry[i * columns + j] < CLV_INTRA_OP_NEVER;
            first = first && found == 1;
        }
        for (int32_t j = 0; j < columns; j++) {
            int32_t found = 0;

            for (int32_t i = 0; i < rows; i++)
                found += entry[i * columns + j] < CLV_INTRA_OP_NEVER;
            second = second && found == 1;
        }
        cr_assert_eq(set.of[m].never, never);
        cr_assert_eq(set.of[m].largest, largest);
        cr_assert_eq(clv_pre_matrix_forces(&set, m, 0), first && never);
        cr_assert_eq(clv_pre_matrix_forces(&set, m, 1), second && never);
        forced += first && never;
        clv_pre_matrices_free(&set);
    }
    cr_assert_gt(forced, 50);
}
