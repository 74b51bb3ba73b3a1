/* line_model.h - a small model written as lines, for tests:
 *
 *     "in x 8 64"             an input of the model: dimensions, numbers or symbols; "int" after
 * them for int64, float else; nothing behind its name: no type "w up 64 256"           a weight
 *     "out y"                 an output of the model
 *     "MatMul x up y"         an operator that reads all but the last and writes the last, which it
 *                             is named after; "-" for an input that is left out
 *     "a/Relu=Relu x y"       the same, named a/Relu; "=Relu x y" has no name
 *     "com.microsoft.MoE ..." an operator of another domain
 *
 * The operators are in the order of the lines, and so they are in the file. Opset 17.
 */
#ifndef CLV_TESTS_SUPPORT_LINE_MODEL_H
#define CLV_TESTS_SUPPORT_LINE_MODEL_H

#include "base/arena.h"
#include "graph/graph.h"

enum { LINE_MODEL_ITEMS = 24 }; /* of one kind, and words of a line: at most so many */

/* lines: NULL behind the last. Lives in the arena; aborts with a sentence where it is no model. */
clv_model *line_model(clv_arena *arena, const char *const *lines);

#endif
