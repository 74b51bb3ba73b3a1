/* fuzz_placement_spec.c - any bytes as a placement spec: refused in words, or a file that is
 * written and read back the same, and parts that cover tensors. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/placement_text.h"
#include "weights/placement_apply.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void check_error(clv_status s, const clv_error *err)
{
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must(s == CLV_OK || (err->message[0] && memchr(err->message, '\0', sizeof err->message)));
}

/* A device by itself: what is read prints as it was. */
static void try_device(const uint8_t *data, size_t size, clv_arena *arena)
{
    clv_remote_device device;
    clv_error err = { 0 };
    char *text = clv_arena_take(arena, size + 1);
    must(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    clv_status s = clv_remote_device_parse(text, arena, &device, &err);
    check_error(s, &err);
    if (s == CLV_OK)
        must(strcmp(clv_remote_device_print(&device, arena), text) == 0);
}

static void write_and_read(const clv_placement_file *file, clv_arena *arena)
{
    clv_placement_file again;
    const char *once = NULL, *twice = NULL;
    clv_error err = { 0 };
    must(placement_text_write(file, arena, &once, &err) == CLV_OK);
    must(placement_text_read(once, strlen(once), "again", arena, &again, &err) == CLV_OK);
    must(placement_text_write(&again, arena, &twice, &err) == CLV_OK);
    must(strcmp(once, twice) == 0);
}

static void apply(const clv_placement_file *file, clv_arena *arena)
{
    static const int64_t dims[] = { 7, 4, 3 };
    static const char *const names[] = { "a.weight", "/a/bias", "a.b.c", "b", "scalar" };
    static const int32_t ranks[] = { 2, 1, 3, 2, 0 };
    clv_weight at[5];
    clv_weight_list weights = { at, 5 };
    clv_weight_layout target = { 0 };
    clv_placement_notes notes = { 0 };
    clv_error err = { 0 };
    for (int i = 0; i < 5; i++) {
        int64_t elems = 1;
        for (int32_t d = 0; d < ranks[i]; d++)
            elems *= dims[d];
        at[i] =
            (clv_weight){ clv_str_of(names[i]), CLV_DT_FLOAT, ranks[i], dims, elems, 4 * elems };
    }
    clv_status s = clv_placement_file_apply(file, &weights, arena, &target, &notes, &err);
    check_error(s, &err);
    if (s != CLV_OK)
        return;
    must(clv_weight_layout_check(&target, &weights, arena, &err) == CLV_OK);
    for (int32_t i = 0; i < notes.n; i++)
        must(notes.at[i] && notes.at[i][0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_placement_file file = { 0 };
    clv_error err = { 0 };
    must(arena != NULL);
    try_device(data, size, arena);
    clv_status s = placement_text_read((const char *)data, size, "fuzz", arena, &file, &err);
    check_error(s, &err);
    if (s == CLV_OK) {
        write_and_read(&file, arena);
        apply(&file, arena);
    }
    clv_arena_free(arena);
    return 0;
}
