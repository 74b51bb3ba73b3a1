#include "sharding/mesh.h"

#include <stdio.h>

#include "base/units.h"

/* Room for "2147483647x2147483647x2147483647". */
#define FORM_SIZE 40

static const char *show_form(char buf[static FORM_SIZE], const clv_mesh_form *form)
{
    int n = 0;
    buf[0] = 0;
    for (int32_t a = 0; a < form->n_axes && a < CLV_MESH_AXES_MAX; a++)
        n += snprintf(buf + n, (size_t)(FORM_SIZE - n), "%s%d", a ? "x" : "", (int)form->size[a]);
    return buf;
}

const char *clv_mesh_default_name(int32_t n_axes, int32_t axis)
{
    static const char *const names[CLV_MESH_AXES_MAX][CLV_MESH_AXES_MAX] = { { "tp", NULL, NULL },
                                                                             { "dp", "tp", NULL },
                                                                             { "dp", "sp", "tp" } };
    return names[n_axes - 1][axis];
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool clv_mesh_is_name(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++) {
        char c = name[n];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                      (unsigned char)c >= 0x80;
        if (!letter && !is_digit(c) && (n == 0 || c != '-'))
            return false;
        if (n > 0 && c == 'x' && is_digit(name[n - 1]))
            return false;
    }
    return n >= 1 && n <= CLV_MESH_NAME_MAX;
}

/* -- text -- */

/* One axis, "8" or "tp=8". */
static clv_status parse_axis(const char *text, size_t n, clv_arena *arena, clv_mesh_form *form,
                             clv_error *err)
{
    char *part = clv_arena_printf(arena, "%.*s", (int)n, text);
    if (!part)
        return clv_fail_nomem(err, "a mesh");
    char *size = part, *equals = strchr(part, '=');
    if (equals) {
        *equals = 0;
        size = equals + 1;
        form->name[form->n_axes] = part;
    }
    int64_t value = 0;
    CLV_TRY(clv_parse_int(size, "an axis of the mesh", 1, CLV_DEVICES_MAX, &value, err));
    form->size[form->n_axes++] = (int32_t)value;
    return CLV_OK;
}

clv_status clv_mesh_form_parse(const char *text, clv_arena *arena, clv_mesh_form *ret,
                               clv_error *err)
{
    clv_mesh_form form = { .size = { 1, 1, 1 } };

    for (const char *at = text, *end; at; at = end ? end + 1 : NULL) {
        end = strchr(at, 'x'); /* behind the axis' digits, for a name may have an x in it */
        while (end && (end == at || !is_digit(end[-1])))
            end = strchr(end + 1, 'x');
        if (form.n_axes == CLV_MESH_AXES_MAX)
            return clv_fail(err, CLV_EUSAGE, "mesh '%.60s' has more than %d axes", text,
                            CLV_MESH_AXES_MAX);
        CLV_TRY(parse_axis(at, end ? (size_t)(end - at) : strlen(at), arena, &form, err));
    }
    *ret = form;
    return CLV_OK;
}

/* -- making one -- */

static clv_status check_names(const clv_mesh_form *form, clv_error *err)
{
    int32_t named = 0;
    for (int32_t a = 0; a < form->n_axes; a++)
        named += form->name[a] != NULL;
    if (named != 0 && named != form->n_axes)
        return clv_fail(err, CLV_EUSAGE, "a mesh of %d axes has %d names, expected one for each",
                        (int)form->n_axes, (int)named);
    for (int32_t a = 0; a < named; a++) {
        if (!clv_mesh_is_name(form->name[a]))
            return clv_fail(
                err, CLV_EUSAGE,
                "axis %d of the mesh has the name '%.60s', expected " CLV_MESH_NAME_RULE, (int)a,
                form->name[a]);
        for (int32_t b = 0; b < a; b++)
            if (strcmp(form->name[a], form->name[b]) == 0)
                return clv_fail(err, CLV_EUSAGE, "two axes of the mesh have the name '%.60s'",
                                form->name[a]);
    }
    for (int32_t a = form->n_axes; a < CLV_MESH_AXES_MAX; a++)
        if (form->name[a])
            return clv_fail(err, CLV_EUSAGE, "a mesh of %d axes has a name more: '%.60s'",
                            (int)form->n_axes, form->name[a]);
    return CLV_OK;
}

static clv_status check_form(const clv_mesh_form *form, const clv_cluster *cluster, bool whole,
                             int32_t n_devices, clv_error *err)
{
    char text[FORM_SIZE];
    int64_t product = 1;

    if (form->n_axes < 1 || form->n_axes > CLV_MESH_AXES_MAX)
        return clv_fail(err, CLV_EUSAGE, "a mesh of %d axes, expected 1 to %d", (int)form->n_axes,
                        CLV_MESH_AXES_MAX);
    for (int32_t a = 0; a < form->n_axes; a++) {
        if (form->size[a] < 1)
            return clv_fail(err, CLV_EUSAGE, "axis %d of the mesh has size %d, expected at least 1",
                            (int)a, (int)form->size[a]);
        product *= form->size[a]; /* 3 * 31 bits may overflow: stop before */
        if (product > CLV_DEVICES_MAX)
            return clv_fail(err, CLV_EUSAGE, "mesh %s has over %d devices", show_form(text, form),
                            CLV_DEVICES_MAX);
    }
    if (product != n_devices && whole)
        return clv_fail(err, CLV_EUSAGE, "mesh %s has %d devices, cluster '%.100s' has %d",
                        show_form(text, form), (int)product, cluster->name, (int)n_devices);
    if (product != n_devices)
        return clv_fail(err, CLV_EUSAGE, "mesh %s has %d devices, %d are given",
                        show_form(text, form), (int)product, (int)n_devices);
    return check_names(form, err);
}

static clv_status copy_devices(const clv_cluster *cluster, const int32_t *device, int32_t n,
                               int32_t *ret, clv_arena *arena, clv_error *err)
{
    bool *seen = CLV_NEW_ARRAY(arena, bool, cluster->n_devices);
    if (!seen)
        return clv_fail_nomem(err, "a mesh");
    for (int32_t i = 0; i < n; i++) {
        ret[i] = device ? device[i] : i;
        if (ret[i] < 0 || ret[i] >= cluster->n_devices)
            return clv_fail(err, CLV_EUSAGE,
                            "device %d of the mesh is %d, cluster '%.100s' has %d devices", (int)i,
                            (int)ret[i], cluster->name, (int)cluster->n_devices);
        if (seen[ret[i]])
            return clv_fail(err, CLV_EUSAGE, "device %d is in the mesh twice", (int)ret[i]);
        seen[ret[i]] = true;
    }
    return CLV_OK;
}

clv_status clv_mesh_make(const clv_mesh_form *form, const clv_cluster *cluster,
                         clv_mesh_devices devices, clv_arena *arena, const clv_mesh **ret,
                         clv_error *err)
{
    int32_t n = devices.at ? devices.n : cluster->n_devices;

    CLV_TRY(check_form(form, cluster, devices.at == NULL, n, err));
    clv_mesh *mesh = CLV_NEW(arena, clv_mesh);
    int32_t *own = CLV_NEW_ARRAY(arena, int32_t, n);
    if (!mesh || !own)
        return clv_fail_nomem(err, "a mesh");
    clv_mark mark = clv_arena_mark(arena);
    CLV_TRY(copy_devices(cluster, devices.at, n, own, arena, err));
    clv_arena_rewind(arena, mark);
    *mesh = (clv_mesh){ .n_axes = form->n_axes, .n_devices = n, .device = own };
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
        bool there = a < form->n_axes;
        mesh->size[a] = there ? form->size[a] : 1;
        if (!there)
            continue;
        mesh->name[a] = form->name[a] ? clv_arena_printf(arena, "%s", form->name[a])
                                      : clv_mesh_default_name(form->n_axes, a);
        if (!mesh->name[a])
            return clv_fail_nomem(err, "a mesh");
    }
    *ret = mesh;
    return CLV_OK;
}

/* -- places -- */

int32_t clv_mesh_coord(const clv_mesh *mesh, int32_t position, int32_t axis)
{
    for (int32_t a = CLV_MESH_AXES_MAX - 1; a > axis; a--)
        position /= mesh->size[a];
    return position % mesh->size[axis];
}

int32_t clv_mesh_position(const clv_mesh *mesh, int32_t device)
{
    for (int32_t i = 0; i < mesh->n_devices; i++)
        if (mesh->device[i] == device)
            return i;
    return -1;
}

int32_t clv_mesh_count(const clv_mesh *mesh, uint32_t axes)
{
    int32_t n = 1;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (axes & 1u << a)
            n *= mesh->size[a];
    return n;
}

uint32_t clv_mesh_long_axes(const clv_mesh *mesh)
{
    uint32_t axes = 0;
    for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++)
        if (mesh->size[a] > 1)
            axes |= 1u << a;
    return axes;
}

void clv_mesh_groups(const clv_mesh *mesh, uint32_t axes, int32_t *ret)
{
    int32_t n = clv_mesh_count(mesh, axes);

    for (int32_t p = 0; p < mesh->n_devices; p++) {
        int32_t group = 0, member = 0; /* the coordinates of p, sorted into those inside and not */
        for (int32_t a = 0; a < CLV_MESH_AXES_MAX; a++) {
            int32_t c = clv_mesh_coord(mesh, p, a);
            if (axes & 1u << a)
                member = member * mesh->size[a] + c;
            else
                group = group * mesh->size[a] + c;
        }
        ret[group * n + member] = p;
    }
}

int32_t clv_mesh_count_of(const clv_mesh *mesh, const int32_t order[static CLV_MESH_AXES_MAX],
                          int32_t position)
{
    int32_t count = 0;
    for (int32_t i = 0; i < CLV_MESH_AXES_MAX; i++)
        count = count * mesh->size[order[i]] + clv_mesh_coord(mesh, position, order[i]);
    return count;
}

void clv_mesh_shares(const clv_mesh *mesh, const clv_cluster *cluster, int32_t axis,
                     clv_dtype dtype, int64_t *ret)
{
    const double parts = 1e6; /* of the fastest: finer than anyone knows a device's rate */
    double fastest = 0;

    for (int32_t c = 0; c < mesh->size[axis]; c++)
        ret[c] = INT64_MAX;
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        const clv_device_kind *kind = clv_device_kind_of(cluster, mesh->device[p]);
        double rate = clv_device_matrix_rate(kind, dtype);
        fastest = rate > fastest ? rate : fastest;
    }
    for (int32_t p = 0; p < mesh->n_devices; p++) {
        const clv_device_kind *kind = clv_device_kind_of(cluster, mesh->device[p]);
        int64_t share = 1 + (int64_t)(clv_device_matrix_rate(kind, dtype) / fastest * parts);
        int32_t c = clv_mesh_coord(mesh, p, axis);
        ret[c] = share < ret[c] ? share : ret[c];
    }
}
