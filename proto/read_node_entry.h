/* read_node_entry.h - one device_configurations entry as data, and the list of what was wrong. */
#ifndef CLV_PROTO_READ_NODE_ENTRY_H
#define CLV_PROTO_READ_NODE_ENTRY_H

#include "notation/sharding_spec.h"
#include "proto/message.h"

/* So many are listed; a file of nothing but faults should not fill memory with sentences. */
#define CLV_FAULTS_MAX 100

typedef struct {
    clv_arena *arena;
    const char **at;
    int32_t n, cap;
    int64_t more; /* not listed */
    int32_t node; /* what faults are about: a node of the main graph; below 0: no node */
} clv_fault_list;

/* Lists what `why` says unless status is CLV_OK; a lack of memory is passed up instead. */
clv_status clv_fault_list_add(clv_fault_list *list, clv_status status, const clv_error *why,
                              clv_error *err);

/* One more sentence about those that are not listed. */
clv_status clv_fault_list_end(clv_fault_list *list, clv_error *err);

/* A text without zero bytes, copied. *ret stays as it is when the text is empty. */
clv_status clv_read_name(const clv_message *m, const clv_field *f, clv_arena *arena,
                         const char **ret, clv_error *err);

/* A NodeDeviceConfigurationProto, copied. A faulty spec is listed and left out. CLV_EFORMAT: the
 * entry itself is of no use, as it has no configuration_id. O(bytes). */
clv_status clv_read_node_entry(const clv_message *entry, clv_fault_list *list,
                               clv_node_annotation *ret, clv_error *err);

#endif
