/* fuzz_backend.c - any bytes as a profile of configs/backends: refused in a sentence, or a backend
 * that annotations can be held against. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "annotations/backend_profile.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

static void check_texts(const char **at, int32_t n)
{
    must(n >= 0 && (n == 0 || at != NULL));
    for (int32_t i = 0; i < n; i++)
        must(at[i] != NULL);
}

static void check_against(const clv_backend *b, clv_arena *arena)
{
    static const char *const devices[] = { "gpu0", "GPU1", "", "ipu/3" };
    static const clv_shard_configuration of[] = { { "", 0, NULL, 0 },
                                                  { "three", 3, NULL, 0 },
                                                  { "named", 4, devices, 4 } };
    clv_shard_move moves[] = {
        { .at = { .tensor = "y" }, .is_output = true, .own_differs = true }
    };
    clv_shard_list list = { .configurations = of,
                            .n_configurations = sizeof of / sizeof *of,
                            .moves = moves,
                            .n_moves = 1 };
    clv_error err = { 0 };
    clv_status s = clv_backend_check(b, &list, arena, &err);
    must(s == CLV_OK || s == CLV_ENOMEM);
    for (int32_t i = 0; i < list.n_unsupported; i++)
        must(list.unsupported[i].text && list.unsupported[i].text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    const clv_backend *b = NULL;
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status s = clv_backend_parse((const char *)data, size, "fuzz", arena, &b, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT || s == CLV_ENOMEM);
    must((s == CLV_OK) == (b != NULL) && (s == CLV_OK || err.message[0]));
    if (b) {
        must(b->name && b->max_devices >= 1 && b->axes_per_tensor >= 0);
        check_texts(b->device_names, b->n_device_names);
        check_texts(b->whole_operators, b->n_whole_operators);
        check_texts(b->node_links, b->n_node_links);
        must(b->mesh_axes >= 0 && (b->command.run || !b->command.copies));
        check_against(b, arena);
    }
    clv_arena_free(arena);
    return 0;
}
