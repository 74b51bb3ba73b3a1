#include "plan/plan_json_get.h"

#include "base/units.h"
#include "plan/plan_json.h"

clv_status clv_plan_get_string(clv_plan_reader *r, const clv_json_at *object, const char *key,
                               bool required, const char **ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, required, &at, r->err));
    return at.json ? clv_json_copy_string(&at, r->arena, ret, r->err) : CLV_OK;
}

clv_status clv_plan_get_int(clv_plan_reader *r, const clv_json_at *object, const char *key,
                            bool required, int64_t min, int64_t max, int64_t *ret)
{
    clv_json_at at;

    CLV_TRY(clv_json_member(object, key, required, &at, r->err));
    if (!at.json)
        return CLV_OK;
    if (max > CLV_PLAN_JSON_INT_MAX && clv_json_is_string(&at)) {
        const char *text = NULL;
        CLV_TRY(clv_json_string(&at, &text, r->err));
        clv_status status =
            clv_parse_int(text, SHOW(&at), CLV_PLAN_JSON_INT_MAX + 1, max, ret, r->err);
        if (status != CLV_OK && r->err) /* a wrong request on a command line, a wrong file here */
            r->err->status = CLV_EFORMAT;
        return status == CLV_OK ? CLV_OK : CLV_EFORMAT;
    }
    if (max > CLV_PLAN_JSON_INT_MAX)
        max = CLV_PLAN_JSON_INT_MAX;
    return clv_json_int(&at, min, max, ret, r->err);
}

clv_status clv_plan_get_int32(clv_plan_reader *r, const clv_json_at *object, const char *key,
                              bool required, int64_t min, int64_t max, int32_t *ret)
{
    int64_t value = *ret;

    CLV_TRY(clv_plan_get_int(r, object, key, required, min, max, &value));
    *ret = (int32_t)value;
    return CLV_OK;
}

clv_status clv_plan_get_count(clv_plan_reader *r, const clv_json_at *object, const char *key,
                              int64_t *ret)
{
    return clv_plan_get_int(r, object, key, false, 0, INT64_MAX, ret);
}

clv_status clv_plan_get_fact(clv_plan_reader *r, const clv_json_at *object, const char *key,
                             int64_t *ret)
{
    *ret = CLV_PLAN_UNKNOWN;
    return clv_plan_get_count(r, object, key, ret);
}

clv_status clv_plan_get_word(clv_plan_reader *r, const clv_json_at *object, const char *key,
                             const char *const *words, int32_t n, int32_t *ret)
{
    clv_json_at at;
    const char *text = NULL;

    CLV_TRY(clv_json_member(object, key, true, &at, r->err));
    CLV_TRY(clv_json_string(&at, &text, r->err));
    for (int32_t i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0) {
            *ret = i;
            return CLV_OK;
        }
    return clv_fail(r->err, CLV_EFORMAT, "%s: '%.40s' is not one of '%s', '%s'%s%s%s%s%s%s",
                    SHOW(&at), text, words[0], words[1], n > 2 ? ", '" : "", n > 2 ? words[2] : "",
                    n > 2 ? "'" : "", n > 3 ? ", '" : "", n > 3 ? words[3] : "", n > 3 ? "'" : "");
}
