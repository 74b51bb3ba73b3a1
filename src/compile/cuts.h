/* cuts.h - which tensors can leave their unit, and where an operator may have to wait for one. */
#ifndef CLV_COMPILE_CUTS_H
#define CLV_COMPILE_CUTS_H

#include "compile/program.h"

/* Fills the nets, segments and edges of a program whose reads are known. O(ops + edges). */
clv_status clv_cuts_build(clv_program *p, clv_arena *arena, clv_arena *scratch, clv_error *err);

#endif
