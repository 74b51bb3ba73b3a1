#include "calibrate/measured_nccl.h"

#include <string.h>

#include "base/map.h"

/*
 * #  Rank  0 Group  0 Pid   1 on host device  0 [0x1b] NVIDIA H100     a line for each device
 * #       size         count      type   redop    root     time   algbw   busbw #wrong     time ...
 * #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) ...
 *          512           128     float     sum      -1     9.52    0.05    0.10      0     9.46 ...
 */

enum { SIZE, COUNT, TYPE, REDOP, ROOT, TIME, N_FIELDS };

#define NS_PER_US   1e3
#define DEVICES_MAX 65536
#define BYTES_MAX   INT64_C(1000000000000)
#define LEAST_US    1e-3
#define MOST_US     3.6e9

typedef struct {
    clv_lines lines;
    clv_timed_operation operation;
    int32_t devices;
    const char *library;
    clv_arena *arena;
} reader;

bool clv_measured_nccl_name(const char *name, clv_timed_operation *ret)
{
    for (int i = 0; i < CLV_N_TIMED_OPERATIONS; i++) {
        const char *word = clv_timed_operation_name((clv_timed_operation)i);
        size_t n = strlen(word);
        if (strncmp(name, word, n) == 0 && strncmp(name + n, "_perf", 5) == 0) {
            *ret = (clv_timed_operation)i;
            return true;
        }
    }
    return false;
}

/* "# nccl-tests version 2.17.6 nccl-headers=22902 nccl-library=22902" says 2.29.2. */
static clv_status read_version(reader *r, clv_str digits, clv_error *err)
{
    int64_t v;
    if (!clv_scan_int(digits, &v))
        return CLV_OK;
    const char *library = clv_arena_printf(r->arena, "nccl %lld.%lld.%lld", (long long)(v / 10000),
                                           (long long)(v / 100 % 100), (long long)(v % 100));
    if (!library)
        return clv_fail_nomem(err, "measured times");
    r->library = library;
    return CLV_OK;
}

static clv_status read_comment(reader *r, clv_error *err)
{
    static const char version[] = "nccl-library=";
    const size_t n = sizeof version - 1;
    clv_str rest = r->lines.line, word;
    for (int32_t i = 0; clv_next_field(&rest, ' ', &word); i++) {
        if (i == 1 && clv_str_is(word, "Rank") && r->devices < DEVICES_MAX)
            r->devices++;
        if (word.n > (int32_t)n && memcmp(word.at, version, n) == 0)
            CLV_TRY(read_version(r, (clv_str){ word.at + n, word.n - (int32_t)n }, err));
    }
    return CLV_OK;
}

static clv_status read_row(reader *r, clv_measured_rows *rows, clv_error *err)
{
    clv_str rest = r->lines.line, field[N_FIELDS];
    int64_t bytes;
    double us;
    for (int32_t i = 0; i < N_FIELDS; i++)
        if (!clv_next_field(&rest, ' ', &field[i]))
            return clv_fail_line(&r->lines, err,
                                 "has %d columns, expected size, count, type, redop, root, time",
                                 (int)i);
    if (!clv_scan_int(field[SIZE], &bytes) || bytes > BYTES_MAX)
        return clv_fail_line(&r->lines, err, "size is '%.*s', expected whole bytes, at most 10^12",
                             CLV_STR_ARG(field[SIZE]));
    if (!clv_scan_number(field[TIME], &us) || us < LEAST_US || us > MOST_US)
        return clv_fail_line(&r->lines, err,
                             "time is '%.*s', expected microseconds from 0.001 to an hour",
                             CLV_STR_ARG(field[TIME]));
    if (r->devices < 2)
        return clv_fail_line(&r->lines, err,
                             "is behind %d lines of '# Rank', expected one for each device, at "
                             "least 2",
                             (int)r->devices);
    if (bytes == 0)
        return CLV_OK; /* of less than an element for each device: nothing was moved */
    if (!CLV_PUSH_ROOM(r->arena, rows->at, rows->n, rows->cap))
        return clv_fail_nomem(err, "measured times");
    clv_measured_row *row = &rows->at[rows->n++];
    *row = (clv_measured_row){ .operation = r->operation,
                               .devices = r->devices,
                               .library = r->library,
                               .ns = us * NS_PER_US };
    row->point.kind = CLV_TIMED_COLLECTIVE;
    row->point.at[0] = (double)bytes;
    row->hash = clv_hash(CLV_HASH_INIT, r->lines.line.at, (size_t)r->lines.line.n);
    return CLV_OK;
}

clv_status clv_measured_nccl(clv_timed_operation operation, const clv_file_text *text,
                             clv_arena *arena, clv_measured_rows *rows, clv_error *err)
{
    reader r = {
        .lines = { .text = text }, .operation = operation, .library = "nccl", .arena = arena
    };
    int32_t before = rows->n;
    while (clv_next_line(&r.lines)) {
        clv_str rest = r.lines.line, first;
        if (!clv_next_field(&rest, ' ', &first))
            continue;
        CLV_TRY(first.n > 0 && *first.at == '#' ? read_comment(&r, err) : read_row(&r, rows, err));
    }
    if (rows->n == before)
        return clv_fail(err, CLV_EFORMAT, "%.200s has no times, expected the table of nccl-tests",
                        text->what);
    return CLV_OK;
}
