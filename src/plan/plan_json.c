#include "plan/plan_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"

const char *const clv_plan_outcome_words[CLV_N_OUTCOMES] = { "fits", "out of memory", "failed",
                                                             "rules conflict", "too slow" };
const char *const clv_plan_objective_words[2] = { "latency", "throughput" };
const char *const clv_plan_micro_words[3] = { "given", "filled", "memory" };

/* -- writing -- */

void clv_plan_put_count(clv_json_out *out, const char *key, int64_t value)
{
    if (value <= CLV_PLAN_JSON_INT_MAX) {
        clv_json_put_int(out, key, value);
    } else {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, value);
        clv_json_put_string(out, key, text);
    }
}

void clv_plan_put_known_count(clv_json_out *out, const char *key, int64_t value)
{
    if (value >= 0)
        clv_plan_put_count(out, key, value);
}

void clv_plan_put_numbers(clv_json_out *out, const char *key, const int64_t *at, int32_t n)
{
    bool pretty = out->pretty;

    clv_json_open_array(out, key);
    out->pretty = false;
    for (int32_t i = 0; i < n; i++)
        clv_plan_put_count(out, NULL, at[i]);
    clv_json_close_array(out);
    out->pretty = pretty;
}

/* -- reading -- */

static clv_status get_string(const clv_json_at *object, const char *key, bool required,
                             clv_arena *arena, const char **ret, clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, required, &at, err));
    return at.json ? clv_json_copy_string(&at, arena, ret, err) : CLV_OK;
}

clv_status clv_plan_require_string(const clv_json_at *object, const char *key, clv_arena *arena,
                                   const char **ret, clv_error *err)
{
    return get_string(object, key, true, arena, ret, err);
}

clv_status clv_plan_get_string(const clv_json_at *object, const char *key, clv_arena *arena,
                               const char **ret, clv_error *err)
{
    return get_string(object, key, false, arena, ret, err);
}

clv_status clv_plan_require_int32(const clv_json_at *object, const char *key, int64_t min,
                                  int64_t max, int32_t *ret, clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, true, &at, err));
    return clv_plan_get_int32(object, key, min, max, ret, err);
}

clv_status clv_plan_get_int32(const clv_json_at *object, const char *key, int64_t min, int64_t max,
                              int32_t *ret, clv_error *err)
{
    clv_json_at at;
    int64_t value = *ret;

    CLV_TRY(clv_json_member(object, key, false, &at, err));
    if (at.json)
        CLV_TRY(clv_json_int(&at, min, max, &value, err));
    *ret = (int32_t)value;
    return CLV_OK;
}

clv_status clv_plan_read_count(const clv_json_at *at, int64_t *ret, clv_error *err)
{
    const char *text = NULL;

    if (!clv_json_is_string(at))
        return clv_json_int(at, 0, CLV_PLAN_JSON_INT_MAX, ret, err);
    CLV_TRY(clv_json_string(at, &text, err));
    clv_status status =
        clv_parse_int(text, CLV_PLAN_PATH(at), CLV_PLAN_JSON_INT_MAX + 1, INT64_MAX, ret, err);
    if (status != CLV_OK && err) /* a wrong request on a command line, a wrong file here */
        err->status = CLV_EFORMAT;
    return status == CLV_OK ? CLV_OK : CLV_EFORMAT;
}

clv_status clv_plan_get_count(const clv_json_at *object, const char *key, int64_t *ret,
                              clv_error *err)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, false, &at, err));
    return at.json ? clv_plan_read_count(&at, ret, err) : CLV_OK;
}

clv_status clv_plan_get_known_count(const clv_json_at *object, const char *key, int64_t *ret,
                                    clv_error *err)
{
    *ret = CLV_PLAN_UNKNOWN;
    return clv_plan_get_count(object, key, ret, err);
}

clv_status clv_plan_require_word(const clv_json_at *object, const char *key,
                                 const char *const *words, int32_t n, int32_t *ret, clv_error *err)
{
    clv_json_at at;
    const char *text = NULL;

    CLV_TRY(clv_json_member(object, key, true, &at, err));
    CLV_TRY(clv_json_string(&at, &text, err));
    for (int32_t i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return CLV_OK;
        }
    return clv_fail(err, CLV_EFORMAT, "%s: '%.40s' is not one of '%s', '%s'%s%s%s%s%s%s%s%s%s",
                    CLV_PLAN_PATH(&at), text, words[0], words[1], n > 2 ? ", '" : "",
                    n > 2 ? words[2] : "", n > 2 ? "'" : "", n > 3 ? ", '" : "",
                    n > 3 ? words[3] : "", n > 3 ? "'" : "", n > 4 ? ", '" : "",
                    n > 4 ? words[4] : "", n > 4 ? "'" : "");
}

clv_status clv_plan_get_basis(const clv_json_at *object, clv_basis *ret, clv_error *err)
{
    const char *words[CLV_N_BASES];
    clv_json_at at;
    int32_t basis = 0;

    for (int32_t i = 0; i < CLV_N_BASES; i++)
        words[i] = clv_basis_name((clv_basis)i);
    CLV_TRY(clv_json_member(object, "basis", false, &at, err));
    if (at.json)
        CLV_TRY(clv_plan_require_word(object, "basis", words, CLV_N_BASES, &basis, err));
    *ret = (clv_basis)basis;
    return CLV_OK;
}

clv_status clv_plan_open_list(const clv_json_at *list, size_t size, clv_arena *arena,
                              clv_plan_list *ret, clv_error *err)
{
    *ret = (clv_plan_list){ .at = *list };
    if (!list->json)
        return CLV_OK;
    CLV_TRY(clv_json_length(list, &ret->n, err));
    ret->room = clv_arena_take_array(arena, (size_t)ret->n, size);
    return ret->room ? CLV_OK : clv_fail_nomem(err, "a plan");
}

clv_status clv_plan_get_list(const clv_json_at *object, const char *key, size_t size,
                             clv_arena *arena, clv_plan_list *ret, clv_error *err)
{
    clv_json_at list;

    CLV_TRY(clv_json_member(object, key, false, &list, err));
    return clv_plan_open_list(&list, size, arena, ret, err);
}

clv_status clv_plan_open_run(const clv_json_at *run, const char *first, clv_json_at ret[2],
                             clv_error *err)
{
    int32_t n = 0;

    CLV_TRY(clv_json_length(run, &n, err));
    if (n != 2)
        return clv_fail(err, CLV_EFORMAT, "%s: has %d elements, a run is [%s, count]",
                        CLV_PLAN_PATH(run), (int)n, first);
    ret[0] = clv_json_element(run, 0, NULL);
    ret[1] = clv_json_element(run, 1, &ret[0]);
    return CLV_OK;
}
