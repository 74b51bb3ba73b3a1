#include "solver/partition/alike_devices.h"

#include "problem/sums.h"

static int32_t swapped(int32_t d, int32_t a, int32_t b) { return d == a ? b : d == b ? a : d; }

/* Ports of one link become those of another. image: by port, -1 where nothing is said yet; preimage
 * the other way. */
static bool map_ports(const clv_partition_problem *p, size_t link, size_t other, int32_t *image,
                      int32_t *preimage)
{
    int32_t first = p->link_first_port[link], n = p->link_first_port[link + 1] - first;
    int32_t to = p->link_first_port[other];
    if (p->link_first_port[other + 1] - to != n)
        return false;
    for (int32_t k = 0; k < n; k++) {
        int32_t from_port = p->link_ports[first + k], to_port = p->link_ports[to + k];
        if (image[from_port] < 0 && preimage[to_port] < 0) {
            image[from_port] = to_port;
            preimage[to_port] = from_port;
        }
        if (image[from_port] != to_port || preimage[to_port] != from_port)
            return false;
    }
    return true;
}

/* Does the problem stay the same with a and b in each other's place? */
static bool may_swap(const clv_partition_problem *p, int32_t a, int32_t b, int32_t *image,
                     int32_t *preimage)
{
    size_t n = (size_t)p->n_devices;
    if (p->kind_of[a] != p->kind_of[b] || p->capacity_bytes[a] != p->capacity_bytes[b])
        return false;
    for (int32_t k = 0; k < clv_n_ports(p); k++)
        image[k] = preimage[k] = -1;
    for (int32_t from = 0; from < p->n_devices; from++) {
        for (int32_t to = 0; to < p->n_devices; to++) {
            size_t link = (size_t)from * n + (size_t)to;
            size_t other = (size_t)swapped(from, a, b) * n + (size_t)swapped(to, a, b);
            if (from == to)
                continue;
            if (p->link_latency_ns[link] != p->link_latency_ns[other] ||
                p->link_bytes_per_s[link] < p->link_bytes_per_s[other] ||
                p->link_bytes_per_s[link] > p->link_bytes_per_s[other] ||
                (p->link_first_port && !map_ports(p, link, other, image, preimage)))
                return false;
        }
    }
    return true;
}

clv_status clv_alike_devices_find(const clv_partition_problem *p, clv_arena *arena, int32_t *ret,
                                  clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    int32_t *image = CLV_NEW_ARRAY(arena, int32_t, clv_n_ports(p));
    int32_t *preimage = CLV_NEW_ARRAY(arena, int32_t, clv_n_ports(p));
    if (!image || !preimage)
        return clv_fail_nomem(err, "devices that are alike");
    for (int32_t d = 0; d < p->n_devices; d++) {
        ret[d] = d;
        for (int32_t e = 0; e < d && ret[d] == d; e++)
            if (ret[e] == e && may_swap(p, e, d, image, preimage))
                ret[d] = e;
    }
    clv_arena_rewind(arena, mark);
    return CLV_OK;
}
