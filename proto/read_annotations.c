#include "proto/read_annotations.h"

#include "base/map.h"
#include "proto/annotation_state.h"
#include "proto/inner_entries.h"
#include "proto/mesh_metadata.h"
#include "proto/onnx.pb-c.h"
#include "proto/read_node_entry.h"

/* Two walks over the top of the file: configurations first, since entries name them and may come
 * before them. The second goes into graphs and functions, as annotating does
 * (rewrite_annotations.h), so that nodes are numbered alike.
 */
enum { M_IR_VERSION = 1, M_GRAPH = 7, M_METADATA = 14, M_FUNCTION = 25, M_CONFIGURATION = 26 };
enum { G_NODE = 1, A_GRAPH = 6, A_GRAPHS = 11 };
enum { F_NAME = 1, F_NODE = 7, F_DOMAIN = 10, F_OVERLOAD = 13 };
enum {
    N_INPUT = 1,
    N_OUTPUT = 2,
    N_TYPE = 4,
    N_ATTRIBUTE = 5,
    N_DOMAIN = 7,
    N_OVERLOAD = 8,
    N_DEVICES = 10
};
enum { C_NAME = 1, C_NUM_DEVICES = 2, C_DEVICE = 3 };

#define WHAT "the annotations of a model"

/* Where a node is. */
typedef enum { IN_MAIN, IN_BODY, IN_FUNCTION } place;

typedef struct {
    const clv_onnx_file *file;
    clv_arena *arena;
    clv_fault_list faults;
    clv_configuration *configurations;
    int32_t n_configurations, cap_configurations;
    clv_map names; /* of configurations */
    clv_annotated_node *nodes;
    int32_t n_nodes, cap_nodes;
    int32_t n_main;        /* nodes of the main graph seen so far */
    int32_t first_of_node; /* into nodes: the entries of the main graph's node that is walked */
    clv_outer_entries calls;
    clv_function_name function; /* that is walked */
    int32_t n_in_bodies, n_in_functions;
    const char *meshes_of, *copies, *mesh, *uneven;
    int64_t ir_version;
    int32_t depth;
} walk;

static clv_status wrong_type(const clv_message *m, const clv_field *f, clv_error *err)
{
    return clv_fail(err, CLV_EFORMAT,
                    "%s: field %u of %s at byte %zu has wire type %s, expected %s", m->wire.name,
                    (unsigned)f->number, m->type->short_name, (size_t)(f->start - m->wire.file),
                    clv_wire_type_name(f->type), clv_wire_type_name(CLV_WIRE_BYTES));
}

/* -- configurations -- */

static clv_status read_configuration(walk *w, clv_message m, clv_configuration *ret, clv_error *err)
{
    clv_field f;
    int32_t cap = 0;
    const char **device = NULL;
    *ret = (clv_configuration){ .name = NULL };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == C_NAME)
            CLV_TRY(clv_read_name(&m, &f, w->arena, &ret->name, err));
        if (f.number == C_NUM_DEVICES)
            ret->num_devices = (int64_t)f.value;
        if (f.number != C_DEVICE)
            continue;
        if (!CLV_PUSH_ROOM(w->arena, device, ret->n_device, cap))
            return clv_fail_nomem(err, WHAT);
        device[ret->n_device] = "";
        CLV_TRY(clv_read_name(&m, &f, w->arena, &device[ret->n_device++], err));
    }
    ret->device = device;
    if (!ret->name)
        return clv_fail(err, CLV_EFORMAT, "%s: %s at byte %zu has no name", m.wire.name,
                        m.type->short_name, clv_message_offset(&m));
    return CLV_OK;
}

/* What is wrong with it, but does not make it unreadable. */
static clv_status check_configuration(const walk *w, const clv_configuration *c, bool is_new,
                                      clv_error *err)
{
    if (!is_new)
        return clv_fail(err, CLV_EFORMAT, "%s has two configurations '%s', expected one",
                        w->file->name, c->name);
    if (c->num_devices < 1)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: configuration '%s' has num_devices %lld, expected at least 1",
                        w->file->name, c->name, (long long)c->num_devices);
    if (c->n_device && c->n_device != c->num_devices)
        return clv_fail(err, CLV_EFORMAT,
                        "%s: configuration '%s' names %d devices, expected %lld as it says",
                        w->file->name, c->name, c->n_device, (long long)c->num_devices);
    return CLV_OK;
}

static clv_status add_configuration(walk *w, const clv_message *m, const clv_field *f,
                                    clv_error *err)
{
    clv_configuration c;
    clv_error why;
    clv_message sub = clv_message_sub(m, f, &onnx__device_configuration_proto__descriptor);
    clv_status status =
        f->type == CLV_WIRE_BYTES ? read_configuration(w, sub, &c, &why) : wrong_type(m, f, &why);
    CLV_TRY(clv_fault_list_add(&w->faults, status, &why, err));
    if (status != CLV_OK)
        return CLV_OK;
    int32_t id, next = w->n_configurations;
    if (!CLV_PUSH_ROOM(w->arena, w->configurations, next, w->cap_configurations))
        return clv_fail_nomem(err, WHAT);
    CLV_TRY(clv_map_put(&w->names, clv_str_of(c.name), next, &id, err));
    w->configurations[w->n_configurations++] = c;
    return clv_fault_list_add(&w->faults, check_configuration(w, &c, id == next, &why), &why, err);
}

/* -- nodes -- */

static clv_status add_entry(walk *w, const clv_message *m, const clv_field *f, clv_error *err)
{
    clv_annotated_node node = { .file_index = w->n_main };
    clv_error why;
    clv_message sub = clv_message_sub(m, f, &onnx__node_device_configuration_proto__descriptor);
    w->faults.node = w->n_main;
    clv_status status = f->type == CLV_WIRE_BYTES
                            ? clv_read_node_entry(&sub, &w->faults, &node.note, &why)
                            : wrong_type(m, f, &why);
    CLV_TRY(clv_fault_list_add(&w->faults, status, &why, err));
    if (status != CLV_OK)
        return CLV_OK;
    if (clv_map_get(&w->names, clv_str_of(node.note.configuration)) < 0) {
        status =
            clv_fail(&why, CLV_EFORMAT, "%s has no configuration '%s', which an annotation names",
                     w->file->name, node.note.configuration);
        CLV_TRY(clv_fault_list_add(&w->faults, status, &why, err));
    }
    if (!CLV_PUSH_ROOM(w->arena, w->nodes, w->n_nodes, w->cap_nodes))
        return clv_fail_nomem(err, WHAT);
    w->nodes[w->n_nodes++] = node;
    return CLV_OK;
}

/* -- nodes of bodies and functions --
 *
 * Their types are those of the operator or call that they belong to, and they run where it does. So
 * what can be looked at is the entry by itself: names, devices, stage. */

/* Is the tensor an input or output of the node? */
static clv_status has_tensor(clv_message node, const char *tensor, bool *ret, clv_error *err)
{
    clv_field f;
    for (*ret = false; !*ret;) {
        CLV_TRY(clv_message_next(&node, &f, err));
        if (!f.number)
            return CLV_OK;
        if ((f.number == N_INPUT || f.number == N_OUTPUT) && f.type == CLV_WIRE_BYTES)
            *ret = clv_str_is((clv_str){ (const char *)f.bytes, (int32_t)f.n }, tensor);
    }
    return CLV_OK;
}

/* Against the entries of the node that has the body. */
static clv_status check_body(walk *w, const clv_node_annotation *note, clv_error *err)
{
    for (int32_t i = w->first_of_node; i < w->n_nodes; i++) {
        const clv_annotated_node *outer = &w->nodes[i];
        if (strcmp(outer->note.configuration, note->configuration) == 0)
            CLV_TRY(clv_inner_entry_check(note, &outer->note, outer->file_index, w->arena, err));
    }
    return CLV_OK;
}

static clv_status check_inner_note(walk *w, const clv_message *node, place at,
                                   const clv_node_annotation *note, clv_error *err)
{
    int32_t of = clv_map_get(&w->names, clv_str_of(note->configuration));
    if (of < 0)
        return clv_fail(err, CLV_EFORMAT, "there is no configuration '%.80s', which it names",
                        note->configuration);
    if (note->has_stage && note->stage < 0)
        return clv_fail(err, CLV_EFORMAT, "the pipeline_stage is %lld, expected at least 0",
                        (long long)note->stage);
    for (int32_t i = 0; i < note->n_specs; i++) {
        const clv_sharding_spec *spec = &note->specs[i];
        bool is_there;
        CLV_TRY(has_tensor(*node, CLV_SPEC_NAME(spec), &is_there, err));
        if (!is_there)
            return clv_fail(err, CLV_EFORMAT, "'%.80s' is neither an input nor an output of it",
                            CLV_SPEC_NAME(spec));
        for (int32_t k = 0; k < i; k++)
            if (strcmp(CLV_SPEC_NAME(&note->specs[k]), CLV_SPEC_NAME(spec)) == 0)
                return clv_fail(err, CLV_EFORMAT, "it has two specs for '%.80s', expected one",
                                CLV_SPEC_NAME(spec));
        CLV_TRY(clv_spec_check(spec, CLV_RANK_UNKNOWN, w->configurations[of].num_devices, w->arena,
                               err));
    }
    return at == IN_BODY ? check_body(w, note, err)
                         : clv_inner_entry_check_calls(&w->calls, &w->function, of, note, err);
}

static clv_status check_inner_entry(walk *w, const clv_message *node, const clv_field *f, place at,
                                    clv_error *err)
{
    clv_error why, named;
    clv_node_annotation note;
    clv_message sub = clv_message_sub(node, f, &onnx__node_device_configuration_proto__descriptor);
    w->faults.node = at == IN_BODY ? w->n_main : -1;
    clv_status status = f->type == CLV_WIRE_BYTES
                            ? clv_read_node_entry(&sub, &w->faults, &note, &why)
                            : wrong_type(node, f, &why);
    if (status == CLV_OK)
        status = check_inner_note(w, node, at, &note, &why);
    if (status == CLV_EFORMAT || status == CLV_ELIMIT)
        status = at == IN_BODY
                     ? clv_fail(&named, status, "in a body, the node at byte %zu: %s",
                                clv_message_offset(node), why.message)
                     : clv_fail(&named, status, "%s: in a function, the node at byte %zu: %s",
                                w->file->name, clv_message_offset(node), why.message);
    else
        named = why;
    return clv_fault_list_add(&w->faults, status, &named, err);
}

static clv_status walk_graph(walk *w, clv_message m, place at, clv_error *err);

/* Reading a model passes over a graph in an attribute of another type, so one that cannot be walked
 * is a fault here, and no failure. */
static clv_status walk_attribute(walk *w, clv_message m, place at, clv_error *err)
{
    clv_field f;
    for (;;) {
        clv_error why;
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number != A_GRAPH && f.number != A_GRAPHS)
            continue;
        clv_message body = clv_message_sub(&m, &f, &onnx__graph_proto__descriptor);
        clv_status status = walk_graph(w, body, at, &why);
        w->faults.node = at == IN_BODY ? w->n_main : -1;
        CLV_TRY(clv_fault_list_add(&w->faults, status, &why, err));
    }
}

/* -- walks -- */

/* The entries of a node of the main graph, and what it may be a call of. */
static clv_status read_main_node(walk *w, clv_message m, clv_error *err)
{
    clv_field f;
    clv_function_name callee = { .domain = { NULL, 0 } };
    w->first_of_node = w->n_nodes;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == N_DEVICES)
            CLV_TRY(add_entry(w, &m, &f, err));
        if (f.number == N_TYPE)
            CLV_TRY(clv_message_str(&m, &f, &callee.name, err));
        if (f.number == N_DOMAIN)
            CLV_TRY(clv_message_str(&m, &f, &callee.domain, err));
        if (f.number == N_OVERLOAD)
            CLV_TRY(clv_message_str(&m, &f, &callee.overload, err));
    }
    callee.domain = clv_onnx_domain(callee.domain);
    for (int32_t i = w->first_of_node; i < w->n_nodes; i++) {
        const clv_annotated_node *n = &w->nodes[i];
        int32_t of = clv_map_get(&w->names, clv_str_of(n->note.configuration));
        if (of >= 0)
            CLV_TRY(clv_outer_entries_add(&w->calls, &callee, of, &n->note, n->file_index, err));
    }
    return CLV_OK;
}

static clv_status walk_node(walk *w, clv_message m, place at, clv_error *err)
{
    clv_field f;
    const clv_message node = m;
    if (at == IN_MAIN) /* first, for what is in its bodies is held against its entries */
        CLV_TRY(read_main_node(w, m, err));
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == N_ATTRIBUTE)
            CLV_TRY(walk_attribute(w, clv_message_sub(&m, &f, &onnx__attribute_proto__descriptor),
                                   at == IN_MAIN ? IN_BODY : at, err));
        if (f.number != N_DEVICES || at == IN_MAIN)
            continue;
        w->n_in_bodies += at == IN_BODY;
        w->n_in_functions += at == IN_FUNCTION;
        CLV_TRY(check_inner_entry(w, &node, &f, at, err));
    }
    w->n_main += at == IN_MAIN;
    return CLV_OK;
}

static clv_status walk_nodes(walk *w, clv_message m, uint32_t field, place at, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return CLV_OK;
        if (f.number == field)
            CLV_TRY(walk_node(w, clv_message_sub(&m, &f, &onnx__node_proto__descriptor), at, err));
    }
}

static clv_status walk_graph(walk *w, clv_message m, place at, clv_error *err)
{
    CLV_TRY(clv_message_enter_graph(&m, &w->depth, err));
    clv_status status = walk_nodes(w, m, G_NODE, at, err);
    w->depth--;
    return status;
}

/* Annotations came with a version; a reader of an older one need not know what they are. */
static clv_status check_ir_version(walk *w, clv_error *err)
{
    clv_error why;
    int32_t n = w->n_configurations + w->n_nodes + w->n_in_bodies + w->n_in_functions;
    if (n == 0 || w->ir_version >= ONNX__VERSION__IR_VERSION_MULTI_DEVICE)
        return CLV_OK;
    w->faults.node = -1;
    return clv_fault_list_add(
        &w->faults,
        clv_fail(&why, CLV_EFORMAT,
                 "%s is of IR version %lld, which has no annotations: expected at least %d",
                 w->file->name, (long long)w->ir_version,
                 (int)ONNX__VERSION__IR_VERSION_MULTI_DEVICE),
        &why, err);
}

static clv_status copy_str(const walk *w, clv_str text, const char **ret, clv_error *err)
{
    *ret = clv_arena_str(w->arena, text);
    return *ret ? CLV_OK : clv_fail_nomem(err, WHAT);
}

static clv_status read_metadata(walk *w, const clv_message *model, const clv_field *f,
                                clv_error *err)
{
    clv_str key, value;
    clv_annotation_note note;
    bool is_note;
    if (clv_metadata_entry(model, f, &key, &value, NULL) != CLV_OK)
        return CLV_OK; /* who reads the model looks at none */
    if (clv_str_is(key, CLV_COPIES_KEY))
        return copy_str(w, value, &w->copies, err);
    if (clv_str_is(key, CLV_MESH_KEY))
        return copy_str(w, value, &w->mesh, err);
    if (clv_str_is(key, CLV_UNEVEN_KEY))
        return copy_str(w, value, &w->uneven, err);
    if (!clv_str_is(key, CLV_ANNOTATION_KEY))
        return CLV_OK;
    CLV_TRY(clv_annotation_note_parse(value, w->arena, &note, &is_note, err));
    return is_note ? copy_str(w, note.name, &w->meshes_of, err) : CLV_OK;
}

static clv_status walk_function(walk *w, clv_message m, clv_error *err)
{
    const clv_message function = m;
    clv_field f;
    w->function = (clv_function_name){ .domain = { NULL, 0 } };
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            break;
        if (f.number == F_NAME)
            CLV_TRY(clv_message_str(&m, &f, &w->function.name, err));
        if (f.number == F_DOMAIN)
            CLV_TRY(clv_message_str(&m, &f, &w->function.domain, err));
        if (f.number == F_OVERLOAD)
            CLV_TRY(clv_message_str(&m, &f, &w->function.overload, err));
    }
    w->function.domain = clv_onnx_domain(w->function.domain);
    return walk_nodes(w, function, F_NODE, IN_FUNCTION, err);
}

/* Once all calls are known. */
static clv_status walk_functions(walk *w, clv_message m, clv_error *err)
{
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return check_ir_version(w, err);
        if (f.number == M_FUNCTION)
            CLV_TRY(
                walk_function(w, clv_message_sub(&m, &f, &onnx__function_proto__descriptor), err));
    }
}

static clv_status walk_model(walk *w, clv_message m, clv_error *err)
{
    const clv_message whole = m;
    clv_field f;
    for (;;) {
        CLV_TRY(clv_message_next(&m, &f, err));
        if (!f.number)
            return walk_functions(w, whole, err);
        if (f.number == M_IR_VERSION)
            w->ir_version = (int64_t)f.value;
        if (f.number == M_GRAPH)
            CLV_TRY(walk_graph(w, clv_message_sub(&m, &f, &onnx__graph_proto__descriptor), IN_MAIN,
                               err));
        if (f.number == M_METADATA)
            CLV_TRY(read_metadata(w, &m, &f, err));
    }
}

clv_status clv_onnx_read_annotations(const clv_onnx_file *file, clv_arena *arena,
                                     clv_annotation_set *ret, clv_error *err)
{
    walk w = { .file = file, .arena = arena, .faults = { .arena = arena, .node = -1 } };
    clv_wire whole = clv_onnx_wire(file);
    clv_message m = clv_message_in(&whole, &onnx__model_proto__descriptor, file->bytes, file->n);
    CLV_TRY(clv_map_init(&w.names, arena, 0, err));
    CLV_TRY(clv_outer_entries_init(&w.calls, arena, err));
    for (clv_message top = m;;) {
        clv_field f;
        CLV_TRY(clv_message_next(&top, &f, err));
        if (!f.number)
            break;
        if (f.number == M_CONFIGURATION)
            CLV_TRY(add_configuration(&w, &top, &f, err));
    }
    CLV_TRY(walk_model(&w, m, err));
    CLV_TRY(clv_fault_list_end(&w.faults, err));
    *ret = (clv_annotation_set){ .configurations = w.configurations,
                                 .n_configurations = w.n_configurations,
                                 .nodes = w.nodes,
                                 .n_nodes = w.n_nodes,
                                 .n_in_bodies = w.n_in_bodies,
                                 .n_in_functions = w.n_in_functions,
                                 .meshes_of = w.meshes_of,
                                 .copies = w.copies,
                                 .mesh = w.mesh,
                                 .uneven = w.uneven,
                                 .faults = w.faults.at,
                                 .n_faults = w.faults.n };
    return CLV_OK;
}
