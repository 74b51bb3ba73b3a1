#include "api/other_clusters.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cluster/cluster_json.h"
#include "cluster/config_file.h"

#define SHOWN 3

typedef struct {
    const char *name;
    int32_t devices, of; /* that are needed, and that there are */
    bool same_kind;      /* as those that were asked for */
} place;

typedef struct {
    place *at;
    int32_t n;
} place_list;

static int by_kind_and_number(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->same_kind != y->same_kind)
        return x->same_kind ? -1 : 1;
    if (x->devices != y->devices)
        return x->devices < y->devices ? -1 : 1;
    if (x->of != y->of)
        return x->of < y->of ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* All that the nearest plan holds. */
static int64_t held_bytes(const clv_plan *plan)
{
    int64_t sum = 0;
    for (int32_t d = 0; d < plan->n_devices; d++) {
        int64_t peak = plan->devices[d].stage >= 0 ? plan->devices[d].peak_bytes : 0;
        if (peak > 0)
            sum = peak > INT64_MAX - sum ? INT64_MAX : sum + peak;
    }
    return sum;
}

/* The first devices that hold so much together; 0: all do not. */
static int32_t count_devices(const clv_cluster *c, int64_t bytes)
{
    for (int32_t d = 0; d < c->n_devices; d++) {
        bytes -= clv_device_capacity(clv_device_kind_of(c, d));
        if (bytes <= 0)
            return d + 1;
    }
    return 0;
}

static clv_status list_places(const clv_request *req, const char *configs, int64_t bytes,
                              clv_arena *arena, place_list *ret, clv_error *err)
{
    const clv_config_search search = { NULL, configs, "clusters" };
    const char *const *names;
    int32_t n;
    CLV_TRY(clv_config_names(&search, arena, &names, &n, err));
    *ret = (place_list){ CLV_NEW_ARRAY(arena, place, n), 0 };
    if (!ret->at)
        return clv_fail_nomem(err, "other clusters");
    for (int32_t i = 0; i < n; i++) {
        clv_cluster *c;
        clv_error own;
        clv_status status = clv_cluster_load(names[i], configs, arena, &c, &own);
        if (status == CLV_ENOMEM)
            return clv_fail(err, status, "%s", own.message);
        int32_t devices = status == CLV_OK ? count_devices(c, bytes) : 0;
        if (devices == 0 || strcmp(c->name, req->cluster->name) == 0)
            continue;
        bool same_kind = strcmp(c->kinds[0].name, req->cluster->kinds[0].name) == 0;
        ret->at[ret->n++] = (place){ names[i], devices, c->n_devices, same_kind };
    }
    qsort(ret->at, (size_t)ret->n, sizeof *ret->at, by_kind_and_number);
    return CLV_OK;
}

clv_status clv_note_other_clusters(const clv_request *req, const char *configs, clv_plan *plan,
                                   clv_arena *arena, clv_error *err)
{
    char size[32];
    int64_t bytes = held_bytes(plan);
    place_list places;
    if (plan->outcome != CLV_OOM || bytes == 0)
        return CLV_OK;
    CLV_TRY(list_places(req, configs, bytes, arena, &places, err));
    const char *text =
        clv_arena_printf(arena, "%s in all would be held by", clv_show_bytes(size, bytes));
    for (int32_t i = 0; text && i < places.n && i < SHOWN; i++)
        text = clv_arena_printf(arena, "%s%s %d of %d devices of %s", text, i ? "," : "",
                                (int)places.at[i].devices, (int)places.at[i].of, places.at[i].name);
    if (places.n == 0 || !text)
        return text ? CLV_OK : clv_fail_nomem(err, "other clusters");
    return clv_plan_add_note(
        plan, clv_arena_printf(arena, "%s: --cluster %s", text, places.at[0].name), arena, err);
}
