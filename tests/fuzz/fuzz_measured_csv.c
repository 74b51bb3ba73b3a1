/* fuzz_measured_csv.c - any bytes as each of the files of measured times: refused in a sentence, or
 * rows that tables are fitted to, whose file reads back. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/measured_fit.h"
#include "calibrate/measured_json.h"
#include "calibrate/measured_nccl.h"
#include "cluster/kernel_times_json.h"

#define ROWS_MOST 200 /* a fit of more takes too long here */

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

static clv_device_kind device_of(void)
{
    clv_device_kind k = { .name = "fuzz",
                          .memory_bytes_per_s = 1e12,
                          .matrix_efficiency = 1,
                          .vector_efficiency = 1,
                          .memory_efficiency = 1,
                          .cache_bytes = 1 << 20 };
    k.matrix_per_s[CLV_DT_FLOAT] = k.vector_per_s[CLV_DT_FLOAT] = 1e14;
    return k;
}

static void fit(const clv_measured_rows *rows, clv_arena *arena)
{
    clv_device_kind device = device_of();
    clv_kernel_times times = { .n = 0 }, *back = NULL;
    clv_measured_errors errors = { NULL, 0 };
    clv_error err = { 0 };
    const char *text = NULL;
    size_t n = 0;
    if (rows->n > ROWS_MOST)
        return;
    clv_status s = clv_measured_fit(rows, &device, arena, &times, &errors, &err);
    check_error(s, &err);
    if (s != CLV_OK || times.n == 0)
        return;
    times.name = times.source = times.date = "fuzz";
    s = clv_measured_json(&times, arena, &text, &n, &err);
    check_error(s, &err);
    if (s == CLV_OK)
        must(clv_kernel_times_parse(text, n, "fuzz", arena, &back, &err) == CLV_OK);
}

static void read_one(int file, const clv_file_text *text)
{
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    must(arena != NULL);
    clv_status s = file < CLV_N_MEASURED_FILES
                       ? clv_measured_csv((clv_measured_file)file, text, arena, &rows, &err)
                       : clv_measured_nccl(CLV_TIMED_ALL_REDUCE, text, arena, &rows, &err);
    check_error(s, &err);
    for (int32_t i = 0; i < rows.n; i++)
        must(isfinite(rows.at[i].ns) && rows.at[i].ns > 0 && rows.at[i].point.at[0] > 0);
    if (s == CLV_OK && rows.n > 0)
        fit(&rows, arena);
    clv_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    clv_file_text text = { (const char *)data, "fuzz", size };
    for (int file = 0; file <= CLV_N_MEASURED_FILES; file++)
        read_one(file, &text);
    return 0;
}
