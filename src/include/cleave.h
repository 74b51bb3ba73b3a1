/* cleave.h - the public API, the whole of it.
 *
 * Cleave reads an ONNX model and a description of a cluster, finds how to run the one on the other,
 * and writes the plan back into the model as standard multi-device annotations.
 *
 *     cleave_model *model = NULL;                   cleave_error error;
 *     cleave_plan *plan = NULL;                     cleave_plan_options options;
 *     cleave_plan_options_init(&options);
 *     if (cleave_model_open("m.onnx", NULL, &model, &error) == CLEAVE_OK &&
 *         cleave_plan_make(model, &options, NULL, &plan, &error) == CLEAVE_OK)
 *         cleave_annotate(model, plan, NULL, "m.sharded.onnx", NULL, &error);
 *     cleave_plan_free(plan);
 *     cleave_model_free(model);
 *
 * Errors. Every call that can fail returns a cleave_status and fills a cleave_error (NULL is fine):
 * a code and one sentence that names the thing, the value and what was expected. Results are
 * written only on success. "There is no plan" is an outcome, CLEAVE_NO_PLAN: the result is given
 * all the same, and its report says how much is missing where, or which rules contradict each
 * other.
 *
 * Ownership. What a call gives through a ret_ parameter is the caller's, to be given back with the
 * matching _free, which takes NULL too. An object needs nothing of those that it was made of: a
 * plan outlives its model, a solution its problem, a verification its plan and model. Strings and
 * reports that functions return belong to the object asked and live as long as it. Strings given to
 * a call are copied where they are needed later.
 *
 * Options. A struct of options begins with its size, and 0 or NULL in every other field is the
 * default; cleave_X_options_init() sets both. Later versions add fields at the end: a program built
 * for an older header runs with a newer library, and with an older one as long as it leaves alone
 * what that does not know (CLEAVE_EUSAGE otherwise). NULL for options is all defaults.
 *
 * Control. Every call that may take long takes a cleave_control: allocator, stop, progress, notes.
 *
 * Threads. No global state. One thread at a time may use an object; a cleave_model may be read by
 * many calls at once. The library never prints, exits, aborts or installs signal handlers.
 *
 * Units. Sizes are bytes, times are seconds, rates are per second, unless a name says otherwise;
 * parts of a whole are 0 to 1.
 *
 * Before 1.0 a minor version may change any of this; CHANGELOG.md says what.
 */
#ifndef CLEAVE_H
#define CLEAVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CLEAVE_API __attribute__((visibility("default")))
#else
#define CLEAVE_API
#endif

/* -- version -- */

#define CLEAVE_VERSION_MAJOR 0
#define CLEAVE_VERSION_MINOR 3
#define CLEAVE_VERSION_PATCH 1
/* To be compared: 0x000301 is 0.3.1. */
#define CLEAVE_VERSION_NUMBER                                                                      \
    ((CLEAVE_VERSION_MAJOR << 16) | (CLEAVE_VERSION_MINOR << 8) | CLEAVE_VERSION_PATCH)

/* Of the library that runs, which may be another than that of the header. */
CLEAVE_API const char *cleave_version(void); /* "0.3.1" */
CLEAVE_API unsigned cleave_version_number(void);

/* -- status and errors -- */

typedef enum {
    CLEAVE_OK = 0,
    CLEAVE_NO_PLAN = 1, /* an outcome: nothing fits or satisfies the rules, nothing compiled, or no
                         * solution was found in time */
    CLEAVE_EUSAGE = 2,  /* the request is wrong */
    CLEAVE_EINPUT = 3,  /* the model, plan or description is not valid */
    CLEAVE_EUNSUPPORTED = 4, /* valid, but uses something not supported here */
    CLEAVE_ELIMIT = 5,       /* valid, but larger than what is handled */
    CLEAVE_EIO = 6,          /* could not read or write */
    CLEAVE_ENOMEM = 7,
    CLEAVE_ECANCELED = 8, /* the caller's stop() said so */
    CLEAVE_EINTERNAL = 9  /* our fault */
} cleave_status;

/* "ok", "no plan", "usage", "input", "unsupported", "limit", "io", "memory", "canceled",
 * "internal"; "unknown" for any other number. */
CLEAVE_API const char *cleave_status_name(cleave_status status);

typedef struct {
    cleave_status status;
    char message[512]; /* one sentence, no trailing newline; "" for CLEAVE_OK */
} cleave_error;

/* -- control of a call -- */

/* realloc-shaped: p NULL allocates, size 0 frees; may be called from several threads. All memory of
 * ours comes from it (protobuf-c's too); cJSON, libuv and GLPK use malloc. */
typedef struct {
    void *(*resize)(void *ctx, void *p, size_t size);
    void *ctx;
} cleave_allocator;

/* Of a search while it runs. Belongs to the library; fields may be added at the end. */
typedef struct {
    const char *method; /* that found the last better solution or bound; "" before the first */
    int found;          /* a solution is known */
    double objective;   /* of the best solution; infinite before the first. A plan's: seconds */
    double bound;       /* no solution has less: proven; 0: nothing is known */
    int candidates_judged, candidates_waiting; /* where a compiler judges them; else 0 */
    double elapsed_s;
    double left_s; /* an estimate; negative: not known */
} cleave_progress;

/* What a report has. */
typedef enum {
    CLEAVE_REPORT_BOTH = 0,
    CLEAVE_REPORT_TEXT = 1,
    CLEAVE_REPORT_JSON = 2
} cleave_report_form;

typedef struct {
    uint32_t size; /* sizeof(cleave_control): cleave_control_init() */
    /* Of objects that the call opens; NULL: malloc. Calls on an object use the object's. Copied. */
    const cleave_allocator *allocator;
    /* Asked often, first when the call begins; not 0 ends the call: a search gives the best
     * solution so far, or CLEAVE_ECANCELED before the first; all other calls give CLEAVE_ECANCELED
     * and leave no file. May be asked on a thread of the library's while external programs run. */
    int (*stop)(void *ctx);
    /* Each better solution or bound, each batch of candidates; on the calling thread. Of
     * cleave_plan_make(), while whole operators are searched: plans that split operators are not
     * shown, and may have less than the bound. */
    void (*progress)(void *ctx, const cleave_progress *progress);
    /* A sentence for each thing that is legal, and may be other than was meant; on the calling
     * thread. */
    void (*note)(void *ctx, const char *sentence);
    void *ctx; /* of these three */
    /* Of cleave_model_inspect(), cleave_model_shards(), cleave_rules() and cleave_clusters(), whose
     * reports may be long: only this is made, and the other is NULL. Reports of other calls have
     * both. */
    cleave_report_form report;
    /* Of the text of reports: how many columns their tables have, 40 to 1000; 0: 80. Names are cut
     * so that tables fit; sentences may be longer. */
    int report_columns;
    /* Not 0: text of reports has the escape sequences by which terminals show colours (ECMA-48):
     * whether a plan fits, heads of tables, and numbers that deserve a look. */
    int report_colour;
} cleave_control;

static inline void cleave_control_init(cleave_control *control)
{
    memset(control, 0, sizeof *control);
    control->size = (uint32_t)sizeof *control;
}

/* -- reports -- */

/* What an object or a call has to say: for people, and the same as JSON. */
typedef struct cleave_report cleave_report;

/* NULL: it was not asked for (cleave_control.report). */
CLEAVE_API const char *cleave_report_text(const cleave_report *report);
/* One JSON object, NUL-terminated; *ret_size (may be NULL) without the NUL. Its schema is in
 * docs/formats. NULL: it was not asked for. */
CLEAVE_API const char *cleave_report_json(const cleave_report *report, size_t *ret_size);
/* Writes the JSON under a temporary name and renames it. */
CLEAVE_API cleave_status cleave_report_save(const cleave_report *report, const char *path,
                                            cleave_error *error);
/* Of those that a call gave through ret_report; a report that belongs to an object goes with it. */
CLEAVE_API void cleave_report_free(cleave_report *report);

/* -- words that objects share -- */

/* What is to be least. */
typedef enum {
    CLEAVE_LATENCY = 0,    /* time of one run; until the last node ends */
    CLEAVE_THROUGHPUT = 1, /* time between runs; load of the busiest device */
    CLEAVE_DEVICES = 2     /* number of devices, and on so many the latency */
} cleave_objective;

/* "latency", "throughput", "devices" */
CLEAVE_API const char *cleave_objective_name(cleave_objective objective);

/* Why a search ended. */
typedef enum {
    CLEAVE_END_UNKNOWN = 0,    /* of a plan made by hand or read from a file that does not say */
    CLEAVE_END_OPTIMAL = 1,    /* proven */
    CLEAVE_END_GAP = 2,        /* as near to the bound as asked */
    CLEAVE_END_INFEASIBLE = 3, /* proven: there is no solution */
    CLEAVE_END_SEARCHED = 4,   /* nothing more to try */
    CLEAVE_END_DEADLINE = 5,
    CLEAVE_END_STOPPED = 6,    /* by the caller */
    CLEAVE_END_CANDIDATES = 7, /* max_candidates were judged */
    CLEAVE_END_FIRST_FIT = 8   /* the first that fits was asked for */
} cleave_end;

/* "unknown", "optimal", "gap", "infeasible", "searched", "deadline", "stopped", "limit", "first
 * fit" */
CLEAVE_API const char *cleave_end_name(cleave_end end);

/* -- models -- */

typedef struct cleave_model cleave_model;

/* Maps the file; weights are not read. The file must not change while the model is open.
 * CLEAVE_EIO: it cannot be read; CLEAVE_EINPUT: it is not a valid model. O(operators + tensors). */
CLEAVE_API cleave_status cleave_model_open(const char *path, const cleave_control *control,
                                           cleave_model **ret_model, cleave_error *error);
/* bytes must stay until cleave_model_free. folder: where external data is looked for; may be NULL.
 */
CLEAVE_API cleave_status cleave_model_open_bytes(const void *bytes, size_t size, const char *folder,
                                                 const cleave_control *control,
                                                 cleave_model **ret_model, cleave_error *error);
CLEAVE_API void cleave_model_free(cleave_model *model);

/* Gives a symbolic dimension a size: ("batch", 8); a dimension without a name is "input[axis]". To
 * be called before anything that needs shapes; unknown symbols are CLEAVE_EINPUT. Sizes that follow
 * from others need not be given; whatever needs shapes gives CLEAVE_EINPUT where sizes contradict
 * each other. */
CLEAVE_API cleave_status cleave_model_bind(cleave_model *model, const char *symbol, int64_t size,
                                           cleave_error *error);
/* Things that are legal but unwise, found while reading. NULL past the last. */
CLEAVE_API const char *cleave_model_warning(const cleave_model *model, int i);
/* Files that hold weights, as the model names them: relative to its folder, also after it is
 * written to another one. NULL past the last. */
CLEAVE_API const char *cleave_model_external(const cleave_model *model, int i);

/* What `cleave inspect` shows (docs/formats/inspect.schema.json). O(operators + tensors). */
CLEAVE_API cleave_status cleave_model_inspect(cleave_model *model, const cleave_control *control,
                                              cleave_report **ret_report, cleave_error *error);

typedef struct {
    uint32_t size;
    /* Says how many tokens the caches of the model may hold beside its weights on so many devices
     * of a cluster, where one of these five is given; as in cleave_plan_options. */
    const char *cluster;
    const char *configs_path;
    int devices; /* 0: all of the cluster */
    int64_t memory_bytes;
    const char *headroom;
} cleave_inspect_options;

static inline void cleave_inspect_options_init(cleave_inspect_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* The same, and what fits. CLEAVE_EUSAGE: an option is out of range; CLEAVE_EINPUT: the cluster
 * makes no sense. */
CLEAVE_API cleave_status cleave_model_inspect_with(cleave_model *model,
                                                   const cleave_inspect_options *options,
                                                   const cleave_control *control,
                                                   cleave_report **ret_report, cleave_error *error);

/* What to do with an axis that does not divide into its shards. */
typedef enum {
    CLEAVE_UNEVEN_CEIL = 0, /* size / shards, rounded up, each; the last ones smaller or empty */
    CLEAVE_UNEVEN_BALANCED = 1, /* sizes differ by at most 1, larger ones first */
    CLEAVE_UNEVEN_REFUSE = 2    /* count it as wrong */
} cleave_uneven;

typedef struct {
    uint32_t size;
    const char *configuration; /* only that one; NULL: all */
    cleave_uneven uneven;
    int show_tiles; /* say each sharding in the notation of tensor dictionaries too
                       (docs/formats/tiles.md) */
    /* Whose limits to check: a name of configs/backends, or a file of your own (docs/sharding.md).
     * What it does not support is listed apart from what is wrong. NULL: nobody's. */
    const char *backend;
    const char *configs_path; /* as in cleave_plan_options */
    /* Only what is said of nodes and of tensors whose whole names are as these patterns say ('*':
     * any characters, '?': one); NULL: of all. What is not shown does not count as wrong. */
    const char *node, *tensor;
    /* Not 0: the text lists each part of each tensor, as it does with node, tensor or show_tiles;
     * 0: it sums up, layers that are annotated alike as one. JSON is always complete. */
    int all;
} cleave_shards_options;

static inline void cleave_shards_options_init(cleave_shards_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* What `cleave shards` shows: the part of each annotated tensor on each device, what follows from
 * the annotations, and what is wrong with them (docs/formats/shards.schema.json). Wrong annotations
 * are no failure: *ret_wrong (may be NULL) is how many there are, with those that the backend does
 * not support. CLEAVE_EUSAGE: there is no such configuration or backend, or a pattern matches
 * nothing that is annotated; CLEAVE_ELIMIT: more shards
 * than a list is meant for. */
CLEAVE_API cleave_status cleave_model_shards(cleave_model *model,
                                             const cleave_shards_options *options,
                                             const cleave_control *control,
                                             cleave_report **ret_report, int *ret_wrong,
                                             cleave_error *error);

/* What `cleave rules` shows: how the operators of that name ("MatMul", "com.microsoft.Attention")
 * may be split over devices, with all conditions; NULL: all operators. CLEAVE_EUSAGE: there is no
 * such operator. */
CLEAVE_API cleave_status cleave_rules(const char *operator_name, const cleave_control *control,
                                      cleave_report **ret_report, cleave_error *error);

typedef struct {
    uint32_t size;
    const char *cluster;      /* only this one, with all its numbers and their sources: a name or a
                               * path; NULL: all of configs, as a list */
    const char *configs_path; /* as in cleave_plan_options */
} cleave_clusters_options;

static inline void cleave_clusters_options_init(cleave_clusters_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* What `cleave clusters` shows: the clusters that there are, by name, their devices and what joins
 * these (docs/formats/clusters.schema.json). A description that is not valid is named in the list
 * and does not hide the others; of the one that is asked for it is CLEAVE_EINPUT. CLEAVE_EUSAGE:
 * there is no such cluster, or none at all; CLEAVE_EIO: its file cannot be read. O(files). */
CLEAVE_API cleave_status cleave_clusters(const cleave_clusters_options *options,
                                         const cleave_control *control, cleave_report **ret_report,
                                         cleave_error *error);

/* -- planning -- */

typedef struct cleave_plan cleave_plan;

/* A candidate for a compiler of the host, as docs/compiler-protocol.md has it for a command: paths
 * of files that are gone after the call. */
typedef struct {
    uint32_t size;
    const char *model, *plan, *options; /* CLEAVE_MODEL, CLEAVE_PLAN, CLEAVE_OPTIONS */
    int devices;
    int worker; /* 0 to jobs - 1; no two calls have the same number at one time */
} cleave_candidate;

/* Writes what a command would answer, JSON text that ends in 0, into answer, and returns 0. Any
 * other value: the candidate failed, and what is in answer says why. Called on threads of the
 * library, by several at once; it is waited for, however long it takes. */
typedef int (*cleave_compile)(void *ctx, const cleave_candidate *candidate, char *answer,
                              size_t capacity);

typedef struct {
    uint32_t size;
    const char *cluster;      /* name or path; NULL: "dgx-h100" */
    const char *configs_path; /* folders with clusters/ and devices/, colon-separated; NULL: ours,
                               * which are looked for beside the library first */
    int devices;              /* exactly the first so many; 0: as many of the cluster as are best */
    int64_t memory_bytes;     /* of each device, all of it for tensors; 0: as described */
    cleave_objective objective;
    double deadline_s; /* the best plan found by then; at most 1e9. 0: none, and the plan depends on
                        * nothing but the input. The first candidates are judged in any case */
    double gap; /* enough when (objective - bound) / objective is no more; below 1; 0: to the end */
    int jobs;   /* workers, at most 1024; 0: 2. The plan does not depend on it */
    int max_candidates;    /* 0: the search decides */
    int first_fit;         /* stop at the first plan that compiles */
    int documented_search; /* the search that PopRT documents instead of ours; to compare */

    /* Shards inside operators: the devices are dealt out to stages of equal form, and the tensors
     * of a stage are split over its devices. mesh: that form, "2x8" or "dp=2xtp=8";
     * max_tensor_devices: each stage has at most so many, and 1 is whole operators; stages: exactly
     * so many. All NULL and 0: what is best, but for whole operators where sharding_nodes, a
     * compiler, first_fit, max_candidates, the documented search or a rule that places operators on
     * devices is given, and for more than 100,000 operators. */
    const char *mesh;
    int max_tensor_devices;
    int stages;
    /* The outermost axis of the mesh (the only one, if it has one) splits nothing but the batch,
     * the leading dimension of the model's inputs. */
    int data_parallel;
    /* The part of the bytes' time of each collective that computation hides. Assumes that each has
     * independent computation beside it that lasts as long, and that neither slows the other;
     * latencies are never hidden. 0: collectives and computation take turns. */
    double overlap;

    /* Rules that the plan has to satisfy, as JSON text (docs/formats/constraints.md). Where they
     * contradict each other, or sharding_nodes break them, no plan is found; the plan's notes say
     * which. NULL: none. */
    const char *constraints;
    /* Manual mode: cut here instead of searching. "NODE=DEVICE,..." or JSON, {"sharding_info":
     * {"NODE": DEVICE}, "pipelining_info": {"NODE": STAGE}}; the rest goes to the next device.
     * NULL: search. */
    const char *sharding_nodes;
    /* A run of the pipeline has so many micro-batches, each a run of the model as it is; what is in
     * flight has to fit. At most 1000000; 0: one for CLEAVE_LATENCY; for CLEAVE_THROUGHPUT enough
     * to fill the pipeline, fewer where memory is short. */
    int microbatches;
    /* Of a training graph, the first operators of the backward pass, separated by commas; what
     * reads from them is backward too. "none": the graph has no such pass. NULL: known by names and
     * types of operators (docs/cost-model.md). For CLEAVE_THROUGHPUT each device gets the backward
     * operators of its layers. */
    const char *backward;

    const char *compiler;      /* judges candidates: a command, run in a folder of its own
                                * (docs/compiler-protocol.md); NULL: compile, or built in */
    double compiler_timeout_s; /* for one candidate, at most 1e9; 0: 600 */

    /* Who runs the model, and so which operators are one kernel: a name of configs/runtimes or a
     * path; "none": each operator is a kernel. NULL: the one that all devices of the cluster name,
     * "none" where there is no such one. */
    const char *runtime;
    /* Hypothetical: times and memory as if the file had stored the weights of its products, or
     * caches of keys and values (with a runtime that knows them), as "bf16", "fp8", "int8", "int4"
     * or "nvfp4"; with bf16 all FLOAT tensors, activations too. NULL: as they are. The plan says
     * so; it is of no use for the file. */
    const char *weights, *kv;
    /* What plans leave free on each device: a part of its memory, "10%", or a size, "8GiB"; "0":
     * nothing. It has to leave something on a device. Holds for memory_bytes too. NULL: what the
     * description of the device says, 10 % where it says nothing; of memory_bytes nothing. */
    const char *headroom;
    /* The plan is there exactly so many times, on devices of their own, and requests go round. 0:
     * by CLEAVE_THROUGHPUT as many as are best, unless one of those is given that keep operators
     * whole (mesh), or the model is trained; else 1. */
    int copies;
    /* What a plan of more devices, memory, collectives or axes has to be better by, a part of the
     * objective: of those nearly as good as the best, the one is taken that needs least. Below 1;
     * 0: 0.02; negative: nothing, the best is taken. */
    double worth;
    /* The best plans of so many forms of parallelism are compared in the report. 0: 5; negative:
     * none. */
    int alternatives;
    int poprt_report; /* the report ends in the lines of PopRT's auto_sharding.py */
    /* Judges candidates in place of the command; NULL: none. Both: CLEAVE_EUSAGE. */
    cleave_compile compile;
    void *compile_ctx;
    /* Who is to run the plan: a name of configs/backends ("vllm"), or a file of your own
     * (docs/sharding.md). Only plans that it runs are looked for; the report has the command line
     * and what the restriction costs. Goes without data_parallel, constraints, sharding_nodes and
     * compiler. NULL: anyone. */
    const char *backend;
    /* For CLEAVE_THROUGHPUT: the symbol of the model whose size is to be found, so that most
     * samples are done in a second; the first dimension of some input, without a size. NULL: the
     * one that is the first dimension of all inputs, where it has no size; else none. */
    const char *batch_symbol;
    /* No plan of a larger latency is wanted; at most 1e9. 0: any. With CLEAVE_DEVICES, as few
     * devices as reach it. */
    double max_latency_s;
} cleave_plan_options;

static inline void cleave_plan_options_init(cleave_plan_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* CLEAVE_OK with a plan that fits, or CLEAVE_NO_PLAN with the nearest one. CLEAVE_EUSAGE: an option
 * is out of range, or goes with no plan; CLEAVE_EINPUT: the cluster, the rules or the model's
 * shapes make no sense. Same model and options, no deadline: the same plan. */
CLEAVE_API cleave_status cleave_plan_make(cleave_model *model, const cleave_plan_options *options,
                                          const cleave_control *control, cleave_plan **ret_plan,
                                          cleave_error *error);
/* A plan file for this model (docs/formats/plan.md), or the plan of a folder of cleave_lower();
 * CLEAVE_EINPUT when it was made for another, or is not valid; CLEAVE_EIO. */
CLEAVE_API cleave_status cleave_plan_load(cleave_model *model, const char *path,
                                          const cleave_control *control, cleave_plan **ret_plan,
                                          cleave_error *error);
/* The plan that the annotations of a file are, whoever wrote them, for the model that was annotated
 * (docs/verifying.md). annotated needs its symbols bound; configuration: NULL where the file has
 * one only. CLEAVE_EINPUT: the two differ in more than annotations, or an annotation is malformed
 * or contradicts others; CLEAVE_EUNSUPPORTED: no plan is like that. Weights in other files are not
 * compared. What annotations do not say, times, memory, a bound, is not known of such a plan. */
CLEAVE_API cleave_status cleave_plan_of_annotations(cleave_model *model, cleave_model *annotated,
                                                    const char *configuration,
                                                    const cleave_control *control,
                                                    cleave_plan **ret_plan, cleave_error *error);
CLEAVE_API void cleave_plan_free(cleave_plan *plan);

/* The report; its JSON is the plan file (docs/formats/plan.schema.json). */
CLEAVE_API const cleave_report *cleave_plan_report(const cleave_plan *plan);

CLEAVE_API int cleave_plan_fits(const cleave_plan *plan);
CLEAVE_API int cleave_plan_devices(const cleave_plan *plan);
CLEAVE_API int cleave_plan_stages(const cleave_plan *plan);
/* How many times the plan is there, each on devices of its own; at least 1. */
CLEAVE_API int cleave_plan_copies(const cleave_plan *plan);
/* The size of batch_symbol: what it was chosen to be, samples in each run; 0: nothing was to be
 * chosen. */
CLEAVE_API int64_t cleave_plan_batch(const cleave_plan *plan);
CLEAVE_API double cleave_plan_latency_s(const cleave_plan *plan);
/* Runs of the model a second as a pipeline, of all copies. */
CLEAVE_API double cleave_plan_throughput(const cleave_plan *plan);
/* Proven: no plan of the same units has less latency, or less time between runs where the objective
 * is throughput. Negative: not known. */
CLEAVE_API double cleave_plan_bound_s(const cleave_plan *plan);
/* (objective - bound) / objective; negative: not known. */
CLEAVE_API double cleave_plan_gap(const cleave_plan *plan);
CLEAVE_API cleave_end cleave_plan_end(const cleave_plan *plan);
/* Micro-batches of a run of the pipeline, at least 1, and the time of all of them, from the start
 * of the first to the end of the last; negative: not known. */
CLEAVE_API int cleave_plan_microbatches(const cleave_plan *plan);
CLEAVE_API double cleave_plan_run_s(const cleave_plan *plan);
/* Parts of that: until all stages have started, and since the first one is done; negative: not
 * known. */
CLEAVE_API double cleave_plan_fill_s(const cleave_plan *plan);
CLEAVE_API double cleave_plan_drain_s(const cleave_plan *plan);
/* How much of the run is lost against the steady state; negative: not known. */
CLEAVE_API double cleave_plan_bubble(const cleave_plan *plan);
/* Memory on a device for tensors of further micro-batches, part of its peak; negative: not known,
 * or no such device. */
CLEAVE_API int64_t cleave_plan_in_flight_bytes(const cleave_plan *plan, int device);
/* The mesh of each stage, where operators are split over several devices: "dp=2xtp=4"; "" where a
 * stage is one device. */
CLEAVE_API const char *cleave_plan_mesh(const cleave_plan *plan);
/* Devices of a stage: the product of the mesh's axes, or 1. */
CLEAVE_API int cleave_plan_mesh_devices(const cleave_plan *plan);
/* Communication between the devices of a mesh in one run, one device of each stage counted: how
 * many collectives, the bytes that they send and their time; negative: not known. */
CLEAVE_API int cleave_plan_collectives(const cleave_plan *plan);
CLEAVE_API int64_t cleave_plan_collective_bytes(const cleave_plan *plan);
CLEAVE_API double cleave_plan_collective_s(const cleave_plan *plan);
/* What the plan does, in the words that people use: "data parallel", "Megatron column"; the axis of
 * the mesh ("" for none) and how often go to *ret_axis and *ret_count, which may be NULL. NULL past
 * the last. */
CLEAVE_API const char *cleave_plan_strategy(const cleave_plan *plan, int i, const char **ret_axis,
                                            int *ret_count);
/* How the i-th node of the file's main graph is split: "tp=n", by axis the factor of its sharding
 * rule;
 * "" where it is not, NULL past the end. */
CLEAVE_API const char *cleave_plan_split_of(const cleave_plan *plan, int64_t node);
/* Device of the i-th node of the file's main graph, the first of its mesh; -1 past the end. */
CLEAVE_API int cleave_plan_device_of(const cleave_plan *plan, int64_t node);

/* -- placing: the device-placement problem as numbers, without a model (docs/formats/workload.md)
 * -- */

typedef struct cleave_place_problem cleave_place_problem;
typedef struct cleave_place_solution cleave_place_solution;

/* Reads the file. CLEAVE_EIO; CLEAVE_EINPUT: it is not a workload; CLEAVE_ELIMIT: of more than 1
 * GiB. */
CLEAVE_API cleave_status cleave_place_problem_open(const char *path, const cleave_control *control,
                                                   cleave_place_problem **ret_problem,
                                                   cleave_error *error);
CLEAVE_API void cleave_place_problem_free(cleave_place_problem *problem);

typedef struct {
    uint32_t size;
    cleave_objective objective;
    int free_assignment; /* any node anywhere; 0: the devices form a line (contiguous) */
    double max_load;     /* CLEAVE_DEVICES: no load above it, in the unit of the file; 0: any */
    double deadline_s; /* at most 1e9; 0: none, and the solution depends on input and seed alone */
    double gap;        /* as in cleave_plan_options */
    uint64_t seed;
} cleave_place_options;

/* The objective is CLEAVE_THROUGHPUT after it. */
static inline void cleave_place_options_init(cleave_place_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
    options->objective = CLEAVE_THROUGHPUT;
}

/* CLEAVE_OK with the best solution found; CLEAVE_NO_PLAN, and an object without one, when there is
 * no legal solution, or none was found in time. */
CLEAVE_API cleave_status cleave_place_solve(cleave_place_problem *problem,
                                            const cleave_place_options *options,
                                            const cleave_control *control,
                                            cleave_place_solution **ret_solution,
                                            cleave_error *error);
/* Writes the problem as a mixed 0/1 program in free MPS, for any solver of such programs: its
 * optimum is the least load of the busiest device. Of options free_assignment counts; another
 * objective than throughput is CLEAVE_EUSAGE, a program too large to be of use CLEAVE_ELIMIT. */
CLEAVE_API cleave_status cleave_place_problem_save_mps(cleave_place_problem *problem,
                                                       const cleave_place_options *options,
                                                       const char *path,
                                                       const cleave_control *control,
                                                       cleave_error *error);
CLEAVE_API void cleave_place_solution_free(cleave_place_solution *solution);

/* docs/formats/place.schema.json */
CLEAVE_API const cleave_report *cleave_place_solution_report(const cleave_place_solution *solution);
CLEAVE_API int cleave_place_solution_found(const cleave_place_solution *solution);
/* In the unit of the file; infinite without a solution. */
CLEAVE_API double cleave_place_solution_objective(const cleave_place_solution *solution);
/* Infinite when there is proof that there is no solution. */
CLEAVE_API double cleave_place_solution_bound(const cleave_place_solution *solution);
/* (objective - bound) / objective; negative without a solution. */
CLEAVE_API double cleave_place_solution_gap(const cleave_place_solution *solution);
CLEAVE_API cleave_end cleave_place_solution_end(const cleave_place_solution *solution);
/* Device of the i-th node of the file; -1 past the end or without a solution. */
CLEAVE_API int cleave_place_solution_device_of(const cleave_place_solution *solution, int64_t node);

/* -- intra-operator problems: a choice for each node, as numbers (docs/formats/strategy.md) -- */

/* Costs are whole numbers whose sum may need 128 bits, so totals are given as decimal text. */
typedef struct cleave_intra_op_problem cleave_intra_op_problem;
typedef struct cleave_intra_op_solution cleave_intra_op_solution;

/* Reads the file from front to back, without holding it. CLEAVE_EIO; CLEAVE_EINPUT: it is not such
 * a problem. */
CLEAVE_API cleave_status cleave_intra_op_problem_open(const char *path,
                                                      const cleave_control *control,
                                                      cleave_intra_op_problem **ret_problem,
                                                      cleave_error *error);
CLEAVE_API void cleave_intra_op_problem_free(cleave_intra_op_problem *problem);
CLEAVE_API int64_t cleave_intra_op_problem_nodes(const cleave_intra_op_problem *problem);
CLEAVE_API int64_t cleave_intra_op_problem_edges(const cleave_intra_op_problem *problem);

typedef struct {
    uint32_t size;
    double deadline_s; /* at most 1e9; 0: none, and the solution depends on input and seed alone */
    double gap;        /* as in cleave_plan_options */
    int jobs;          /* threads, at most 1024; 0: 2 */
    uint64_t seed;
} cleave_intra_op_options;

static inline void cleave_intra_op_options_init(cleave_intra_op_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* CLEAVE_OK with the best solution found; CLEAVE_NO_PLAN, and an object without one, when no
 * choices are within the memory limit, or none were found in time. */
CLEAVE_API cleave_status cleave_intra_op_solve(cleave_intra_op_problem *problem,
                                               const cleave_intra_op_options *options,
                                               const cleave_control *control,
                                               cleave_intra_op_solution **ret_solution,
                                               cleave_error *error);
CLEAVE_API void cleave_intra_op_solution_free(cleave_intra_op_solution *solution);

/* docs/formats/solve.schema.json */
CLEAVE_API const cleave_report *
cleave_intra_op_solution_report(const cleave_intra_op_solution *solution);
CLEAVE_API int cleave_intra_op_solution_found(const cleave_intra_op_solution *solution);
/* All digits; "" without a solution. */
CLEAVE_API const char *cleave_intra_op_solution_objective(const cleave_intra_op_solution *solution);
/* All digits; "" when there is proof that there is no solution. */
CLEAVE_API const char *cleave_intra_op_solution_bound(const cleave_intra_op_solution *solution);
/* (objective - bound) / objective; negative without a solution. */
CLEAVE_API double cleave_intra_op_solution_gap(const cleave_intra_op_solution *solution);
CLEAVE_API cleave_end cleave_intra_op_solution_end(const cleave_intra_op_solution *solution);
/* Choice of the i-th node of the file, from 0; -1 past the end or without a solution. */
CLEAVE_API int cleave_intra_op_solution_choice_of(const cleave_intra_op_solution *solution,
                                                  int64_t node);

/* -- shards of weights in files -- */

/* How weights are written. */
typedef enum {
    CLEAVE_WEIGHTS_EXTERNAL = 0,    /* a file of bare bytes a device, as ONNX's external data */
    CLEAVE_WEIGHTS_SAFETENSORS = 1, /* a folder of safetensors a device, with an index where there
                                     * are several */
    CLEAVE_WEIGHTS_RANGES = 2 /* no weights: JSON that says which bytes of the model's files are
                               * whose */
} cleave_weights;

typedef enum { CLEAVE_FILL_NONE = 0, CLEAVE_FILL_ZEROS = 1, CLEAVE_FILL_ONES = 2 } cleave_fill;

typedef struct {
    uint32_t size;
    cleave_weights weights;
    /* cleave_shard: CLEAVE_FILL_ZEROS and _ONES make shards of that value without reading any
     * weight, also of weights that are not there */
    cleave_fill fill;
    int64_t max_file_bytes; /* safetensors: of the tensors of one file, but for one that is larger;
                               0: any */
} cleave_shard_options;

static inline void cleave_shard_options_init(cleave_shard_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* Cuts the weights of a model into the shards of a layout, a JSON file that says which device has
 * which part of which weight (docs/formats/weights.md) or a placement spec
 * (docs/formats/placement-spec.md), and writes them into a new folder. The folder is there as a
 * whole or not at all; one that exists is CLEAVE_EUSAGE, unless it is empty. Weights are streamed,
 * never held, and the model is only read. Notes: names that the model has not, weights without a
 * spec, specs that were skipped. */
CLEAVE_API cleave_status cleave_shard(cleave_model *model, const char *layout, const char *folder,
                                      const cleave_shard_options *options,
                                      const cleave_control *control, cleave_error *error);
/* From the shards of a folder to those of another layout, of any number of devices, into the folder
 * to; NULL: nothing is written. The model is not needed. *ret_report (may be NULL): what has to
 * move between which devices (docs/formats/reshard.schema.json). A folder that is damaged is
 * CLEAVE_EINPUT. */
CLEAVE_API cleave_status cleave_reshard(const char *folder, const char *layout, const char *to,
                                        const cleave_shard_options *options,
                                        const cleave_control *control, cleave_report **ret_report,
                                        cleave_error *error);
/* The model that was sharded, byte for byte, to path, and the files that held its weights beside
 * it, which must not be there yet. Checksums are verified. */
CLEAVE_API cleave_status cleave_collect(const char *folder, const char *path,
                                        const cleave_control *control, cleave_error *error);

/* -- annotating -- */

/* To be asked before a long search: may a file be written at path? CLEAVE_EUSAGE when it would take
 * the place of the model's file or of its external data, which the two calls below refuse as well
 * (model may be NULL: there is none); CLEAVE_EIO when it cannot be made there. */
CLEAVE_API cleave_status cleave_check_output(cleave_model *model, const char *path,
                                             cleave_error *error);

typedef struct {
    uint32_t size;
    /* Annotating raises an IR version below 11 to 11, the first that knows annotations. Not 0: it
     * stays as it is, for readers that look at the number alone. */
    int keep_ir_version;
} cleave_annotate_options;

static inline void cleave_annotate_options_init(cleave_annotate_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* Writes the model with the plan's annotations; every other byte as it was. The model's own files
 * are never written. CLEAVE_EUSAGE: the plan is for another model, or path is one of those files.
 */
CLEAVE_API cleave_status cleave_annotate(cleave_model *model, const cleave_plan *plan,
                                         const cleave_annotate_options *options, const char *path,
                                         const cleave_control *control, cleave_error *error);
/* Both files of a plan: the model as cleave_annotate() writes it, and the plan's JSON. They get
 * their names together or not at all, and no other writer's come between; where a program is killed
 * at that moment, the next call that opens or writes one of them does the rest, if they are in one
 * folder. CLEAVE_EUSAGE also for a path that is a pipe or a device. */
CLEAVE_API cleave_status cleave_plan_save(cleave_model *model, const cleave_plan *plan,
                                          const cleave_annotate_options *options,
                                          const char *model_path, const char *plan_path,
                                          const cleave_control *control, cleave_error *error);
/* Takes our annotations out again: the original, byte for byte. all != 0: anybody's annotations. A
 * model that has none of them is CLEAVE_EINPUT, and nothing is written. */
CLEAVE_API cleave_status cleave_strip(cleave_model *model, int all, const char *path,
                                      const cleave_control *control, cleave_error *error);

/* -- lowering -- */

/* What a plan is written as (docs/lowering.md). */
typedef enum {
    CLEAVE_FORM_STAGES = 0,      /* a model a stage, with whole operators */
    CLEAVE_FORM_DEVICES = 1,     /* a model a device, weights cut, with collectives as nodes */
    CLEAVE_FORM_EMULATE = 2,     /* one plain model in which all devices stand side by side */
    CLEAVE_FORM_ORT_OPTIONS = 3, /* the model for ONNX Runtime to place, and session options */
    CLEAVE_FORM_OLIVE = 4        /* the model with Olive's split assignments */
} cleave_form;

typedef enum { CLEAVE_COLLECTIVES_ORT = 0, CLEAVE_COLLECTIVES_TENSORRT = 1 } cleave_collectives;

/* "stages", "devices", "emulate", "ort-options", "olive"; "ort", "tensorrt"; "external",
 * "safetensors", "ranges" */
CLEAVE_API const char *cleave_form_name(cleave_form form);
CLEAVE_API const char *cleave_collectives_name(cleave_collectives collectives);
CLEAVE_API const char *cleave_weights_name(cleave_weights weights);

typedef struct {
    uint32_t size;
    cleave_form form;
    cleave_collectives collectives; /* dialect of those of CLEAVE_FORM_DEVICES */
    cleave_weights weights;
} cleave_lower_options;

static inline void cleave_lower_options_init(cleave_lower_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* Writes the plan as a folder of models that runtimes execute, with their weights and a manifest.
 * folder must not be there yet, or be empty; it is there as a whole or not at all. *ret_report (may
 * be NULL): how many models, files, collectives and transfers (docs/formats/lower.schema.json).
 * CLEAVE_EINPUT: the plan does not go with the model's rules, or an operator cannot be lowered so;
 * the sentence names it. CLEAVE_EUSAGE: the plan is for another model. */
CLEAVE_API cleave_status cleave_lower(cleave_model *model, const cleave_plan *plan,
                                      const cleave_lower_options *options, const char *folder,
                                      const cleave_control *control, cleave_report **ret_report,
                                      cleave_error *error);

/* -- verifying -- */

typedef struct cleave_verification cleave_verification;

typedef enum {
    CLEAVE_VERDICT_AGREES = 0,      /* proven, and every form of it computes the model's numbers */
    CLEAVE_VERDICT_PROVEN = 1,      /* proven; nothing was run, or its numbers say nothing */
    CLEAVE_VERDICT_NOT_PROVEN = 2,  /* the proof fails; nothing was run */
    CLEAVE_VERDICT_DIFFERS = 3,     /* proven, and yet a form of it computes something else */
    CLEAVE_VERDICT_NOT_WRITTEN = 4, /* the plan, or a form of it, cannot be lowered */
    CLEAVE_VERDICT_DOES_NOT_RUN = 5 /* a form of it, or the model itself, does not run */
} cleave_verdict;

typedef struct {
    uint32_t size;
    int proof_only;         /* nothing is run */
    int all;                /* compare every tensor, not only the model's outputs */
    const char *model_path; /* of the model's file; NULL: nothing is run */
    const char *runner;     /* the program cleave-run; NULL: nothing is run */
    const char *inputs;  /* files, or a folder of files, with values of inputs; NULL: random ones */
    uint64_t seed;       /* of the random ones */
    const char *lowered; /* a folder of cleave_lower(), judged as it lies on disk; NULL: all forms
                            are made, run and removed */
} cleave_verify_options;

static inline void cleave_verify_options_init(cleave_verify_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* Shows that a plan computes what the model computes: by a proof, for models of any size, and by
 * running both on the same inputs (docs/verifying.md). No verdict is a failure: see
 * cleave_verification_verdict(). CLEAVE_EINPUT: the plan does not go with the model;
 * CLEAVE_EUNSUPPORTED: the model has nothing to run; CLEAVE_EIO: no runner, or no room for
 * temporary files; CLEAVE_EUSAGE: the plan is for another model. */
CLEAVE_API cleave_status cleave_verify(cleave_model *model, const cleave_plan *plan,
                                       const cleave_verify_options *options,
                                       const cleave_control *control,
                                       cleave_verification **ret_verification, cleave_error *error);
CLEAVE_API void cleave_verification_free(cleave_verification *verification);

/* docs/formats/verify.schema.json */
CLEAVE_API const cleave_report *cleave_verification_report(const cleave_verification *verification);
CLEAVE_API cleave_verdict cleave_verification_verdict(const cleave_verification *verification);
/* The same with why, as a sentence without a full stop: the last line of the report. */
CLEAVE_API const char *cleave_verification_conclusion(const cleave_verification *verification);

/* -- calibrating -- */

typedef struct {
    uint32_t size;
    const char *runner; /* the program cleave-run: a path, or a name that the shell finds; NULL:
                         * "cleave-run" */
    int devices;        /* that the cluster gets, 1 to 64; 0: 2 */
} cleave_calibrate_options;

static inline void cleave_calibrate_options_init(cleave_calibrate_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* Measures small models with cleave-run on this machine and writes what follows from their times as
 * a cluster of devices with one thread each, for cleave_plan_options.cluster (docs/calibration.md).
 * Takes some seconds. *ret_report (may be NULL): what was measured and how well it fits
 * (docs/formats/calibrate.schema.json). CLEAVE_EIO: the runner does not run, or path cannot be
 * written; CLEAVE_EINPUT: its answer makes no sense. */
CLEAVE_API cleave_status cleave_calibrate(const cleave_calibrate_options *options, const char *path,
                                          const cleave_control *control, cleave_report **ret_report,
                                          cleave_error *error);

typedef struct {
    uint32_t size;
    const char *device;       /* a name in configs, or a path; needed: its data sheet is a floor */
    const char *configs_path; /* folders with configs, colon-separated; NULL: the library's own */
    const char *source;       /* where the times are from, for the file; NULL: the folder */
    const char *date;         /* of them; NULL: "not given" */
    const char *library;      /* whose kernels they are; NULL: not said. Of collectives the rows say
                               * it */
    int keep;                 /* not 0: tables that the device has already, of kernels that the
                               * folder has no times of, are written too */
} cleave_measured_options;

static inline void cleave_measured_options_init(cleave_measured_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* Fits tables of times to those measured on a device (docs/calibration.md: the files of folder),
 * for the member "measured" of its description. path: where to write them; NULL: nowhere. Takes
 * about a second for 50000 rows. *ret_report (may be NULL): how far tables that were fitted without
 * every fifth row are off these (docs/formats/measured-fit.schema.json). CLEAVE_EINPUT: a file is
 * wrong, or none is there; the sentence names file and line. CLEAVE_EUSAGE: no such device. */
CLEAVE_API cleave_status cleave_measured_fit(const char *folder,
                                             const cleave_measured_options *options,
                                             const char *path, const cleave_control *control,
                                             cleave_report **ret_report, cleave_error *error);
/* How far the device's own tables are off the times of a folder; in the same form. CLEAVE_EUSAGE:
 * the device has none. */
CLEAVE_API cleave_status cleave_measured_score(const char *folder,
                                               const cleave_measured_options *options,
                                               const cleave_control *control,
                                               cleave_report **ret_report, cleave_error *error);

#ifdef __cplusplus
}
#endif

#endif
