/* test_manifest.c - manifests that were damaged in thousands of ways are refused in one sentence,
 * or read to numbers that can be used. */
#include <stdlib.h>
#include <string.h>

#include "run/made.h"
#include "run/manifest.h"

TestSuite(manifest, .init = set_up, .fini = tear_down, .timeout = 120);

#define N_MUTANTS 4000
#define TEXT_MAX  4096

/* Every key that is read. */
static const char whole[] =
    "{\"schema_version\": 1, \"form\": \"devices\", \"dialect\": \"ort\", \"model\": {\"name\": "
    "\"m.onnx\", \"fingerprint\": \"0123456789abcdef\"}, \"inputs\": [{\"name\": \"x\", \"dtype\": "
    "\"float32\", \"dims\": [4, 8]}], \"outputs\": [{\"name\": \"y\", \"dtype\": \"float16\", "
    "\"dims\": [6, 8], \"pieces\": [{\"model\": 0, \"name\": \"y\", \"part\": {\"offsets\": [0, 0, "
    "4], \"dims\": [2, 3, 4], \"view\": [2, 3, 8]}}, {\"model\": 1, \"name\": \"y\"}]}], "
    "\"models\": [{\"file\": \"gpu0.onnx\", \"stage\": 0, \"device\": \"gpu0\", \"inputs\": "
    "[{\"name\": \"x\", \"from\": \"model\", \"tensor\": \"x\", \"part\": {\"offsets\": [0, 4], "
    "\"dims\": [4, 4]}}], \"outputs\": [{\"name\": \"y\"}]}, {\"file\": \"gpu1.onnx\", \"inputs\": "
    "[{\"name\": \"h\", \"from\": 0, \"tensor\": \"y\"}], \"outputs\": [{\"name\": \"y\"}]}], "
    "\"collectives\": [{\"node\": \"all\", \"kind\": \"all-reduce\", \"reduce\": \"sum\", "
    "\"groups\": [[0, 1]], \"bytes\": 64}], \"transfers\": [], \"files\": [{\"file\": "
    "\"gpu0.onnx\", \"bytes\": 123, \"xxh3\": \"00000000000000000000000000000000\"}], \"notes\": "
    "[]}";

static uint64_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(seed >> 33) % n;
}

/* One place of the text is cut out, doubled, or overwritten with a word that is wrong there. */
static size_t damage(char *text, size_t n)
{
    static const char *const words[] = { "-1",   "99999999999999999999", "null", "{}",   "[]",
                                         "\"\"", "4294967296",           "1e99", "\"..", "[[",
                                         "0",    "2147483647",           "0.5",  "]",    "}" };
    size_t at = below(n), len = 1 + below(12), room = TEXT_MAX - n;
    const char *word = words[below(sizeof words / sizeof *words)];
    if (len > n - at)
        len = n - at;
    if (below(3) == 0) { /* a number, where there is one */
        size_t digit = at + strcspn(text + at, "0123456789");
        at = digit < n ? digit : at;
        len = 1;
    }
    size_t n_word = below(4) ? strlen(word) : 0;
    if (below(4) == 0 && len < room) { /* twice */
        memmove(text + at + len, text + at, n - at + 1);
        return n + len;
    }
    if (n_word > len && n_word - len >= room)
        return n;
    memmove(text + at + n_word, text + at + len, n - at - len + 1);
    memcpy(text + at, word, n_word);
    return n - len + n_word;
}

static void check_slice(const clr_slice *part)
{
    cr_assert(part->whole || (part->rank >= 0 && part->rank <= CLR_MAX_RANK));
    cr_assert(part->whole || part->rank == 0 || (part->offsets && part->dims));
}

static void check(const clr_program *p)
{
    cr_assert_gt(p->n_models, 0);
    for (int32_t i = 0; i < p->n_models; i++) {
        const clr_program_model *m = &p->models[i];
        cr_assert(m->file && m->path && !strstr(m->file, ".."));
        for (int32_t k = 0; k < m->n_sources; k++) {
            cr_assert(m->sources[k].name && m->sources[k].tensor);
            cr_assert(m->sources[k].from >= CLR_FROM_PROGRAM);
            check_slice(&m->sources[k].slice);
        }
    }
    for (int32_t i = 0; i < p->n_outputs; i++)
        for (int32_t k = 0; k < p->outputs[i].n_pieces; k++) {
            cr_assert(p->outputs[i].pieces[k].name && p->outputs[i].pieces[k].model >= 0);
            check_slice(&p->outputs[i].pieces[k].slice);
        }
    for (int32_t i = 0; i < p->n_collectives; i++) {
        const clr_collective *c = &p->collectives[i];
        for (int32_t k = 0; k < c->starts[c->n_groups]; k++)
            cr_assert_geq(c->members[k], 0); /* too large ones are refused once models are open */
    }
}

/* Did it read? */
static bool read_mutant(const char *text, size_t n)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_program program;
    clv_error err = { 0 };
    file_write(folder, "manifest.json", text, n);
    clv_status status = clr_manifest_read(folder, arena, &program, &err);
    if (status == CLV_OK)
        check(&program);
    else {
        cr_assert(status == CLV_EFORMAT || status == CLV_ELIMIT, "status %d: %s", (int)status,
                  err.message);
        cr_assert(err.message[0] && !strchr(err.message, '\n'), "said: %s", err.message);
    }
    clv_arena_free(arena);
    return status == CLV_OK;
}

Test(manifest, damaged_in_any_way_is_refused_or_read)
{
    char text[TEXT_MAX];
    int n_read = 0;
    cr_assert(read_mutant(whole, sizeof whole - 1));
    for (int i = 0; i < N_MUTANTS; i++) {
        size_t n = sizeof whole - 1;
        memcpy(text, whole, sizeof whole);
        for (size_t k = below(3) + 1; k > 0; k--)
            n = damage(text, n);
        n_read += read_mutant(text, n);
    }
    cr_assert(n_read > 20 && n_read < N_MUTANTS / 2, "%d were read", n_read);
}
