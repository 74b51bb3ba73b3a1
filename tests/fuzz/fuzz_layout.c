/* fuzz_layout.c - any bytes as a layout of weights: refused in words, or shards that have each
 * element of the weights that they are of. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "weights/layout_file.h"

#define N_WEIGHTS 5

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void check_error(clv_status s, const clv_error *err)
{
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_EUNSUPP || s == CLV_ENOMEM);
    must(s == CLV_OK || (err->message[0] && memchr(err->message, '\0', sizeof err->message)));
}

/* Each element is in one group of copies at least: their elements, all added, cover the weight. */
static void check_elems(const clv_weight_layout *t, const clv_weight_list *weights)
{
    int64_t elems[N_WEIGHTS] = { 0 };
    for (int32_t i = 0; i < t->n_shards; i++) {
        const clv_weight_shard *s = &t->shards[i];
        must(s->weight >= 0 && s->weight < weights->n);
        must(s->device >= 0 && s->device < t->n_devices);
        must(clv_box_elems(&s->box) <= weights->at[s->weight].elems);
        elems[s->weight] += clv_box_elems(&s->box);
    }
    for (int32_t w = 0; w < N_WEIGHTS; w++)
        must(elems[w] == 0 || elems[w] >= weights->at[w].elems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t dims[] = { 8, 6, 4 };
    static const char *const names[N_WEIGHTS] = { "w", "b", "cube", "a.weight", "scalar" };
    static const int32_t ranks[N_WEIGHTS] = { 2, 1, 3, 2, 0 };
    clv_weight at[N_WEIGHTS];
    clv_weight_list weights = { at, N_WEIGHTS };
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_weight_layout target = { 0 };
    clv_placement_notes notes = { 0 };
    clv_error err = { 0 };
    must(arena != NULL);
    for (int i = 0; i < N_WEIGHTS; i++) {
        int64_t elems = 1;
        for (int32_t d = 0; d < ranks[i]; d++)
            elems *= dims[d];
        at[i] = (clv_weight){ clv_str_of(names[i]),          CLV_DT_FLOAT, ranks[i], dims, elems,
                              elems * (int64_t)sizeof(float) };
    }
    clv_layout_file file = { (const char *)data, size, "fuzz" };
    clv_status s = clv_layout_file_read(&file, &weights, arena, &target, &notes, &err);
    check_error(s, &err);
    if (s == CLV_OK)
        check_elems(&target, &weights);
    clv_arena_free(arena);
    return 0;
}
