#include "proto/reading.h"

clv_status clv_count_fields(clv_reading *r, clv_message m, clv_field_counts *ret, clv_error *err)
{
    clv_field f;
    *ret = (clv_field_counts){ { 0 } };
    for (;;) {
        CLV_TRY(clv_wire_next(&m.wire, &f, err)); /* filling checks what is read */
        if (!f.number)
            return CLV_OK;
        if (f.number < 32 && ret->of[f.number]++ == INT32_MAX / 4)
            return clv_fail(err, CLV_ELIMIT, "%s: %s at byte %zu has over %d fields of one kind",
                            r->file->name, m.type->short_name, clv_message_offset(&m),
                            INT32_MAX / 4);
    }
}
