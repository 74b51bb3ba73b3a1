/* fingerprint.h - a hash by which a model is known again, annotated or not. */
#ifndef CLV_PROTO_FINGERPRINT_H
#define CLV_PROTO_FINGERPRINT_H

#include "graph/graph.h"

/* Names, operators and initialiser shapes hashed (64-bit FNV-1a): equal for a model and its
 * annotated form. O(operators + names). */
uint64_t clv_onnx_fingerprint(const clv_model *model);

#endif
