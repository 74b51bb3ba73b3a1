/* reduce.h - elements of several tensors made one: sum, product, least, largest, mean. */
#ifndef CLV_RUN_REDUCE_H
#define CLV_RUN_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { CLR_SUM, CLR_PROD, CLR_MIN, CLR_MAX, CLR_AVG } clr_reduce_op;

/* By its name: "sum", "prod", "min", "max", "avg"; false: none of them. */
bool clr_reduce_op_parse(const char *name, clr_reduce_op *ret);
bool clr_reduce_supports(int dtype);

/* Elements [first, first + n) of the inputs, in their order, into outs at the same place, or, with
 * to_start, at the start. Sums are kept in the elements' type, of 16-bit floats in float32 and
 * rounded once. */
void clr_reduce_run(clr_reduce_op how, int dtype, const void *const *ins, int32_t n_ins,
                    void *const *outs, int32_t n_outs, int64_t first, int64_t n, bool to_start);

#endif
