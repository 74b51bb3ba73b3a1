/* Any bytes as a cluster file and as a device file: refused in words, or usable to the last route.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cluster/description.h"
#include "cluster/device_json.h"

static void must(bool yes)
{
    if (!yes)
        abort();
}

/* What passes our check of the text is never refused by cJSON. */
static void try_json(const char *text, size_t n)
{
    clv_json *json = NULL;
    clv_error err = { 0 };
    clv_status s = clv_json_parse(text, n, "fuzz", &json, &err);
    must(s == CLV_OK || s == CLV_EFORMAT || s == CLV_ELIMIT);
    must((s == CLV_OK) == (json != NULL));
    must(s == CLV_OK || strncmp(err.message, "fuzz", 4) == 0);
    clv_json_free(json);
}

static void walk(const clv_cluster *c)
{
    must(c->n_devices >= 1 && c->n_devices <= CLV_DEVICES_MAX);
    for (int32_t a = 0; a < c->n_devices; a++)
        for (int32_t b = 0; b < c->n_devices; b++) {
            const clv_route *r = clv_route_between(c, a, b);
            must((a == b) == (r->n_ports == 0));
            for (int32_t i = 0; i < r->n_ports; i++)
                must(r->ports[i] >= 0 && r->ports[i] < c->n_ports);
            must(clv_transfer_ns(c, a, b, 0) <= clv_transfer_ns(c, a, b, INT64_MAX));
        }
    for (int32_t d = 0; d < c->n_devices; d++) {
        const clv_device_kind *k = clv_device_kind_of(c, d);
        must(clv_device_capacity(k) > 0 && clv_device_capacity(k) <= k->memory_bytes);
        must(k->memory_bytes > k->reserved_bytes && k->tiles >= 1 && k->launch_ns >= 0);
        for (int t = 0; t < CLV_N_DTYPES; t++)
            must(clv_device_matrix_rate(k, (clv_dtype)t) > 0 &&
                 clv_device_vector_rate(k, (clv_dtype)t) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    clv_arena *arena = clv_arena_new(NULL, (size_t)256 << 20);
    clv_error err = { 0 };
    clv_cluster *c = NULL;
    clv_device_kind kind;
    must(arena != NULL);
    try_json(text, size);
    clv_status s =
        clv_cluster_parse(&(clv_cluster_source){ text, size, "fuzz", NULL, NULL }, arena, &c, &err);
    must((s == CLV_OK) == (c != NULL) && (s == CLV_OK || err.message[0]));
    if (c) {
        clv_described_cluster d;
        walk(c);
        s = clv_cluster_describe(&(clv_cluster_source){ text, size, "fuzz", NULL, NULL }, NULL,
                                 false, arena, &d, &err);
        must(s == CLV_OK || s == CLV_ENOMEM || s == CLV_ELIMIT);
        must(s != CLV_OK || (d.n_kinds >= 1 && (d.n_links > 0 || c->n_devices == 1)));
    }
    s = clv_device_parse(text, size, "fuzz", arena, &kind, &err);
    must(s == CLV_OK || err.message[0]);
    clv_arena_free(arena);
    return 0;
}
