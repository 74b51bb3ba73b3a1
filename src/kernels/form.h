/* form.h - the operators of a model as the kernels of a runtime. */
#ifndef CLV_KERNELS_FORM_H
#define CLV_KERNELS_FORM_H

#include "kernels/kernels.h"

/* The kernels of the main graph; operators with bodies are kernels by themselves. Kernels never
 * wait for each other in a circle. Everything lives in the arena. O(operators + edges) for each
 * pattern.
 */
clv_status clv_kernels_form(const clv_types *types, const clv_runtime *runtime, clv_arena *arena,
                            clv_kernels **ret, clv_error *err);

#endif
