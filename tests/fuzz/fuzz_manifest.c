/* fuzz_manifest.c - any bytes as manifest.json of a lowered folder: refused in a sentence, or read
 * to numbers that can be used; its digest and what it says of itself are judged without a file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_digest.h"
#include "run/manifest.h"
#include "run/manifest_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const clv_error *err)
{
    if (!memchr(err->message, '\0', sizeof err->message) || !err->message[0])
        abort();
}

/* "stage1..onnx" is a name like any other. */
static bool leaves_folder(const char *name)
{
    size_t n;
    for (const char *part = name; *part; part += n + (part[n] == '/')) {
        n = strcspn(part, "/");
        if (n == 2 && part[0] == '.' && part[1] == '.')
            return true;
    }
    return name[0] == '/';
}

static void check_numbers(const clr_program *p)
{
    for (int32_t i = 0; i < p->n_models; i++) {
        if (!p->models[i].file || leaves_folder(p->models[i].file))
            abort();
        for (int32_t k = 0; k < p->models[i].n_sources; k++)
            if (p->models[i].sources[k].from < CLR_FROM_PROGRAM)
                abort();
    }
    for (int32_t i = 0; i < p->n_collectives; i++)
        for (int32_t k = 0; k < p->collectives[i].starts[p->collectives[i].n_groups]; k++)
            if (p->collectives[i].members[k] < 0)
                abort();
}

/* Of a manifest that agrees with itself. */
static void check_copies(const clr_program *p)
{
    for (int32_t c = 0; c < p->n_copies; c++)
        for (int32_t i = 0; i < p->n_models; i++)
            if (!clr_program_device(p, i, c))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    char *text = arena ? clv_arena_take(arena, size + 1) : NULL;
    clr_program program;
    clv_error err;

    if (!text) {
        clv_arena_free(arena);
        return 0;
    }
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (clv_text_digest_check(text, size, "fuzz", "lower the plan again", arena, &err) != CLV_OK)
        check_error(&err);
    if (clr_manifest_parse(text, size, "fuzz", arena, &program, &err) != CLV_OK)
        check_error(&err);
    else {
        check_numbers(&program);
        if (clr_manifest_check(&program, &err) != CLV_OK)
            check_error(&err);
        else if (program.version >= 2)
            check_copies(&program);
    }
    clv_arena_free(arena);
    return 0;
}
