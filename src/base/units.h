/* units.h - sizes, rates and times as people write them, and as numbers.
 *
 * Inside, a size is integer bytes, a time integer nanoseconds, a rate a double of bytes per second
 * or operations per second. Decimal prefixes are powers of 1000, binary ones (Ki, Mi, Gi, Ti) of
 * 1024. A number without its unit is refused.
 */
#ifndef CLV_BASE_UNITS_H
#define CLV_BASE_UNITS_H

#include "base/arena.h"

/* "80GiB" "900MB" "512KiB" "4096B" -> bytes, the nearest; a part of a B is refused. what names the
 * thing in the message. */
clv_status clv_parse_bytes(const char *text, const char *what, int64_t *ret_bytes, clv_error *err);
/* "10%" -> a part of 0.1, "8GiB" -> bytes, "0" -> neither. A part is below 100 %. */
typedef struct {
    double part; /* [0, 1) */
    int64_t bytes;
} clv_portion;
clv_status clv_parse_portion(const char *text, const char *what, clv_portion *ret, clv_error *err);
/* "3.35TB/s" -> bytes per second, above 0. */
clv_status clv_parse_bandwidth(const char *text, const char *what, double *ret, clv_error *err);
/* "989TFLOP/s" "1.979PFLOP/s" "312TOP/s" -> operations per second, above 0. */
clv_status clv_parse_rate(const char *text, const char *what, double *ret, clv_error *err);
/* "2us" "350ns" "1.5ms" "2s" -> nanoseconds, not negative. */
clv_status clv_parse_time(const char *text, const char *what, int64_t *ret_ns, clv_error *err);
/* A whole decimal number in [min, max]; no sign +, no spaces, nothing behind it. */
clv_status clv_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *ret,
                         clv_error *err);

/* What a whole number is to be: "a whole number from 0 to 7", "the whole number 1". buf >= 80
 * bytes. Returns buf. */
const char *clv_show_range(char buf[static 80], int64_t min, int64_t max);
/* For people, four significant digits of what is counted, three of what is predicted: "1.210 GiB",
 * "123.4 GFLOP", "2.71 ms". buf >= 32 bytes.
 * Return buf. */
const char *clv_show_bytes(char buf[static 32], int64_t bytes);
const char *clv_show_memory(char buf[static 32], int64_t bytes); /* predicted */
const char *clv_show_flops(char buf[static 32], double flops);
const char *clv_show_time(char buf[static 32], int64_t ns);
/* Without a unit: "37.7" "1234" "0.0125", as many digits as the times beside it. */
const char *clv_show_number(char buf[static 32], double v);
/* A part as "21 %" "4.1 %" "0.02 %": two digits, as it is of times that have no more. */
const char *clv_show_percent(char buf[static 32], double part);

#endif
