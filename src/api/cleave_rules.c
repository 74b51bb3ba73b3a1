/* cleave_rules.c - the public API: what is known of operators under sharding. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "explain/report_op_rules.h"

static clv_status make_text(const char *name, bool as_json, clv_arena *arena, char **ret,
                            clv_error *err)
{
    const char *text = NULL;
    CLV_TRY(clv_report_op_rules(name, as_json, arena, &text, err));
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (!copy)
        return clv_fail_nomem(err, "the rules");
    *ret = memcpy(copy, text, n);
    return CLV_OK;
}

cleave_status cleave_rules(const char *operator_name, int as_json, char **ret_text,
                           cleave_error *error)
{
    clv_error err;
    if (!ret_text)
        return clv_api_refuse(error, CLV_EUSAGE, "cleave_rules needs a place for the text");
    clv_arena *arena = clv_arena_new(NULL, 0);
    clv_status status = arena ? make_text(operator_name, as_json != 0, arena, ret_text, &err)
                              : clv_fail_nomem(&err, "the rules");
    clv_arena_free(arena);
    return clv_api_give(status, &err, error);
}
