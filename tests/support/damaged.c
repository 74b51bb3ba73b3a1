#include "support/damaged.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static bool read_and_look(const uint8_t *bytes, size_t n, test_look *look)
{
    clv_onnx_file *file = NULL;
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_model *model;
    cr_assert_eq(clv_onnx_open_bytes(bytes, n, NULL, NULL, &file, NULL), CLV_OK);
    bool read = clv_onnx_read(file, arena, &model, NULL) == CLV_OK;
    if (read)
        look(file, model, arena);
    clv_onnx_close(file);
    clv_arena_free(arena);
    return read;
}

void test_damage_each_byte(test_onnx *m, test_look *look)
{
    static const uint8_t changes[] = { 1, 0x08, 0xff };
    size_t n, read = 0;
    uint8_t *bytes = onnx_pack(m, &n);
    onnx_free(m);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof changes; k++) {
            bytes[i] ^= changes[k];
            read += read_and_look(bytes, n, look);
            bytes[i] ^= changes[k];
        }
    cr_assert_gt(read, n / 2);
    free(bytes);
}
