/* placement_helpers.h - specs from text, and what they make of a tensor, element by element. */
#ifndef TEST_WEIGHTS_PLACEMENT_HELPERS_H
#define TEST_WEIGHTS_PLACEMENT_HELPERS_H

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "graph/graph.h"
#include "support/placement_text.h"

enum { SHOW_SIZE = 1024 };

/* A file whose spec is this text. */
static inline clv_placement_file file_of(const char *spec, clv_arena *arena)
{
    const char *text = clv_arena_printf(arena, "{\"spec\": %s}", spec);
    clv_placement_file file = { 0 };
    clv_error err = { .message = "" };

    cr_assert_eq(placement_text_read(text, strlen(text), "s.json", arena, &file, &err), CLV_OK,
                 "%s: %s", spec, err.message);
    return file;
}

static inline clv_status cut(const clv_placement_file *file, int32_t rank, const int64_t *dims,
                             const char *const *names, clv_arena *arena, clv_placement_parts *ret,
                             clv_error *err)
{
    clv_placement_tensor tensor = { "tensor 'x'", rank, dims, names };

    return clv_placement_parts_of(file->spec, &tensor, &file->devices, arena, ret, err);
}

/* "cuda:0 [0,0]+[2,2]; ..." of the parts. */
static inline const char *show_parts(const clv_placement_file *file,
                                     const clv_placement_parts *parts, clv_arena *arena)
{
    char *text = clv_arena_take(arena, SHOW_SIZE);
    size_t n = 0;

    for (int32_t i = 0; i < parts->n; i++) {
        const clv_placement_part *p = &parts->at[i];
        n = clv_add_words(text, SHOW_SIZE, n, "%s%s [", i ? "; " : "",
                          clv_remote_device_print(&file->devices.at[p->device], arena));
        for (int32_t d = 0; d < parts->rank; d++)
            n = clv_add_words(text, SHOW_SIZE, n, "%s%" PRId64, d ? "," : "", p->offset[d]);
        n = clv_add_words(text, SHOW_SIZE, n, "]+[");
        for (int32_t d = 0; d < parts->rank; d++)
            n = clv_add_words(text, SHOW_SIZE, n, "%s%" PRId64, d ? "," : "", p->size[d]);
        n = clv_add_words(text, SHOW_SIZE, n, "]");
    }
    return text;
}

/* Every element of the tensor is in one part: each part is painted, element by element. */
static inline bool covers_once(const clv_placement_parts *parts, const int64_t *dims,
                               clv_arena *arena)
{
    int64_t n = 1, at[CLV_RANK_MAX];

    for (int32_t d = 0; d < parts->rank; d++)
        n *= dims[d];
    int32_t *times = CLV_NEW_ARRAY(arena, int32_t, n);
    for (int32_t i = 0; i < parts->n; i++)
        for (int64_t e = 0; e < n; e++) {
            bool in = true;
            int64_t rest = e;
            for (int32_t d = parts->rank - 1; d >= 0; d--, rest /= dims[d + 1])
                at[d] = rest % dims[d];
            for (int32_t d = 0; d < parts->rank; d++)
                in = in && at[d] >= parts->at[i].offset[d] &&
                     at[d] < parts->at[i].offset[d] + parts->at[i].size[d];
            times[e] += in;
        }
    for (int64_t e = 0; e < n; e++)
        if (times[e] != 1)
            return false;
    return true;
}

#endif
