#include "api/status.h"

#include <stdio.h>
#include <string.h>

static cleave_status public_status(clv_status status)
{
    switch (status) {
    case CLV_OK:
        return CLEAVE_OK;
    case CLV_EUSAGE:
        return CLEAVE_EUSAGE;
    case CLV_EFORMAT:
        return CLEAVE_EINPUT;
    case CLV_ELIMIT:
        return CLEAVE_ELIMIT;
    case CLV_EUNSUPP:
        return CLEAVE_EUNSUPPORTED;
    case CLV_EIO:
        return CLEAVE_EIO;
    case CLV_ENOMEM:
        return CLEAVE_ENOMEM;
    case CLV_ECANCELED:
        return CLEAVE_ECANCELED;
    case CLV_ESOLVER:
    case CLV_EINTERNAL:
        break;
    }
    return CLEAVE_EINTERNAL;
}

cleave_status clv_return(clv_status status, const clv_error *err, cleave_error *ret)
{
    cleave_status code = public_status(status);
    if (ret) {
        ret->status = code;
        memset(ret->message, 0, sizeof ret->message);
        if (code != CLEAVE_OK)
            memcpy(ret->message, err->message, sizeof ret->message - 1);
    }
    return code;
}

cleave_status clv_refuse(cleave_error *ret, const char *sentence)
{
    clv_error err;
    return clv_return(clv_fail(&err, CLV_EUSAGE, "%s", sentence), &err, ret);
}

cleave_status clv_return_no_solution(cleave_error *ret, const char *why)
{
    if (ret) {
        ret->status = CLEAVE_NO_PLAN;
        snprintf(ret->message, sizeof ret->message, "%s",
                 why[0] ? why : "no legal solution was found in time");
    }
    return CLEAVE_NO_PLAN;
}
