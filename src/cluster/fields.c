#include "cluster/fields.h"

#include <string.h>

#include "base/units.h"

/* Every reader opens the { value, source } of a key, reads the value by its unit and holds it
 * against its bounds. `text` is NULL where the value is a plain number.
 */

#define PATH_CHARS 256
#define HOUR_NS    INT64_C(3600000000000)
#define PART_MAX   0.999999

typedef struct {
    clv_json_at holder, value;
    const char *text;
    char path[PATH_CHARS];
} field;

static clv_status not_empty(const clv_json_at *at, const char **ret, clv_error *err)
{
    const char *text;
    char path[PATH_CHARS];
    CLV_TRY(clv_json_string(at, &text, err));
    if (!*text)
        return clv_fail(err, CLV_EFORMAT, "%s is \"\", expected text",
                        clv_json_path(at, path, sizeof path));
    *ret = text;
    return CLV_OK;
}

/* f->value points to f->holder, so a field stays where it is. */
static clv_status open_field(const clv_json_at *object, const char *key, field *f, clv_error *err)
{
    static const char *const keys[] = { "value", "source", NULL };
    clv_json_at source;
    const char *ignored;
    CLV_TRY(clv_json_member(object, key, true, &f->holder, err));
    CLV_TRY(clv_json_keys(&f->holder, keys, err));
    CLV_TRY(clv_json_member(&f->holder, "value", true, &f->value, err));
    CLV_TRY(clv_json_member(&f->holder, "source", true, &source, err));
    CLV_TRY(not_empty(&source, &ignored, err));
    clv_json_path(&f->value, f->path, sizeof f->path);
    return CLV_OK;
}

clv_status clv_field_basis(const clv_json_at *object, const char *key, clv_basis *ret,
                           clv_error *err)
{
    static const char *const words[] = { "measured", "fitted" };
    clv_json_at holder, source;
    const char *text;
    CLV_TRY(clv_json_member(object, key, true, &holder, err));
    CLV_TRY(clv_json_member(&holder, "source", true, &source, err));
    CLV_TRY(clv_json_string(&source, &text, err));
    *ret = CLV_ASSUMED;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            *ret = CLV_FITTED;
    return CLV_OK;
}

static clv_status open_text(const clv_json_at *object, const char *key, field *f, clv_error *err)
{
    CLV_TRY(open_field(object, key, f, err));
    return clv_json_string(&f->value, &f->text, err);
}

static clv_status out_of_range(const field *f, const char *expected, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT, "%s is '%.60s', expected %s", f->path, f->text, expected);
}

clv_status clv_field_bytes(const clv_json_at *object, const char *key, int64_t min_bytes,
                           int64_t *ret, clv_error *err)
{
    field f;
    int64_t v;
    CLV_TRY(open_text(object, key, &f, err));
    CLV_TRY(clv_parse_bytes(f.text, f.path, &v, err));
    if (v < min_bytes)
        return out_of_range(&f, "a larger size", err);
    if (v > INT64_C(1) << 60)
        return out_of_range(&f, "at most 2^60 bytes", err);
    *ret = v;
    return CLV_OK;
}

clv_status clv_field_bandwidth(const clv_json_at *object, const char *key, double *ret,
                               clv_error *err)
{
    field f;
    double v;
    CLV_TRY(open_text(object, key, &f, err));
    CLV_TRY(clv_parse_bandwidth(f.text, f.path, &v, err));
    if (v < 1e3 || v > 1e18)
        return out_of_range(&f, "a bandwidth from 1KB/s to 1000000TB/s", err);
    *ret = v;
    return CLV_OK;
}

clv_status clv_field_rate(const clv_json_at *object, const char *key, double *ret, clv_error *err)
{
    field f;
    double v;
    CLV_TRY(open_text(object, key, &f, err));
    CLV_TRY(clv_parse_rate(f.text, f.path, &v, err));
    if (v < 1e6 || v > 1e21)
        return out_of_range(&f, "a rate from 1MFLOP/s to 1000000PFLOP/s", err);
    *ret = v;
    return CLV_OK;
}

clv_status clv_field_time(const clv_json_at *object, const char *key, int64_t *ret, clv_error *err)
{
    field f;
    int64_t v;
    CLV_TRY(open_text(object, key, &f, err));
    CLV_TRY(clv_parse_time(f.text, f.path, &v, err));
    if (v > HOUR_NS)
        return out_of_range(&f, "at most an hour", err);
    *ret = v;
    return CLV_OK;
}

clv_status clv_field_share(const clv_json_at *object, const char *key, double *ret, clv_error *err)
{
    field f;
    double v;
    CLV_TRY(open_field(object, key, &f, err));
    CLV_TRY(clv_json_number(&f.value, 1e-6, 1, &v, err));
    *ret = v;
    return CLV_OK;
}

clv_status clv_field_link_speed(const clv_json_at *object, clv_link_speed *ret, clv_error *err)
{
    clv_link_speed speed = { .efficiency = 1 };
    clv_json_at efficiency;
    CLV_TRY(clv_field_bandwidth(object, "bandwidth", &speed.peak_bytes_per_s, err));
    CLV_TRY(clv_field_time(object, "latency", &speed.latency_ns, err));
    CLV_TRY(clv_json_member(object, "efficiency", false, &efficiency, err));
    if (efficiency.json)
        CLV_TRY(clv_field_share(object, "efficiency", &speed.efficiency, err));
    CLV_TRY(
        clv_field_basis(object, efficiency.json ? "efficiency" : "bandwidth", &speed.basis, err));
    *ret = speed;
    return CLV_OK;
}

clv_status clv_field_part(const clv_json_at *object, const char *key, double *ret, clv_error *err)
{
    field f;
    double v;
    CLV_TRY(open_field(object, key, &f, err));
    CLV_TRY(clv_json_number(&f.value, 0, PART_MAX, &v, err));
    *ret = v;
    return CLV_OK;
}

clv_status clv_field_count(const clv_json_at *object, const char *key, int64_t min, int64_t max,
                           int64_t *ret, clv_error *err)
{
    field f;
    CLV_TRY(open_field(object, key, &f, err));
    return clv_json_int(&f.value, min, max, ret, err);
}

clv_status clv_field_text(const clv_json_at *object, const char *key, clv_arena *arena,
                          const char **ret, clv_error *err)
{
    clv_json_at member;
    const char *text = NULL;
    CLV_TRY(clv_json_member(object, key, true, &member, err));
    CLV_TRY(not_empty(&member, &text, err));
    const char *copy = clv_arena_printf(arena, "%s", text);
    if (!copy)
        return clv_fail_nomem(err, "a name");
    *ret = copy;
    return CLV_OK;
}

clv_status clv_field_optional_text(const clv_json_at *object, const char *key, clv_arena *arena,
                                   const char **ret, clv_error *err)
{
    clv_json_at member;
    CLV_TRY(clv_json_member(object, key, false, &member, err));
    return member.json ? clv_field_text(object, key, arena, ret, err) : CLV_OK;
}

clv_status clv_field_version(const clv_json_at *object, clv_error *err)
{
    clv_json_at version;
    int64_t ignored;
    CLV_TRY(clv_json_member(object, "version", true, &version, err));
    return clv_json_int(&version, 1, 1, &ignored, err);
}
