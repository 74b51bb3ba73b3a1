#include "explain/report_clusters_json.h"

#include "base/json_out.h"

static void put_numbers(clv_json_out *out, const clv_described_number *at, int32_t n)
{
    clv_json_open_array(out, "numbers");
    for (int32_t i = 0; i < n; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "name", at[i].name);
        clv_json_put_string(out, "value", at[i].value);
        clv_json_put_string(out, "source", at[i].source);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
}

static void put_link(clv_json_out *out, const clv_described_link *link, bool details)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "name", link->name);
    if (link->n_links == 0) {
        clv_json_put_int(out, "devices", link->n_devices);
    } else {
        clv_json_put_int(out, "links", link->n_links);
        clv_json_put_bool(out, "both_ways", link->both_ways);
    }
    clv_json_put_number(out, "bytes_per_s", link->speed.peak_bytes_per_s);
    clv_json_put_number(out, "reached_bytes_per_s", clv_link_reached(&link->speed));
    clv_json_put_int(out, "latency_ns", link->speed.latency_ns);
    if (details)
        put_numbers(out, link->numbers, link->n_numbers);
    clv_json_close_object(out);
}

static void put_cluster(clv_json_out *out, const clv_described_cluster *c, bool details)
{
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "name", c->name);
    clv_json_put_string(out, "file", c->file);
    clv_json_put_int(out, "devices", c->cluster->n_devices);
    clv_json_open_array(out, "kinds");
    for (int32_t i = 0; i < c->n_kinds; i++) {
        clv_json_open_object(out, NULL);
        clv_json_put_string(out, "kind", c->kinds[i].name);
        clv_json_put_int(out, "devices", c->kinds[i].n_devices);
        clv_json_close_object(out);
    }
    clv_json_close_array(out);
    clv_json_open_array(out, "links");
    for (int32_t i = 0; i < c->n_links; i++)
        put_link(out, &c->links[i], details);
    clv_json_close_array(out);
    clv_json_close_object(out);
}

/* Peaks by element type, those that are given. */
static void put_rates(clv_json_out *out, const char *key, const double *rates)
{
    clv_json_open_object(out, key);
    for (int t = 0; t < CLV_N_DTYPES; t++)
        if (rates[t] > 0)
            clv_json_put_number(out, clv_dtype_name((clv_dtype)t), rates[t]);
    clv_json_close_object(out);
}

static void put_kind(clv_json_out *out, const clv_described_kind *d, bool details)
{
    const clv_device_kind *kind = d->kind;
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "kind", d->name);
    clv_json_put_string(out, "file", d->file);
    clv_json_put_string(out, "vendor", kind->vendor);
    clv_json_put_int(out, "memory_bytes", kind->memory_bytes);
    clv_json_put_int(out, "tensor_bytes", clv_device_capacity(kind));
    clv_json_put_number(out, "memory_bytes_per_s", kind->memory_bytes_per_s);
    put_rates(out, "matrix_per_s", kind->matrix_per_s);
    put_rates(out, "vector_per_s", kind->vector_per_s);
    clv_json_put_int(out, "launch_ns", kind->launch_ns);
    clv_json_put_string(out, "runtime", kind->runtime);
    clv_json_put_string(out, "measured", kind->measured);
    if (details)
        put_numbers(out, d->numbers, d->n_numbers);
    clv_json_close_object(out);
}

clv_status clv_report_clusters_json(const clv_cluster_list *list, clv_arena *arena,
                                    const char **ret_text, clv_error *err)
{
    clv_json_out out;
    int32_t n = 0;
    const clv_described_kind **kinds = clv_cluster_list_kinds(list, arena, &n);
    if (!kinds)
        return clv_fail_nomem(err, "a report of clusters");
    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_int(&out, "schema_version", 1);
    clv_json_open_array(&out, "clusters");
    for (int32_t i = 0; i < list->n; i++)
        put_cluster(&out, &list->at[i], list->details);
    clv_json_close_array(&out);
    clv_json_open_array(&out, "kinds");
    for (int32_t i = 0; i < n; i++)
        put_kind(&out, kinds[i], list->details);
    clv_json_close_array(&out);
    clv_json_open_array(&out, "not_valid");
    for (int32_t i = 0; i < list->n_wrong; i++) {
        clv_json_open_object(&out, NULL);
        clv_json_put_string(&out, "name", list->wrong[i].name);
        clv_json_put_string(&out, "why", list->wrong[i].why);
        clv_json_close_object(&out);
    }
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret_text = out.text;
    return CLV_OK;
}
