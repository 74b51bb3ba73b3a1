/* damaged.h - a model with each of its bytes changed: it is refused, or read and then looked at. */
#ifndef CLV_TESTS_DAMAGED_H
#define CLV_TESTS_DAMAGED_H

#include "proto/onnx_read.h"
#include "support/onnx_builder.h"

/* What is to do no harm to a model that can still be read. The arena goes afterwards. */
typedef void test_look(const clv_onnx_file *file, const clv_model *model, clv_arena *arena);

/* Fails the test that is running where fewer than one in six of all changes leave a model that can
 * be read: many are only in names and numbers. Takes m. O(bytes^2). */
void test_damage_each_byte(test_onnx *m, test_look *look);

#endif
