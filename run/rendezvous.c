#include "run/rendezvous.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* Two-phase waiting (Ousterhout 1982): how long a member that waits keeps its core before it
 * sleeps, where each has one. Waking up takes some 30 us on virtual machines, as long as a small
 * collective. */
#define SPIN_NS (50 * INT64_C(1000))

struct clr_barrier {
    const char *name;
    int32_t *group, n;
    int32_t count; /* who have come */
    uint8_t *kept;
    size_t size;
    clr_barrier *next;
};

typedef enum { RUNNING, AT_BARRIER, FOR_RUN, ENDED } state;

typedef struct {
    _Atomic state is;           /* written with the lock held */
    const clr_barrier *barrier; /* AT_BARRIER */
    int32_t other, until;       /* FOR_RUN: has ended so many */
    int32_t runs;               /* that it has ended */
    int64_t waited_ns;
    int64_t spun_ns; /* of that, while it kept its core */
} member;

struct clr_rendezvous {
    clv_arena *arena; /* holds this */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const char *const *names;
    member *members;
    int32_t n;
    int64_t timeout_ns; /* 0: none */
    bool spins;
    clr_barrier *barriers;
    clv_error failure; /* status CLV_OK: not stopped */
    void (*on_stop)(void *ctx);
    void *ctx;
};

clv_status clr_rendezvous_new(const char *const *names, int32_t n, double timeout_s,
                              clr_rendezvous **ret, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_rendezvous *r = arena ? CLV_NEW(arena, clr_rendezvous) : NULL;
    pthread_condattr_t attr;

    if (!r || !(r->members = CLV_NEW_ARRAY(arena, member, n))) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a meeting");
    }
    r->arena = arena;
    r->names = names;
    r->n = n;
    r->timeout_ns = (int64_t)(timeout_s * (double)CLV_NS_PER_S);
    r->spins = sysconf(_SC_NPROCESSORS_ONLN) >= n;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->changed, &attr);
    pthread_condattr_destroy(&attr);
    *ret = r;
    return CLV_OK;
}

void clr_rendezvous_share_cores(clr_rendezvous *r, int32_t beside)
{
    r->spins = sysconf(_SC_NPROCESSORS_ONLN) >= (int64_t)r->n * (beside > 1 ? beside : 1);
}

void clr_rendezvous_free(clr_rendezvous *r)
{
    if (!r)
        return;
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    clv_arena_free(r->arena);
}

void clr_rendezvous_start(clr_rendezvous *r, void (*on_stop)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&r->lock);
    for (int32_t i = 0; i < r->n; i++)
        r->members[i] = (member){ .is = RUNNING };
    for (clr_barrier *b = r->barriers; b; b = b->next)
        b->count = 0;
    r->failure = (clv_error){ .status = CLV_OK };
    r->on_stop = on_stop;
    r->ctx = ctx;
    pthread_mutex_unlock(&r->lock);
}

static clr_barrier *make_barrier(clr_rendezvous *r, const char *name, clr_group group, size_t size)
{
    clr_barrier *b = CLV_NEW(r->arena, clr_barrier);

    if (!b)
        return NULL;
    b->name = clv_arena_printf(r->arena, "%s", name);
    b->group = CLV_NEW_ARRAY(r->arena, int32_t, group.n);
    b->kept = clv_arena_take_array(r->arena, (size_t)group.n, size);
    if (!b->name || !b->group || !b->kept)
        return NULL;
    memcpy(b->group, group.members, (size_t)group.n * sizeof *b->group);
    b->n = group.n;
    b->size = size;
    b->next = r->barriers;
    r->barriers = b;
    return b;
}

clv_status clr_rendezvous_barrier(clr_rendezvous *r, const char *name, clr_group group, size_t size,
                                  clr_barrier **ret, clv_error *err)
{
    pthread_mutex_lock(&r->lock);
    clr_barrier *b = r->barriers;
    while (b && (b->n != group.n || strcmp(b->name, name) != 0 ||
                 memcmp(b->group, group.members, (size_t)group.n * sizeof *b->group) != 0))
        b = b->next;
    if (!b)
        b = make_barrier(r, name, group, size);
    pthread_mutex_unlock(&r->lock);
    if (!b)
        return clv_fail_nomem(err, "a meeting");
    *ret = b;
    return CLV_OK;
}

void *clr_barrier_slot(const clr_barrier *barrier, int32_t i)
{
    return barrier->kept + (size_t)i * barrier->size;
}

/* -- with the lock held -- */

static void stop(clr_rendezvous *r, const clv_error *failure)
{
    if (r->failure.status != CLV_OK)
        return;
    r->failure = *failure;
    pthread_cond_broadcast(&r->changed);
    if (r->on_stop)
        r->on_stop(r->ctx);
}

static const char *waits_for(const clr_rendezvous *r, int32_t i)
{
    const member *m = &r->members[i];

    return m->is == AT_BARRIER ? m->barrier->name : r->names[m->other];
}

/* Somebody has begun to wait, or has ended: can anyone still go on? */
static void check_deadlock(clr_rendezvous *r)
{
    char words[CLV_MESSAGE_SIZE];
    size_t n = 0;
    bool anyone = false;

    for (int32_t i = 0; i < r->n; i++) {
        if (r->members[i].is == RUNNING)
            return;
        anyone = anyone || r->members[i].is != ENDED;
    }
    if (!anyone)
        return;
    for (int32_t i = 0; i < r->n; i++)
        if (r->members[i].is == ENDED)
            n = clv_add_words(words, sizeof words, n, "%s%s has ended", n ? ", " : "", r->names[i]);
        else
            n = clv_add_words(words, sizeof words, n, "%s%s waits for %s'%s'", n ? ", " : "",
                              r->names[i], r->members[i].is == AT_BARRIER ? "" : "the end of ",
                              waits_for(r, i));
    clv_error failure;
    clv_fail(&failure, CLV_EFORMAT, "the devices wait for each other and cannot go on: %s", words);
    stop(r, &failure);
}

/* Without the lock meanwhile. */
static void spin(clr_rendezvous *r, int32_t i)
{
    int64_t start = clv_now_ns();

    pthread_mutex_unlock(&r->lock);
    while (r->members[i].is != RUNNING && clv_now_ns() - start < SPIN_NS)
        ;
    pthread_mutex_lock(&r->lock);
    r->members[i].spun_ns += clv_now_ns() - start;
}

/* Waits while the member's state is not RUNNING. */
static clv_status wait_until_running(clr_rendezvous *r, int32_t i, clv_error *err)
{
    int64_t start = clv_now_ns(), end = start + r->timeout_ns;
    struct timespec until = { .tv_sec = end / CLV_NS_PER_S, .tv_nsec = end % CLV_NS_PER_S };
    member *m = &r->members[i];

    if (r->spins)
        spin(r, i);
    while (m->is != RUNNING && r->failure.status == CLV_OK) {
        if (r->timeout_ns == 0) {
            pthread_cond_wait(&r->changed, &r->lock);
        } else if (pthread_cond_timedwait(&r->changed, &r->lock, &until) == ETIMEDOUT &&
                   m->is != RUNNING && r->failure.status == CLV_OK) {
            clv_error failure;
            clv_fail(&failure, CLV_EFORMAT,
                     "%s has waited %g s for '%s', longer than --timeout allows", r->names[i],
                     (double)r->timeout_ns / (double)CLV_NS_PER_S, waits_for(r, i));
            stop(r, &failure);
        }
    }
    m->waited_ns += clv_now_ns() - start;
    if (m->is == RUNNING && r->failure.status == CLV_OK)
        return CLV_OK;
    m->is = RUNNING;
    return clv_fail(err, CLV_ECANCELED, "stopped, as another device failed");
}

clv_status clr_rendezvous_wait(clr_rendezvous *r, clr_barrier *barrier, int32_t i, clv_error *err)
{
    clv_status status = CLV_OK;

    pthread_mutex_lock(&r->lock);
    if (r->failure.status != CLV_OK) {
        status = clv_fail(err, CLV_ECANCELED, "stopped, as another device failed");
    } else if (++barrier->count == barrier->n) { /* the last one: let all go */
        barrier->count = 0;
        for (int32_t k = 0; k < barrier->n; k++)
            r->members[barrier->group[k]].is = RUNNING;
        pthread_cond_broadcast(&r->changed);
    } else {
        r->members[i].is = AT_BARRIER;
        r->members[i].barrier = barrier;
        check_deadlock(r);
        status = wait_until_running(r, i, err);
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

clv_status clr_rendezvous_wait_runs(clr_rendezvous *r, int32_t i, int32_t other, int32_t runs,
                                    clv_error *err)
{
    clv_status status = CLV_OK;

    pthread_mutex_lock(&r->lock);
    if (r->failure.status != CLV_OK) {
        status = clv_fail(err, CLV_ECANCELED, "stopped, as another device failed");
    } else if (r->members[other].runs < runs) {
        r->members[i].is = FOR_RUN;
        r->members[i].other = other;
        r->members[i].until = runs;
        check_deadlock(r);
        status = wait_until_running(r, i, err);
    }
    pthread_mutex_unlock(&r->lock);
    return status;
}

void clr_rendezvous_end_run(clr_rendezvous *r, int32_t i)
{
    pthread_mutex_lock(&r->lock);
    r->members[i].runs++;
    for (int32_t k = 0; k < r->n; k++) {
        member *m = &r->members[k];
        if (m->is == FOR_RUN && m->other == i && m->until <= r->members[i].runs)
            m->is = RUNNING;
    }
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

void clr_rendezvous_leave(clr_rendezvous *r, int32_t i, clv_status status, const clv_error *err)
{
    pthread_mutex_lock(&r->lock);
    r->members[i].is = ENDED;
    if (status != CLV_OK)
        stop(r, err);
    check_deadlock(r);
    pthread_mutex_unlock(&r->lock);
}

clv_status clr_rendezvous_failure(clr_rendezvous *r, clv_error *err)
{
    pthread_mutex_lock(&r->lock);
    clv_status status = r->failure.status;
    if (status != CLV_OK && err)
        *err = r->failure;
    pthread_mutex_unlock(&r->lock);
    return status;
}

double clr_rendezvous_spun_s(const clr_rendezvous *r, int32_t i)
{
    return (double)r->members[i].spun_ns / (double)CLV_NS_PER_S;
}

double clr_rendezvous_waited_s(const clr_rendezvous *r, int32_t i)
{
    return (double)r->members[i].waited_ns / (double)CLV_NS_PER_S;
}
