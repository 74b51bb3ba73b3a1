#include "run/rendezvous.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* How long a member that waits keeps its core before it sleeps, where each has one: waking up takes
 * some 30 us on virtual machines, as long as a small collective. */
#define SPIN_NS (50 * INT64_C(1000))

struct clr_barrier {
    const char *name;
    int32_t *group, n;
    int32_t count; /* who have come */
    uint8_t *kept;
    size_t size;
    clr_barrier *next;
};

typedef enum { RUNNING, AT_PLACE, FOR_RUN, ENDED } state;

typedef struct {
    _Atomic state is;         /* written with the lock held */
    const clr_barrier *place; /* AT_PLACE */
    int32_t other, until;     /* FOR_RUN: has ended so many */
    int32_t runs;             /* that it has ended */
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
    clr_barrier *places;
    clv_error why; /* status CLV_OK: not stopped */
    void (*on_stop)(void *ctx);
    void *ctx;
};

clv_status clr_rendezvous_new(const char *const *names, int32_t n, double timeout_s,
                              clr_rendezvous **ret, clv_error *err)
{
    clv_arena *arena = clv_arena_new(NULL, 0);
    clr_rendezvous *m = arena ? CLV_NEW(arena, clr_rendezvous) : NULL;
    pthread_condattr_t attr;

    if (!m || !(m->members = CLV_NEW_ARRAY(arena, member, n))) {
        clv_arena_free(arena);
        return clv_fail_nomem(err, "a meeting");
    }
    m->arena = arena;
    m->names = names;
    m->n = n;
    m->timeout_ns = (int64_t)(timeout_s * (double)CLV_NS_PER_S);
    m->spins = sysconf(_SC_NPROCESSORS_ONLN) >= n;
    pthread_mutex_init(&m->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&m->changed, &attr);
    pthread_condattr_destroy(&attr);
    *ret = m;
    return CLV_OK;
}

void clr_rendezvous_free(clr_rendezvous *rendezvous)
{
    if (!rendezvous)
        return;
    pthread_cond_destroy(&rendezvous->changed);
    pthread_mutex_destroy(&rendezvous->lock);
    clv_arena_free(rendezvous->arena);
}

void clr_rendezvous_start(clr_rendezvous *rendezvous, void (*on_stop)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&rendezvous->lock);
    for (int32_t i = 0; i < rendezvous->n; i++)
        rendezvous->members[i] = (member){ .is = RUNNING };
    for (clr_barrier *p = rendezvous->places; p; p = p->next)
        p->count = 0;
    rendezvous->why = (clv_error){ .status = CLV_OK };
    rendezvous->on_stop = on_stop;
    rendezvous->ctx = ctx;
    pthread_mutex_unlock(&rendezvous->lock);
}

static clr_barrier *find_place(const clr_rendezvous *m, const char *name, const int32_t *group,
                               int32_t n)
{
    for (clr_barrier *p = m->places; p; p = p->next)
        if (p->n == n && strcmp(p->name, name) == 0 &&
            memcmp(p->group, group, (size_t)n * sizeof *group) == 0)
            return p;
    return NULL;
}

static clr_barrier *make_place(clr_rendezvous *m, const char *name, const int32_t *group, int32_t n,
                               size_t size)
{
    clr_barrier *p = CLV_NEW(m->arena, clr_barrier);

    if (!p)
        return NULL;
    p->name = clv_arena_printf(m->arena, "%s", name);
    p->group = CLV_NEW_ARRAY(m->arena, int32_t, n);
    p->kept = clv_arena_take_array(m->arena, (size_t)n, size);
    if (!p->name || !p->group || !p->kept)
        return NULL;
    memcpy(p->group, group, (size_t)n * sizeof *group);
    p->n = n;
    p->size = size;
    p->next = m->places;
    m->places = p;
    return p;
}

clv_status clr_rendezvous_barrier(clr_rendezvous *rendezvous, const char *name,
                                  const int32_t *group, int32_t n, size_t size, clr_barrier **ret,
                                  clv_error *err)
{
    pthread_mutex_lock(&rendezvous->lock);
    clr_barrier *place = find_place(rendezvous, name, group, n);
    if (!place)
        place = make_place(rendezvous, name, group, n, size);
    pthread_mutex_unlock(&rendezvous->lock);
    if (!place)
        return clv_fail_nomem(err, "a meeting");
    *ret = place;
    return CLV_OK;
}

void *clr_barrier_slot(const clr_barrier *place, int32_t i)
{
    return place->kept + (size_t)i * place->size;
}

/* -- with the lock held -- */

static void stop(clr_rendezvous *m, const clv_error *why)
{
    if (m->why.status != CLV_OK)
        return;
    m->why = *why;
    pthread_cond_broadcast(&m->changed);
    if (m->on_stop)
        m->on_stop(m->ctx);
}

static const char *waits_for(const clr_rendezvous *m, int32_t i)
{
    return m->members[i].is == AT_PLACE ? m->members[i].place->name : m->names[m->members[i].other];
}

/* Somebody has begun to wait, or has ended: can anyone still go on? */
static void look_for_deadlock(clr_rendezvous *m)
{
    char words[CLV_MESSAGE_SIZE];
    size_t n = 0;
    bool anyone = false;

    for (int32_t i = 0; i < m->n; i++) {
        if (m->members[i].is == RUNNING)
            return;
        anyone = anyone || m->members[i].is != ENDED;
    }
    if (!anyone)
        return;
    for (int32_t i = 0; i < m->n; i++)
        if (m->members[i].is == ENDED)
            n = clv_add_words(words, sizeof words, n, "%s%s has ended", n ? ", " : "", m->names[i]);
        else
            n = clv_add_words(words, sizeof words, n, "%s%s waits for %s'%s'", n ? ", " : "",
                              m->names[i], m->members[i].is == AT_PLACE ? "" : "the end of ",
                              waits_for(m, i));
    clv_error why;
    clv_fail(&why, CLV_EFORMAT, "the devices wait for each other and cannot go on: %s", words);
    stop(m, &why);
}

static void let_go(clr_rendezvous *m, clr_barrier *place)
{
    place->count = 0;
    for (int32_t i = 0; i < place->n; i++)
        m->members[place->group[i]].is = RUNNING;
    pthread_cond_broadcast(&m->changed);
}

static void time_is_up(clr_rendezvous *m, int32_t i)
{
    clv_error why;

    clv_fail(&why, CLV_EFORMAT, "%s has waited %g s for '%s', longer than --timeout allows",
             m->names[i], (double)m->timeout_ns / (double)CLV_NS_PER_S, waits_for(m, i));
    stop(m, &why);
}

/* Without the lock meanwhile. */
static void spin(clr_rendezvous *m, int32_t i)
{
    int64_t start = clv_now_ns();

    pthread_mutex_unlock(&m->lock);
    while (m->members[i].is != RUNNING && clv_now_ns() - start < SPIN_NS)
        ;
    pthread_mutex_lock(&m->lock);
    m->members[i].spun_ns += clv_now_ns() - start;
}

/* Waits while the member's state is not RUNNING. */
static clv_status sleep_until_running(clr_rendezvous *m, int32_t i, clv_error *err)
{
    int64_t start = clv_now_ns(), end = start + m->timeout_ns;
    struct timespec until = { .tv_sec = end / CLV_NS_PER_S, .tv_nsec = end % CLV_NS_PER_S };

    if (m->spins)
        spin(m, i);
    while (m->members[i].is != RUNNING && m->why.status == CLV_OK)
        if (m->timeout_ns == 0)
            pthread_cond_wait(&m->changed, &m->lock);
        else if (pthread_cond_timedwait(&m->changed, &m->lock, &until) == ETIMEDOUT &&
                 m->members[i].is != RUNNING && m->why.status == CLV_OK)
            time_is_up(m, i);
    m->members[i].waited_ns += clv_now_ns() - start;
    if (m->members[i].is == RUNNING && m->why.status == CLV_OK)
        return CLV_OK;
    m->members[i].is = RUNNING;
    return clv_fail(err, CLV_ECANCELED, "stopped, as another device failed");
}

clv_status clr_rendezvous_wait(clr_rendezvous *rendezvous, clr_barrier *place, int32_t i,
                               clv_error *err)
{
    clv_status status = CLV_OK;

    pthread_mutex_lock(&rendezvous->lock);
    if (rendezvous->why.status != CLV_OK)
        status = clv_fail(err, CLV_ECANCELED, "stopped, as another device failed");
    else if (++place->count == place->n)
        let_go(rendezvous, place);
    else {
        rendezvous->members[i].is = AT_PLACE;
        rendezvous->members[i].place = place;
        look_for_deadlock(rendezvous);
        status = sleep_until_running(rendezvous, i, err);
    }
    pthread_mutex_unlock(&rendezvous->lock);
    return status;
}

clv_status clr_rendezvous_wait_runs(clr_rendezvous *rendezvous, int32_t i, int32_t other,
                                    int32_t runs, clv_error *err)
{
    clv_status status = CLV_OK;

    pthread_mutex_lock(&rendezvous->lock);
    if (rendezvous->why.status != CLV_OK)
        status = clv_fail(err, CLV_ECANCELED, "stopped, as another device failed");
    else if (rendezvous->members[other].runs < runs) {
        rendezvous->members[i].is = FOR_RUN;
        rendezvous->members[i].other = other;
        rendezvous->members[i].until = runs;
        look_for_deadlock(rendezvous);
        status = sleep_until_running(rendezvous, i, err);
    }
    pthread_mutex_unlock(&rendezvous->lock);
    return status;
}

void clr_rendezvous_end_run(clr_rendezvous *rendezvous, int32_t i)
{
    pthread_mutex_lock(&rendezvous->lock);
    rendezvous->members[i].runs++;
    for (int32_t k = 0; k < rendezvous->n; k++) {
        member *m = &rendezvous->members[k];
        if (m->is == FOR_RUN && m->other == i && m->until <= rendezvous->members[i].runs)
            m->is = RUNNING;
    }
    pthread_cond_broadcast(&rendezvous->changed);
    pthread_mutex_unlock(&rendezvous->lock);
}

void clr_rendezvous_leave(clr_rendezvous *rendezvous, int32_t i, clv_status status,
                          const clv_error *err)
{
    pthread_mutex_lock(&rendezvous->lock);
    rendezvous->members[i].is = ENDED;
    if (status != CLV_OK)
        stop(rendezvous, err);
    look_for_deadlock(rendezvous);
    pthread_mutex_unlock(&rendezvous->lock);
}

clv_status clr_rendezvous_failure(clr_rendezvous *rendezvous, clv_error *err)
{
    pthread_mutex_lock(&rendezvous->lock);
    clv_status status = rendezvous->why.status;
    if (status != CLV_OK && err)
        *err = rendezvous->why;
    pthread_mutex_unlock(&rendezvous->lock);
    return status;
}

double clr_rendezvous_spun_s(const clr_rendezvous *rendezvous, int32_t i)
{
    return (double)rendezvous->members[i].spun_ns / (double)CLV_NS_PER_S;
}

double clr_rendezvous_waited_s(const clr_rendezvous *rendezvous, int32_t i)
{
    return (double)rendezvous->members[i].waited_ns / (double)CLV_NS_PER_S;
}
