/* fuzz_weights_folder.c - any bytes as weights.json: refused in words, or a folder whose text reads
 * back the same, and whose bytes have a place each. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "weights/reshard_plan.h"
#include "weights/weights_folder_json.h"
#include "weights/weights_folder_read.h"

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

static void write_and_read(const clv_weights_folder *f, clv_arena *arena)
{
    const char *once, *twice;
    size_t n = 0, n_again = 0;
    clv_weights_folder again;
    clv_error err = { 0 };
    must(clv_folder_json_text(f, arena, &once, &n, &err) == CLV_OK);
    must(clv_weights_folder_parse(once, n, "fuzz", arena, &again, &err) == CLV_OK);
    must(clv_folder_json_text(&again, arena, &twice, &n_again, &err) == CLV_OK);
    must(n == n_again && memcmp(once, twice, n) == 0);
}

/* What is kept of the originals is apart, in them, and as long as the rest. */
static void check_rest(const clv_weights_folder *f, clv_arena *arena)
{
    int64_t total = 0;
    for (int32_t i = 0; i < f->n_originals; i++) {
        const clv_rest_range *at;
        int32_t n = 0;
        int64_t end = 0;
        clv_error err = { 0 };
        must(clv_rest_ranges(f, i, arena, &at, &n, &err) == CLV_OK);
        for (int32_t k = 0; k < n; k++) {
            must(at[k].offset >= end && at[k].length > 0);
            end = at[k].offset + at[k].length;
            total += at[k].length;
        }
        must(end <= f->originals[i].bytes);
    }
    must(total == f->rest.bytes);
}

/* As it lies already, nothing has to move. */
static void stay(const clv_weights_folder *f, clv_arena *arena)
{
    clv_reshard_plan plan = { 0 };
    clv_error err = { 0 };
    clv_status s = clv_reshard_plan_make(f, &f->layout, arena, &plan, &err);
    check_error(s, &err);
    must(s == CLV_ENOMEM || (s == CLV_OK && plan.moved_bytes == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_weights_folder f;
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status s = clv_weights_folder_parse((const char *)data, size, "fuzz", arena, &f, &err);
    check_error(s, &err);
    if (s == CLV_OK) {
        write_and_read(&f, arena);
        check_rest(&f, arena);
        stay(&f, arena);
    }
    clv_arena_free(arena);
    return 0;
}
