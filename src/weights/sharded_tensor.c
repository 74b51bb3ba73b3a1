#include "weights/sharded_tensor.h"

#include <string.h>

#include "base/json.h"
#include "base/json_out.h"

const char *clv_fill_name(clv_weight_fill fill)
{
    static const char *const names[] = { "empty", "zeros", "ones" };
    return names[fill];
}

/* -- sizes -- */

/* False when 64 bits do not hold it. An empty part is empty, however long its other sides are. */
static bool count_elems(const int64_t *size, int32_t rank, int64_t *ret)
{
    bool fits = true;

    *ret = 1;
    for (int32_t i = 0; i < rank; i++)
        if (size[i] == 0) {
            *ret = 0;
            return true;
        }
    for (int32_t i = 0; i < rank && fits; i++)
        fits = !__builtin_mul_overflow(*ret, size[i], ret);
    return fits;
}

clv_status clv_sharded_tensor_new(const clv_placement_spec *spec,
                                  const clv_placement_devices *devices,
                                  const clv_sharded_options *options, clv_arena *arena,
                                  clv_sharded_tensor *ret, clv_error *err)
{
    clv_sharded_tensor own = { .options = *options, .devices = devices };
    int64_t *bytes = NULL, elems = 0;

    if (clv_dtype_bits(options->dtype) == 0)
        return clv_fail(err, CLV_EFORMAT, "%.200s: is of type %s, expected one of a fixed size",
                        options->tensor.name, clv_dtype_name(options->dtype));
    CLV_TRY(clv_placement_parts_of(spec, &options->tensor, devices, arena, &own.parts, err));
    bytes = CLV_NEW_ARRAY(arena, int64_t, own.parts.n);
    if (!bytes)
        return clv_fail_nomem(err, "sharded tensor");
    for (int32_t i = 0; i < own.parts.n; i++)
        if (!count_elems(own.parts.at[i].size, own.parts.rank, &elems) ||
            !clv_dtype_bytes(options->dtype, elems, &bytes[i]))
            return clv_fail(err, CLV_ELIMIT, "%.200s: a part has over 2^63 bytes",
                            options->tensor.name);
    own.bytes = bytes;
    *ret = own;
    return CLV_OK;
}

void clv_sharded_tensor_fill(const clv_sharded_tensor *tensor, int32_t part, void *ret)
{
    unsigned char one[16], *to = ret;
    clv_dtype dtype = tensor->options.dtype;
    size_t n = (size_t)tensor->bytes[part], size = (size_t)clv_encode_one(dtype, one);
    int bits = clv_dtype_bits(dtype);
    int64_t elems = 0;

    if (tensor->options.fill == CLV_FILL_NOT || n == 0)
        return;
    if (tensor->options.fill == CLV_FILL_ZEROS) {
        memset(to, 0, n);
        return;
    }
    for (size_t at = 0; at < n; at += size)
        memcpy(to + at, one, size);
    count_elems(tensor->parts.at[part].size, tensor->parts.rank, &elems);
    int used =
        bits < 8 ? (int)(elems % (8 / bits)) * bits : 0; /* of the last byte; the rest is zero */
    if (used > 0)
        to[n - 1] &= (unsigned char)((1 << used) - 1);
}

/* -- JSON -- */

static void put_numbers(clv_json_out *out, const char *key, const int64_t *at, int32_t n)
{
    clv_json_open_array(out, key);
    for (int32_t i = 0; i < n; i++)
        clv_json_put_int(out, NULL, at[i]);
    clv_json_close_array(out);
}

static void put_shard(clv_json_out *out, const clv_sharded_tensor *tensor, int32_t i)
{
    const clv_placement_part *part = &tensor->parts.at[i];
    const char *device = clv_remote_device_print(&tensor->devices->at[part->device], out->arena);

    out->failed |= device == NULL;
    clv_json_open_object(out, NULL);
    clv_json_put_string(out, "device", device);
    put_numbers(out, "offsets", part->offset, tensor->parts.rank);
    put_numbers(out, "dims", part->size, tensor->parts.rank);
    clv_json_put_int(out, "bytes", tensor->bytes[i]);
    clv_json_close_object(out);
}

clv_status clv_sharded_tensor_json(const clv_sharded_tensor *tensor, clv_arena *arena,
                                   const char **ret, clv_error *err)
{
    const clv_sharded_options *o = &tensor->options;
    clv_json_out out;

    clv_json_begin(&out, arena, true);
    clv_json_open_object(&out, NULL);
    clv_json_put_string(&out, "name", o->tensor.name);
    clv_json_put_string(&out, "dtype", clv_dtype_name(o->dtype));
    put_numbers(&out, "dims", o->tensor.dims, o->tensor.rank);
    if (o->tensor.dim_names) {
        clv_json_open_array(&out, "names");
        for (int32_t i = 0; i < o->tensor.rank; i++)
            clv_json_put_string(&out, NULL, o->tensor.dim_names[i]);
        clv_json_close_array(&out);
    }
    clv_json_put_string(&out, "fill", clv_fill_name(o->fill));
    clv_json_put_bool(&out, "requires_grad", o->requires_grad);
    clv_json_put_bool(&out, "pin_memory", o->pin_memory);
    clv_json_open_array(&out, "shards");
    for (int32_t i = 0; i < tensor->parts.n; i++)
        put_shard(&out, tensor, i);
    clv_json_close_array(&out);
    clv_json_close_object(&out);
    CLV_TRY(clv_json_end(&out, err));
    *ret = out.text;
    return CLV_OK;
}
