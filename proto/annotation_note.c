#include "proto/annotation_note.h"

#include <stdio.h>

#include "proto/wire.h"

#define VERSION "1;"

clv_status clv_annotation_note_add_width(clv_annotation_note *a, clv_arena *arena, int64_t i,
                                         size_t width, clv_error *err)
{
    clv_width_run *last = a->n_runs ? &a->runs[a->n_runs - 1] : NULL;
    if (last && last->first + last->count == i && last->width == (int32_t)width) {
        last->count++;
        return CLV_OK;
    }
    if (!CLV_PUSH_ROOM(arena, a->runs, a->n_runs, a->cap_runs))
        return clv_fail_nomem(err, "the annotation's note");
    a->runs[a->n_runs++] = (clv_width_run){ i, 1, (int32_t)width };
    return CLV_OK;
}

size_t clv_annotation_note_width(const clv_annotation_note *a, int32_t *cursor, int64_t i)
{
    while (*cursor < a->n_runs && a->runs[*cursor].first + a->runs[*cursor].count <= i)
        ++*cursor;
    if (*cursor == a->n_runs || a->runs[*cursor].first > i)
        return 0;
    return (size_t)a->runs[*cursor].width;
}

/* -- writing -- */

/* Room for one run as text: two numbers of up to 19 digits, a width of up to 2, three marks. */
#define RUN_TEXT 44

char *clv_annotation_note_text(const clv_annotation_note *a, clv_arena *arena)
{
    char ir[2 * sizeof a->ir_bytes + 1] = "keep";
    if (a->ir == CLV_IR_NONE)
        snprintf(ir, sizeof ir, "none");
    for (int32_t i = 0; a->ir == CLV_IR_BYTES && i < a->ir_n; i++)
        snprintf(ir + 2 * i, 3, "%02x", a->ir_bytes[i]);
    size_t room = (size_t)a->n_runs * RUN_TEXT + 1, n = 0;
    char *wide = clv_arena_take(arena, room);
    for (int32_t i = 0; wide && i < a->n_runs; i++)
        n += (size_t)snprintf(wide + n, room - n, "%s%lld+%lld:%d", i ? "," : "",
                              (long long)a->runs[i].first, (long long)a->runs[i].count,
                              (int)a->runs[i].width);
    if (!wide)
        return NULL;
    return clv_arena_printf(arena, VERSION "size=%lld;ir=%s;wide=%s;name=%.*s", (long long)a->size,
                            ir, wide, CLV_STR_ARG(a->name));
}

/* -- reading -- */

static bool skip(clv_str *s, const char *word)
{
    int32_t n = (int32_t)strlen(word);
    if (s->n < n || memcmp(s->at, word, (size_t)n) != 0)
        return false;
    *s = (clv_str){ s->at + n, s->n - n };
    return true;
}

static bool number(clv_str *s, int64_t max, int64_t *ret)
{
    int64_t value = 0;
    int32_t i = 0;
    for (; i < s->n && s->at[i] >= '0' && s->at[i] <= '9'; i++) {
        int digit = s->at[i] - '0';
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *s = (clv_str){ s->at + i, s->n - i };
    *ret = value;
    return i > 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_ir(clv_str *s, clv_annotation_note *a)
{
    if (skip(s, "keep;")) {
        a->ir = CLV_IR_KEEP;
        return true;
    }
    if (skip(s, "none;")) {
        a->ir = CLV_IR_NONE;
        return true;
    }
    a->ir = CLV_IR_BYTES;
    while (s->n >= 2 && a->ir_n < (int32_t)sizeof a->ir_bytes) {
        int high = hex_digit(s->at[0]), low = hex_digit(s->at[1]);
        if (high < 0 || low < 0)
            break;
        a->ir_bytes[a->ir_n++] = (uint8_t)(high << 4 | low);
        *s = (clv_str){ s->at + 2, s->n - 2 };
    }
    /* exactly one varint */
    clv_wire w = { "", a->ir_bytes, a->ir_bytes, a->ir_bytes + a->ir_n };
    uint64_t value;
    return a->ir_n && clv_wire_scalar(&w, CLV_WIRE_VARINT, &value, NULL) == CLV_OK &&
           w.at == w.end && skip(s, ";");
}

/* One run, behind those before it. */
static bool parse_run(clv_str *s, int64_t behind, clv_width_run *ret)
{
    int64_t first, count, width;
    const int64_t max = INT64_MAX / 4; /* sums stay in range */
    if (!number(s, max, &first) || !skip(s, "+") || !number(s, max, &count) || !skip(s, ":") ||
        !number(s, CLV_VARINT_MAX, &width))
        return false;
    *ret = (clv_width_run){ first, count, (int32_t)width };
    return first >= behind && count > 0 && width > 1;
}

static clv_status parse_runs(clv_str *s, clv_arena *arena, clv_annotation_note *a, bool *fine,
                             clv_error *err)
{
    int64_t behind = 0;
    *fine = true;
    while (*fine && s->n && s->at[0] != ';') {
        if (a->n_runs && !skip(s, ",")) {
            *fine = false;
            break;
        }
        if (!CLV_PUSH_ROOM(arena, a->runs, a->n_runs, a->cap_runs))
            return clv_fail_nomem(err, "the annotation's note");
        clv_width_run *run = &a->runs[a->n_runs++];
        *fine = parse_run(s, behind, run);
        behind = run->first + run->count;
    }
    return CLV_OK;
}

clv_status clv_annotation_note_parse(clv_str text, clv_arena *arena, clv_annotation_note *ret,
                                     bool *ret_fine, clv_error *err)
{
    clv_annotation_note a = { .size = 0 };
    bool fine = skip(&text, VERSION "size=") && number(&text, INT64_MAX, &a.size) &&
                skip(&text, ";ir=") && parse_ir(&text, &a) && skip(&text, "wide=");
    if (fine)
        CLV_TRY(parse_runs(&text, arena, &a, &fine, err));
    fine = fine && skip(&text, ";name=");
    a.name = text;
    *ret_fine = fine;
    if (fine)
        *ret = a;
    return CLV_OK;
}
