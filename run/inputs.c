#include "run/inputs.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/units.h"
#include "run/random.h"
#include "run/value_file.h"

typedef struct {
    const clr_ort *ort;
    const clr_program *p;
    const clr_session *sessions;
    const clr_input_options *options;
    clv_arena *arena;
    OrtValue **values;
    const char **paths;     /* where the value of each comes from, NULL: not from a file */
    const clr_port **ports; /* a model's input that takes it as a whole; NULL: none does */
    clv_map ids;
} input_set;

/* -- what a value has to be like -- */

static void find_ports(input_set *m)
{
    for (int32_t i = 0; i < m->p->n_models; i++)
        for (int32_t k = 0; k < m->p->models[i].n_sources; k++) {
            const clr_input_source *source = &m->p->models[i].sources[k];
            int32_t id = source->from == CLR_FROM_PROGRAM
                             ? clv_map_get(&m->ids, clv_str_of(source->tensor))
                             : -1;
            if (id < 0 || (m->ports[id] && !source->slice.whole))
                continue;
            int32_t port = clr_find_port(&m->sessions[i].inputs, source->name);
            if (port >= 0)
                m->ports[id] = &m->sessions[i].inputs.at[port];
        }
}

static const char *setting(const clr_settings *settings, const char *name)
{
    for (int32_t i = 0; i < settings->n; i++)
        if (strcmp(settings->at[i].name, name) == 0)
            return settings->at[i].text;
    return NULL;
}

static clv_status read_shape(const char *name, const char *text, clr_shape *ret, clv_error *err)
{
    const char *at = text;

    ret->rank = 0;
    while (*at) {
        char *end = NULL;
        long long dim = strtoll(at, &end, 10);
        if (end == at || dim < 0 || (*end == 'x' ? end[1] == '\0' : *end != '\0') ||
            ret->rank == CLR_MAX_RANK)
            return clv_fail(err, CLV_EUSAGE, "--shape: '%s' of '%s' is not like 2x3x4", text, name);
        ret->dims[ret->rank++] = dim;
        at = *end ? end + 1 : end;
    }
    return CLV_OK;
}

/* Of a model's input: symbols by --bind. */
static clv_status bind_shape(const input_set *m, const char *name, const clr_port *port,
                             clr_shape *ret, clv_error *err)
{
    *ret = port->shape;
    for (int32_t d = 0; d < ret->rank; d++) {
        const char *symbol = port->symbols[d], *text;
        if (ret->dims[d] >= 0)
            continue;
        if (*symbol == '\0')
            return clv_fail(err, CLV_EFORMAT,
                            "dimension %d of input '%s' has no size; give all as --shape %s=2x3",
                            (int)d, name, name);
        text = setting(&m->options->binds, symbol);
        if (!text)
            return clv_fail(err, CLV_EFORMAT,
                            "dimension %d of input '%s' is '%s', which has no size; give one as "
                            "--bind %s=8",
                            (int)d, name, symbol, symbol);
        if (clv_parse_int(text, symbol, 0, INT64_MAX, &ret->dims[d], err) != CLV_OK)
            return CLV_EUSAGE;
    }
    return CLV_OK;
}

static clv_status wanted_shape(const input_set *m, int32_t id, clr_shape *ret, clv_error *err)
{
    const clr_program_tensor *input = &m->p->inputs[id];
    const clr_port *port = m->ports[id];
    const char *text = setting(&m->options->shapes, input->name);

    *ret = input->shape;
    if (!input->has_dims && port && !text)
        CLV_TRY(bind_shape(m, input->name, port, ret, err));
    if (ret->dtype == 0 && port)
        ret->dtype = port->shape.dtype;
    if (text)
        CLV_TRY(read_shape(input->name, text, ret, err));
    if (ret->dtype == 0)
        return clv_fail(err, CLV_EFORMAT, "input '%s' is of no known type", input->name);
    if (!clr_shape_count(ret))
        return clv_fail(err, CLV_ELIMIT, "input '%s' is too large", input->name);
    return CLV_OK;
}

/* A file's value has the model's type and, where they are numbers, its dimensions. */
static clv_status check_value(const input_set *m, int32_t id, const char *path, clv_error *err)
{
    const clr_program_tensor *input = &m->p->inputs[id];
    const clr_port *port = m->ports[id];
    clr_shape is, want = input->shape;
    char a[200], b[200];
    bool same;

    if (port && port->kind != ONNX_TYPE_TENSOR)
        return CLV_OK; /* the runtime checks it */
    CLV_TRY(clr_tensor_shape(m->ort, m->values[id], &is, err));
    if (!input->has_dims && port)
        want = port->shape;
    if (want.dtype == 0 && port)
        want.dtype = port->shape.dtype;
    same = is.dtype == want.dtype && is.rank == want.rank;
    if (!input->has_dims && (!port || (want.rank == 0 && is.dtype == want.dtype)))
        same = true; /* a model may say nothing of a rank; then the runtime says rank 0 */
    for (int32_t d = 0; same && d < want.rank; d++)
        same = want.dims[d] < 0 || want.dims[d] == is.dims[d];
    if (!same)
        return clv_fail(err, CLV_EFORMAT, "%s is %s, but input '%s' is %s", path,
                        clr_shape_text(a, sizeof a, &is), input->name,
                        clr_shape_text(b, sizeof b, &want));
    return CLV_OK;
}

/* -- files -- */

static clv_status read_value(input_set *m, int32_t id, const char *path, clv_error *err)
{
    const clr_port *port = m->ports[id];

    if (m->paths[id])
        return clv_fail(err, CLV_EUSAGE, "%s and %s are both for input '%s'", m->paths[id], path,
                        m->p->inputs[id].name);
    CLV_TRY(clr_value_read(m->ort, path, port ? port->kind : ONNX_TYPE_TENSOR, m->arena,
                           &m->values[id], err));
    m->paths[id] = path;
    if (port)
        CLV_TRY(clr_value_reinterpret(m->ort, &m->values[id], port->shape.dtype, err));
    return check_value(m, id, path, err);
}

/* The input that a file is for: by the name in it, by its own name, or by the number in input_3.pb;
 * -1: none. */
static clv_status find_input(const input_set *m, const char *path, int32_t *ret, clv_error *err)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *inside = "";
    const char *dot = strrchr(base, '.');
    int number = -1, end = 0;

    if (clr_file_kind_of(path) == CLR_FILE_PB)
        CLV_TRY(clr_value_name(path, m->arena, &inside, err));
    *ret = *inside ? clv_map_get(&m->ids, clv_str_of(inside)) : -1;
    if (*ret < 0 && dot)
        *ret = clv_map_get(&m->ids, (clv_str){ base, (int32_t)(dot - base) });
    if (*ret < 0 && sscanf(base, "input_%d%n", &number, &end) == 1 && base + end == dot &&
        number >= 0 && number < m->p->n_inputs)
        *ret = number;
    return CLV_OK;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_value(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return (n > 3 && strcmp(entry->d_name + n - 3, ".pb") == 0) ||
           (n > 4 && strcmp(entry->d_name + n - 4, ".npy") == 0);
}

/* Outputs lie beside inputs in ONNX's test data; what an earlier run gave may be an input too. */
static clv_status read_folder(input_set *m, const char *folder, clv_error *err)
{
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_value, by_name);
    clv_status status = CLV_OK;

    if (n < 0)
        return clv_fail(err, CLV_EIO, "cannot read %s", folder);
    for (int i = 0; i < n; i++) {
        const char *path = clv_arena_printf(m->arena, "%s/%s", folder, entries[i]->d_name);
        int32_t id = -1;
        if (status == CLV_OK)
            status = path ? find_input(m, path, &id, err) : clv_fail_nomem(err, "inputs");
        if (status == CLV_OK && id >= 0)
            status = read_value(m, id, path, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static clv_status read_path(input_set *m, const char *text, clv_error *err)
{
    struct stat st;
    const char *equals = strchr(text, '=');
    int32_t id = -1;

    if (stat(text, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return read_folder(m, text, err);
        CLV_TRY(find_input(m, text, &id, err));
        return id >= 0
                   ? read_value(m, id, text, err)
                   : clv_fail(err, CLV_EUSAGE,
                              "%s is for no input of the model; say which as NAME=%s", text, text);
    }
    /* the last = at which a name of an input ends: both may have some */
    for (; equals; equals = strchr(equals + 1, '=')) {
        id = clv_map_get(&m->ids, (clv_str){ text, (int32_t)(equals - text) });
        if (id >= 0)
            return read_value(m, id, equals + 1, err);
    }
    return clv_fail(err, CLV_EIO, "cannot read %s: there is no such file", text);
}

/* -- the rest -- */

static clv_status make_random(input_set *m, int32_t id, clv_error *err)
{
    const clr_program_tensor *input = &m->p->inputs[id];
    const char *text = setting(&m->options->ranges, input->name);
    clr_random_options o = { m->options->seed, input->name, 1, 0 };
    char rest = 0;
    clr_shape shape;

    if (m->ports[id] && m->ports[id]->kind != ONNX_TYPE_TENSOR)
        return clv_fail(err, CLV_EUNSUPP,
                        "input '%s' is no tensor: there are no random values for it", input->name);
    if (text && (sscanf(text, "%lf:%lf%c", &o.lo, &o.hi, &rest) != 2 || !(o.lo <= o.hi)))
        return clv_fail(err, CLV_EUSAGE, "--range: '%s' of '%s' is not LO:HI", text, input->name);
    CLV_TRY(wanted_shape(m, id, &shape, err));
    CLV_TRY(clr_tensor_new(m->ort, &shape, &m->values[id], err));
    return clr_random_fill(m->ort, m->values[id], &o, err);
}

static clv_status check_names(const input_set *m, const char *option, const clr_settings *settings,
                              clv_error *err)
{
    for (int32_t i = 0; i < settings->n; i++)
        if (clv_map_get(&m->ids, clv_str_of(settings->at[i].name)) < 0)
            return clv_fail(err, CLV_EUSAGE, "%s: the model has no input '%s'", option,
                            settings->at[i].name);
    return CLV_OK;
}

static bool has_symbol(const clr_ports *ports, const char *name)
{
    for (int32_t i = 0; i < ports->n; i++)
        for (int32_t d = 0; d < ports->at[i].shape.rank; d++)
            if (strcmp(ports->at[i].symbols[d], name) == 0)
                return true;
    return false;
}

/* Of an output too: it follows from the inputs, but other tools may want to know its size. */
static clv_status check_symbols(const input_set *m, clv_error *err)
{
    for (int32_t i = 0; i < m->options->binds.n; i++) {
        const char *name = m->options->binds.at[i].name;
        bool found = false;
        for (int32_t k = 0; k < m->p->n_models && !found; k++)
            found = has_symbol(&m->sessions[k].inputs, name) ||
                    has_symbol(&m->sessions[k].outputs, name);
        if (!found)
            return clv_fail(err, CLV_EUSAGE,
                            "--bind: no input or output has a dimension called '%s'", name);
    }
    return CLV_OK;
}

static clv_status make_missing(input_set *m, clv_error *err)
{
    for (int32_t i = 0; i < m->p->n_inputs; i++) {
        if (m->values[i])
            continue;
        if (!m->options->random)
            return clv_fail(err, CLV_EFORMAT,
                            "input '%s' has no value; give a file with --inputs, or --random",
                            m->p->inputs[i].name);
        CLV_TRY(make_random(m, i, err));
    }
    return CLV_OK;
}

static clv_status read_files(input_set *m, clv_error *err)
{
    CLV_TRY(check_names(m, "--range", &m->options->ranges, err));
    CLV_TRY(check_names(m, "--shape", &m->options->shapes, err));
    CLV_TRY(check_symbols(m, err));
    for (int32_t i = 0; i < m->options->n_paths; i++)
        CLV_TRY(read_path(m, m->options->paths[i], err));
    return CLV_OK;
}

/* ret: without values yet. */
static clv_status begin(const clr_execution *x, const clr_input_options *options, clv_arena *arena,
                        clr_inputs *ret, input_set *m, clv_error *err)
{
    int32_t n = x->program->n_inputs, unused = 0;

    *ret = (clr_inputs){ .values = CLV_NEW_ARRAY(arena, OrtValue *, n),
                         .paths = CLV_NEW_ARRAY(arena, const char *, n) };
    *m = (input_set){ .ort = x->ort,
                      .p = x->program,
                      .sessions = x->sessions,
                      .options = options,
                      .arena = arena,
                      .values = ret->values,
                      .paths = ret->paths,
                      .ports = CLV_NEW_ARRAY(arena, const clr_port *, n) };
    if (!m->values || !m->paths || !m->ports)
        return clv_fail_nomem(err, "inputs");
    ret->n = n;
    CLV_TRY(clv_map_init(&m->ids, arena, n, err));
    for (int32_t i = 0; i < n; i++)
        CLV_TRY(clv_map_put(&m->ids, clv_str_of(x->program->inputs[i].name), i, &unused, err));
    find_ports(m);
    return CLV_OK;
}

clv_status clr_inputs_make(const clr_execution *x, const clr_input_options *options,
                           clv_arena *arena, clr_inputs *ret, clv_error *err)
{
    input_set m;

    CLV_TRY(begin(x, options, arena, ret, &m, err));
    CLV_TRY(read_files(&m, err));
    return make_missing(&m, err);
}

clv_status clr_inputs_make_again(const clr_execution *x, const clr_input_options *options,
                                 const clr_inputs *first, clv_arena *arena, clr_inputs *ret,
                                 clv_error *err)
{
    input_set m;

    CLV_TRY(begin(x, options, arena, ret, &m, err));
    ret->shares = true;
    for (int32_t i = 0; i < ret->n; i++)
        if ((m.paths[i] = first->paths[i]))
            m.values[i] = first->values[i];
    return make_missing(&m, err);
}

void clr_inputs_free(const clr_ort *ort, clr_inputs *inputs)
{
    for (int32_t i = 0; i < inputs->n; i++)
        if (!inputs->shares || !inputs->paths[i])
            clr_value_free(ort, inputs->values[i]);
    *inputs = (clr_inputs){ 0 };
}
