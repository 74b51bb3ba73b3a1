/* layer_names.h - layers, as names of nodes say them: "/model/layers.7" of
 * "/model/layers.7/mlp/MatMul".
 *
 * Exporters number the layers of a model in the names of its nodes. Which of the numbers in a name
 * is the layer's is not written there; it is taken to be the first one in whose place other names
 * have other numbers, and behind which the name goes on after a '/' or '.'.
 */
#ifndef CLV_EXPLAIN_LAYER_NAMES_H
#define CLV_EXPLAIN_LAYER_NAMES_H

#include "base/map.h"
#include "explain/text.h"

typedef struct {
    clv_arena *arena;
    clv_map prefixes; /* before a number, to their place in several */
    clv_map numbered; /* prefixes with their number */
    bool *several;    /* different numbers follow it */
    int32_t n, n_numbered, cap;
} clv_layer_names;

clv_status clv_layer_names_init(clv_layer_names *names, clv_arena *arena, clv_error *err);
/* Takes in a name, which has to live as long as these. O(name * numbers in it). */
clv_status clv_layer_names_add(clv_layer_names *names, clv_str name, clv_error *err);

typedef struct {
    const char *name;    /* "/model/layers.7" */
    const char *pattern; /* "/model/layers.*" */
    int32_t rest;        /* where the name goes on behind it */
} clv_layer_name;

/* Of a name when all are taken in. A name of no layer is of what is before its last '/': of
 * "/model/Add" name and pattern are "/model/" with a "*" behind; without a '/', it is itself, with
 * "*" for each number. In the arena. O(name * numbers in it). */
clv_status clv_layer_of(const clv_layer_names *names, clv_str name, clv_arena *arena,
                        clv_layer_name *ret, clv_error *err);

/* Adds what a name has from the character number begin on to a text, with "*" for each number. */
void clv_layer_add_rest(clv_text *text, clv_str name, int32_t begin);

#endif
