/* Every line of ops.def with inputs and attributes drawn at random: whatever a file says, a rule
 * answers or refuses. Run under sanitizers this is where out-of-range reads show.
 */
#include "graph/ops.h"
#include "hostile.h"
#include "op_case.h"

static void one_case(uint64_t *state, const clv_op_def *def)
{
    char inputs[512], words[512];
    static const int versions[] = { 1, 6, 7, 9, 11, 13, 18, 23 };
    op_case c;
    clv_error err;
    clv_inference *found = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    draw_words(state, hostile_types, sizeof hostile_types / sizeof *hostile_types, draw(state, 7),
               inputs, sizeof inputs);
    draw_words(state, hostile_attrs, sizeof hostile_attrs / sizeof *hostile_attrs, draw(state, 4),
               words, sizeof words);
    int version = versions[draw(state, sizeof versions / sizeof *versions)];
    clv_status status = case_run(&c, arena, def->domain, version, def->name, inputs, words,
                                 "a b - d", &found, &err);
    cr_assert(status == CLV_OK || status == CLV_EFORMAT || status == CLV_ELIMIT ||
                  status == CLV_EUNSUPP,
              "%s(%s) %s: %s", def->name, inputs, words, err.message);
    clv_arena_free(arena);
}

Test(rules_survive, whatever_a_file_says)
{
    uint64_t state = 1;
    for (int32_t kind = 0; kind < clv_n_op_defs(); kind++)
        for (int i = 0; i < 100; i++)
            one_case(&state, clv_op_def_at(kind));
}
