/* reduce.h - elements of several tensors made one: sum, product, least, largest, mean. */
#ifndef CLV_RUN_REDUCE_H
#define CLV_RUN_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { CLR_SUM, CLR_PROD, CLR_MIN, CLR_MAX, CLR_AVG } clr_reduce_op;

/* By its name: "sum", "prod", "min", "max", "avg"; false: none of them. */
bool clr_reduce_op_parse(const char *name, clr_reduce_op *ret);
bool clr_reduce_supports(int dtype);

typedef struct {
    clr_reduce_op op;
    int dtype; /* of TensorProto.DataType */
    const void *const *ins;
    void *const *outs; /* each gets the result */
    int32_t n_ins, n_outs;
    int64_t first, n; /* elements [first, first + n) of the inputs */
    int64_t shift;    /* an element's place in outs is its place in ins less this */
} clr_reduction;

/* The inputs are taken in their order. Sums are kept in the elements' type, of 16-bit floats in
 * float32 and rounded once. The dtype is one that is supported. O(n * n_ins). */
void clr_reduce_run(const clr_reduction *r);

#endif
