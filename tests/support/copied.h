/* copied.h - a whole model as a new one (onnx_write.h): every node copied, every tensor renamed. */
#ifndef CLV_TESTS_COPIED_H
#define CLV_TESTS_COPIED_H

#include "proto/onnx_write.h"

/* All of a model under names with a suffix, which may be empty: nodes in the order of the file, its
 * inputs, outputs, initialisers and declared types. NULL: no memory. The strings are the arena's.
 */
clv_new_model *test_copied(const clv_onnx_file *file, const clv_model *model, const char *suffix,
                           clv_arena *arena);

#endif
