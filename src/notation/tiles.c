#include "notation/tiles.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* -- check -- */

static clv_status check_pattern(const clv_tiles *tiles, int64_t *ret_volume, clv_error *err)
{
    int64_t volume = 1;

    if (tiles->n_pattern < 1 || tiles->n_pattern > CLV_RANK_MAX)
        return clv_fail(err, CLV_EFORMAT,
                        "the tile pattern has %" PRId32 " entries, expected 1 to %d",
                        tiles->n_pattern, CLV_RANK_MAX);
    for (int32_t i = 0; i < tiles->n_pattern; i++) {
        if (tiles->pattern[i] < 1)
            return clv_fail(err, CLV_EFORMAT,
                            "entry %" PRId32 " of the tile pattern is %" PRId64
                            ", expected at least 1",
                            i, tiles->pattern[i]);
        if (__builtin_mul_overflow(volume, tiles->pattern[i], &volume) || volume > CLV_TILES_MAX)
            return clv_fail(err, CLV_ELIMIT, "the tile pattern makes over %d tiles", CLV_TILES_MAX);
    }
    *ret_volume = volume;
    return CLV_OK;
}

static clv_status check_instances(const clv_tiles *tiles, int64_t n_instances, clv_error *err)
{
    for (int32_t i = 0; i < tiles->n_instance; i++) {
        int64_t id = tiles->instance[i];
        if (id < CLV_TILE_SUPPRESSED)
            return clv_fail(err, CLV_EFORMAT,
                            "entry %" PRId32 " of the tile assignment is %" PRId64
                            ", expected an instance, or -1 for none",
                            i, id);
        if (n_instances > 0 && id >= n_instances)
            return clv_fail(err, CLV_EFORMAT,
                            "entry %" PRId32 " of the tile assignment is instance %" PRId64
                            ", but there are %" PRId64,
                            i, id, n_instances);
    }
    return CLV_OK;
}

static int cmp_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static clv_status check_copies(const clv_tiles *tiles, clv_arena *arena, clv_error *err)
{
    int32_t n = tiles->n_instance;
    clv_mark mark = clv_arena_mark(arena);
    int64_t *sorted = CLV_NEW_ARRAY(arena, int64_t, n), twice = CLV_TILE_SUPPRESSED;

    if (!sorted)
        return clv_fail_nomem(err, "tiles");
    memcpy(sorted, tiles->instance, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, cmp_id);
    for (int32_t i = 1; i < n; i++)
        if (sorted[i] == sorted[i - 1] && twice == CLV_TILE_SUPPRESSED)
            twice = sorted[i];
    clv_arena_rewind(arena, mark);
    if (twice == CLV_TILE_SUPPRESSED)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT,
                    "the tile assignment has instance %" PRId64 " twice, expected one copy on each",
                    twice);
}

clv_status clv_tiles_check(const clv_tiles *tiles, int64_t n_instances, clv_arena *arena,
                           clv_error *err)
{
    int64_t volume = 1;

    CLV_TRY(check_pattern(tiles, &volume, err));
    if (tiles->n_instance > CLV_TILES_MAX)
        return clv_fail(err, CLV_ELIMIT, "the tile assignment has over %d entries", CLV_TILES_MAX);
    if (volume > 1 && tiles->n_instance != volume)
        return clv_fail(err, CLV_EFORMAT,
                        "the tile assignment has %" PRId32 " entries, expected one for each of "
                        "%" PRId64 " tiles",
                        tiles->n_instance, volume);
    if (tiles->n_instance < 1)
        return clv_fail(err, CLV_EFORMAT, "the tile assignment is empty");
    CLV_TRY(check_instances(tiles, n_instances, err));
    return volume > 1 ? CLV_OK : check_copies(tiles, arena, err);
}

/* -- parse -- */

typedef struct {
    const char *text, *at;
    clv_arena *arena;
} scanner;

static void skip_blanks(scanner *s)
{
    while (*s->at == ' ' || *s->at == '\t')
        s->at++;
}

/* "column 3 of the tiles '{2,x:0}' is 'x', expected ..." */
static clv_status fail_at(const scanner *s, const char *expected, clv_error *err)
{
    if (!*s->at)
        return clv_fail(err, CLV_EFORMAT, "the tiles '%.100s' end early, expected %s", s->text,
                        expected);
    return clv_fail(err, CLV_EFORMAT, "column %td of the tiles '%.100s' is '%c', expected %s",
                    s->at - s->text + 1, s->text, *s->at, expected);
}

static clv_status scan_number(scanner *s, int64_t *ret, clv_error *err)
{
    const char *start = s->at;
    int64_t value = 0;
    bool minus = *s->at == '-';

    s->at += minus;
    if (!isdigit((unsigned char)*s->at))
        return fail_at(s, "a number", err);
    for (; isdigit((unsigned char)*s->at); s->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *s->at - '0', &value)) {
            s->at = start;
            return fail_at(s, "a number below 2^63", err);
        }
    *ret = minus ? -value : value;
    return CLV_OK;
}

/* Numbers with commas between them, up to what is no comma. */
static clv_status scan_list(scanner *s, int64_t **ret, int32_t *ret_n, clv_error *err)
{
    int64_t *list = NULL;
    int32_t n = 0, cap = 0;

    for (;;) {
        if (n == CLV_TILES_MAX)
            return clv_fail(err, CLV_ELIMIT, "the tiles have a list of over %d numbers",
                            CLV_TILES_MAX);
        if (!CLV_PUSH_ROOM(s->arena, list, n, cap))
            return clv_fail_nomem(err, "tiles");
        skip_blanks(s);
        CLV_TRY(scan_number(s, &list[n++], err));
        skip_blanks(s);
        if (*s->at != ',')
            break;
        s->at++;
    }
    *ret = list;
    *ret_n = n;
    return CLV_OK;
}

/* 0, 1, ...: as many as there are tiles. */
static clv_status number_instances(clv_tiles *tiles, clv_arena *arena, clv_error *err)
{
    int64_t volume = 1;
    int64_t *instance = NULL;

    CLV_TRY(check_pattern(tiles, &volume, err));
    instance = CLV_NEW_ARRAY(arena, int64_t, volume);
    if (!instance)
        return clv_fail_nomem(err, "tiles");
    for (int64_t i = 0; i < volume; i++)
        instance[i] = i;
    tiles->instance = instance;
    tiles->n_instance = (int32_t)volume;
    tiles->by_default = true;
    return CLV_OK;
}

clv_status clv_tiles_parse(const char *text, clv_arena *arena, clv_tiles *ret, clv_error *err)
{
    scanner s = { text, text, arena };
    clv_tiles tiles = { 0 };
    int64_t *list = NULL;

    skip_blanks(&s);
    if (*s.at != '{')
        return fail_at(&s, "'{'", err);
    s.at++;
    CLV_TRY(scan_list(&s, &list, &tiles.n_pattern, err));
    tiles.pattern = list;
    if (*s.at != ':' && *s.at != '}')
        return fail_at(&s, "',', ':' or '}'", err);
    if (*s.at++ == ':') {
        CLV_TRY(scan_list(&s, &list, &tiles.n_instance, err));
        tiles.instance = list;
        if (*s.at != '}')
            return fail_at(&s, "',' or '}'", err);
        s.at++;
    } else {
        CLV_TRY(number_instances(&tiles, arena, err));
    }
    skip_blanks(&s);
    if (*s.at)
        return fail_at(&s, "nothing behind '}'", err);
    CLV_TRY(clv_tiles_check(&tiles, 0, arena, err));
    *ret = tiles;
    return CLV_OK;
}

/* -- print -- */

#define NUMBER_ROOM 21 /* 19 digits, a sign and what stands before it */

static size_t put_list(char *buf, size_t size, size_t n, const int64_t *list, int32_t n_list)
{
    for (int32_t i = 0; i < n_list; i++)
        n = clv_add_words(buf, size, n, i ? ",%" PRId64 : "%" PRId64, list[i]);
    return n;
}

const char *clv_tiles_print(const clv_tiles *tiles, clv_arena *arena)
{
    size_t size = ((size_t)tiles->n_pattern + (size_t)tiles->n_instance + 1) * NUMBER_ROOM;
    char *buf = clv_arena_take(arena, size);
    size_t n = 0;

    if (!buf)
        return NULL;
    n = clv_add_words(buf, size, n, "{");
    n = put_list(buf, size, n, tiles->pattern, tiles->n_pattern);
    if (!tiles->by_default) {
        n = clv_add_words(buf, size, n, ":");
        n = put_list(buf, size, n, tiles->instance, tiles->n_instance);
    }
    clv_add_words(buf, size, n, "}");
    return buf;
}
