/* threads.c - the public API from many threads at once, under the thread sanitizer: each with
 * objects of its own, and all with one model, one plan and one problem of each kind.
 *
 *     threads MODEL WORKLOAD STRATEGY_PROBLEM FOLDER
 *
 * Exits 1 where two threads got different reports, 66 by the sanitizer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleave.h"

#define N_THREADS 6

static const char *path_of_model, *path_of_workload, *path_of_problem, *folder;

/* What all threads read. */
static cleave_model *model;
static cleave_plan *plan;
static cleave_place_problem *place;
static cleave_intra_op_problem *intra_op;

static void must(cleave_status status, const char *what, const cleave_error *error)
{
    if (status == CLEAVE_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

static void expect_same(const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return;
    fprintf(stderr, "%s differs between threads\n", what);
    exit(1);
}

static void run_plan(cleave_model *m)
{
    cleave_plan *made = NULL;
    cleave_plan_options o;
    cleave_error error;
    cleave_plan_options_init(&o);
    o.devices = 4;
    o.jobs = 2;
    must(cleave_plan_make(m, &o, NULL, &made, &error), "plan", &error);
    expect_same("plan", cleave_report_json(cleave_plan_report(made), NULL),
                cleave_report_json(cleave_plan_report(plan), NULL));
    cleave_plan_free(made);
}

/* Reads of one model and one plan, and files of its own. */
static void use_plan(int thread)
{
    char path[1024];
    cleave_report *report = NULL;
    cleave_verification *v = NULL;
    cleave_lower_options o;
    cleave_error error;
    must(cleave_model_inspect(model, NULL, &report, &error), "inspect", &error);
    cleave_report_free(report);
    must(cleave_model_shards(model, NULL, NULL, &report, NULL, &error), "shards", &error);
    cleave_report_free(report);
    must(cleave_verify(model, plan, NULL, NULL, &v, &error), "verify", &error);
    cleave_verification_free(v);
    snprintf(path, sizeof path, "%s/%d.onnx", folder, thread);
    must(cleave_annotate(model, plan, NULL, path, NULL, &error), "annotate", &error);
    snprintf(path, sizeof path, "%s/%d.lowered", folder, thread);
    cleave_lower_options_init(&o);
    o.form = CLEAVE_FORM_DEVICES;
    must(cleave_lower(model, plan, &o, path, NULL, NULL, &error), "lower", &error);
}

static void run_solvers(cleave_place_problem *p, cleave_intra_op_problem *q)
{
    cleave_error error;
    for (int objective = CLEAVE_LATENCY; objective <= CLEAVE_DEVICES; objective++)
        for (int is_free = 0; is_free < 2; is_free++) {
            cleave_place_options o;
            cleave_place_solution *placed = NULL;
            cleave_place_options_init(&o);
            o.objective = (cleave_objective)objective;
            o.free_assignment = is_free;
            o.gap = 0.2;
            o.deadline_s = 5;
            cleave_status s = cleave_place_solve(p, &o, NULL, &placed, &error);
            if (s != CLEAVE_NO_PLAN)
                must(s, "place", &error);
            cleave_place_solution_free(placed);
        }
    cleave_intra_op_options o;
    cleave_intra_op_solution *chosen = NULL;
    cleave_intra_op_options_init(&o);
    o.jobs = 3;
    must(cleave_intra_op_solve(q, &o, NULL, &chosen, &error), "solve", &error);
    cleave_intra_op_solution_free(chosen);
}

static void *work(void *arg)
{
    int thread = *(const int *)arg;
    cleave_model *own = NULL;
    cleave_place_problem *own_place = NULL;
    cleave_intra_op_problem *own_intra_op = NULL;
    cleave_error error;
    must(cleave_model_open(path_of_model, NULL, &own, &error), "open", &error);
    must(cleave_place_problem_open(path_of_workload, NULL, &own_place, &error), "open", &error);
    must(cleave_intra_op_problem_open(path_of_problem, NULL, &own_intra_op, &error), "open",
         &error);
    run_plan(thread % 2 ? own : model);
    use_plan(thread);
    run_solvers(thread % 2 ? own_place : place, thread % 2 ? own_intra_op : intra_op);
    cleave_intra_op_problem_free(own_intra_op);
    cleave_place_problem_free(own_place);
    cleave_model_free(own);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    int ids[N_THREADS];
    cleave_plan_options o;
    cleave_error error;
    if (argc != 5)
        return 2;
    path_of_model = argv[1];
    path_of_workload = argv[2];
    path_of_problem = argv[3];
    folder = argv[4];
    must(cleave_model_open(path_of_model, NULL, &model, &error), "open", &error);
    must(cleave_place_problem_open(path_of_workload, NULL, &place, &error), "open", &error);
    must(cleave_intra_op_problem_open(path_of_problem, NULL, &intra_op, &error), "open", &error);
    cleave_plan_options_init(&o);
    o.devices = 4;
    must(cleave_plan_make(model, &o, NULL, &plan, &error), "plan", &error);
    for (int i = 0; i < N_THREADS; i++) {
        ids[i] = i;
        if (pthread_create(&threads[i], NULL, work, &ids[i]) != 0)
            return 1;
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    cleave_plan_free(plan);
    cleave_intra_op_problem_free(intra_op);
    cleave_place_problem_free(place);
    cleave_model_free(model);
    return 0;
}
