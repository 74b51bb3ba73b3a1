/* shapes_sequence.h - shape rules of sequences and optionals: the type of an element is what is
 * true of all of them.
 */
#ifndef CLV_GRAPH_SHAPES_SEQUENCE_H
#define CLV_GRAPH_SHAPES_SEQUENCE_H

#include "graph/rule.h"

clv_shape_rule clv_shape_sequence_empty;
clv_shape_rule clv_shape_sequence_construct;
clv_shape_rule clv_shape_sequence_insert;
clv_shape_rule clv_shape_sequence_erase;
clv_shape_rule clv_shape_sequence_at;
clv_shape_rule clv_shape_sequence_length;
clv_shape_rule clv_shape_split_to_sequence;
clv_shape_rule clv_shape_concat_from_sequence;
/* the body sees one element of each sequence, other inputs whole */
clv_shape_rule clv_shape_sequence_map;

clv_shape_rule clv_shape_optional;
clv_shape_rule clv_shape_optional_get_element; /* since 18 also of what it would hold */
clv_shape_rule clv_shape_optional_has_element;

#endif
