/* fuzz_compiler_answer.c - any bytes as what an external compiler answers, and any last words: a
 * verdict that the search can use, or a failure with a reason of one line.
 *
 * The first byte is how it ended, the second its code; then up to a NUL its errors, then the
 * answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/external_answer.h"
#include "compile/toy.h"

#define N_DEVICES 3

static void must(bool yes)
{
    if (!yes)
        abort();
}

static const clv_cluster *cluster(void)
{
    static toy t;
    if (t.cluster.n_devices == 0) {
        clv_arena *arena = clv_arena_new(NULL, 0);
        must(arena != NULL);
        toy_init(&t, arena, 1, 1, 1);
        toy_cluster(&t, N_DEVICES, 4000, 100, 1e9);
        t.kinds[0].tiles = 4;
    }
    return &t.cluster;
}

static void check_text(const char *text, size_t size)
{
    must(memchr(text, '\0', size) != NULL);
    for (const char *p = text; *p; p++)
        must((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void check(const clv_verdict *v, const int64_t *busy_ns)
{
    check_text(v->reason, sizeof v->reason);
    switch (v->outcome) {
    case CLV_FITS:
        must(v->latency_ns > 0 && v->period_ns > 0);
        for (int d = 0; d < N_DEVICES; d++)
            must(busy_ns[d] >= -1 && (busy_ns[d] < 0) == (busy_ns[0] < 0));
        break;
    case CLV_OOM:
        must(v->device >= 0 && v->device < N_DEVICES);
        must(v->short_bytes >= 1 && v->total_short_bytes >= v->short_bytes);
        break;
    case CLV_FAILED:
        must(v->reason[0] != '\0');
        break;
    case CLV_INFEASIBLE:
    case CLV_LATE:
        abort();
    }
}

static void run_answer(const uint8_t *data, size_t size, clv_process_result *run)
{
    int64_t busy_ns[N_DEVICES] = { -1, -1, -1 };
    const uint8_t *nul = memchr(data + 2, '\0', size - 2);
    size_t n_errors = nul ? (size_t)(nul - data) - 2 : 0, from = nul ? n_errors + 3 : 2;
    clv_verdict v;
    clv_error err = { 0 };
    run->end = (clv_process_end)(data[0] % (CLV_PROCESS_NOT_STARTED + 1));
    run->code = data[1];
    run->n_errors = n_errors < CLV_ERRORS_KEPT ? n_errors : CLV_ERRORS_KEPT;
    memcpy(run->errors, data + 2, run->n_errors);
    run->n_output = size - from;
    run->output = malloc(run->n_output + 1);
    must(run->output != NULL);
    memcpy(run->output, data + from, run->n_output);
    run->output[run->n_output] = '\0';
    if (run->end != CLV_PROCESS_STOPPED) { /* is not for it */
        must(clv_external_answer_read(run, cluster(), busy_ns, &v, &err) == CLV_OK);
        check(&v, busy_ns);
    }
    free(run->output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_process_result *run = calloc(1, sizeof *run);
    must(run != NULL);
    if (size >= 2)
        run_answer(data, size, run);
    free(run);
    return 0;
}
