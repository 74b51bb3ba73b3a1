/* fuzz_tiles.c - any bytes as tile notation: refused in words, or tiles that print and parse back,
 * fill a tensor, and are the same by way of a sharding spec. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "notation/tile_dictionary.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

/* Tiles, those of nobody too, have as many elements as the tensor. */
static void check_parts(const clv_tiles *tiles, const clv_tile_parts *parts, const int64_t *dims)
{
    int64_t whole = 1, sum = 0, n = 1;
    for (int32_t i = 0; i < tiles->n_pattern; i++)
        n *= tiles->pattern[i];
    for (int32_t d = 0; d < parts->rank; d++)
        whole *= dims[d];
    must(parts->n + parts->n_suppressed == tiles->n_instance);
    for (int32_t i = 0; i < parts->n; i++) {
        int64_t elems = 1;
        for (int32_t d = 0; d < parts->rank; d++) {
            const clv_tile_part *p = &parts->at[i];
            must(p->start[d] >= 0 && p->size[d] >= 0 && p->start[d] + p->size[d] <= dims[d]);
            elems *= p->size[d];
        }
        sum += elems;
    }
    if (parts->n_suppressed == 0)
        must(sum == (n == 1 ? whole * parts->n : whole));
}

static void by_spec(const clv_tiles *tiles, int32_t rank, clv_arena *arena)
{
    clv_sharding_spec spec, back;
    clv_tiles again;
    clv_error err = { 0 };
    if (clv_tiles_to_spec(tiles, rank, "x", arena, &spec, &err) != CLV_OK)
        return;
    must(clv_spec_check(&spec, rank, 0, arena, &err) == CLV_OK);
    must(clv_tiles_from_spec(&spec, tiles->order, rank, arena, &again, &err) == CLV_OK);
    must(clv_tiles_to_spec(&again, rank, "x", arena, &back, &err) == CLV_OK);
    must(back.n_device == spec.n_device && back.n_dims == spec.n_dims);
    must(memcmp(back.device, spec.device, (size_t)spec.n_device * sizeof *spec.device) == 0);
}

static void check(const clv_tiles *tiles, clv_arena *arena)
{
    static const int64_t dims[] = { 5, 6, 7 };
    clv_tile_parts parts;
    clv_tiles again;
    clv_error err = { 0 };
    const char *text = clv_tiles_print(tiles, arena);
    must(text && clv_tiles_parse(text, arena, &again, &err) == CLV_OK);
    must(strcmp(clv_tiles_print(&again, arena), text) == 0);
    for (int32_t rank = 0; rank <= 3; rank++)
        for (int order = 0; order < 2; order++) {
            again.order = (clv_tile_order)order;
            clv_status s = clv_tiles_extract(&again, rank, dims, arena, &parts, &err);
            must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ENOMEM);
            if (s != CLV_OK)
                continue;
            check_parts(tiles, &parts, dims);
            by_spec(&again, rank, arena);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)512 << 20);
    clv_tiles tiles = { 0 };
    clv_error err = { 0 };
    must(arena != NULL);
    char *text = clv_arena_take(arena, size + 1);
    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    clv_status s = clv_tiles_parse(text, arena, &tiles, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must(s == CLV_OK || (err.message[0] && memchr(err.message, '\0', sizeof err.message)));
    if (s == CLV_OK && tiles.n_instance <= 4096) /* larger ones are slow, not other */
        check(&tiles, arena);
    clv_arena_free(arena);
    return 0;
}
