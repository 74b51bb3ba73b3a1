/* cleave.h - the public API, the whole of it.
 *
 * Cleave reads an ONNX model and a description of a cluster, finds how to run the one on the other,
 * and writes the plan back into the model as standard multi-device annotations.
 *
 *     cleave_model *model;                          cleave_error error;
 *     cleave_plan_options options = CLEAVE_PLAN_OPTIONS;
 *     cleave_plan *plan;
 *     if (cleave_model_open("m.onnx", NULL, &model, &error) == CLEAVE_OK &&
 *         cleave_plan_make(model, &options, &plan, &error) == CLEAVE_OK)
 *         cleave_annotate(model, plan, "m.sharded.onnx", &error);
 *
 * Errors. Every call that can fail returns a cleave_status and fills a cleave_error (NULL is fine):
 * a code and one sentence that names the thing, the value and what was expected. Results are written
 * only on success. "No plan fits" is CLEAVE_NO_PLAN: the plan is still returned, and says how much
 * is missing where, why no candidate compiled, or which rules contradict each other.
 *
 * Ownership. What a call gives through a ret_ parameter is the caller's, to be given back with the
 * matching _free. Strings returned by functions belong to the object asked and live as long as it.
 *
 * Threads. No global state. An object may be used by one thread at a time; a cleave_model may be
 * read by many calls at once. The library never prints, exits, aborts or installs signal handlers.
 */
#ifndef CLEAVE_H
#define CLEAVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CLEAVE_API __attribute__((visibility("default")))
#else
#define CLEAVE_API
#endif

typedef enum {
    CLEAVE_OK = 0,
    CLEAVE_NO_PLAN,    /* an outcome: no plan fits the devices or obeys the rules, or none compiled */
    CLEAVE_EUSAGE,     /* the request is wrong */
    CLEAVE_EINPUT,     /* the model, plan or description is not valid */
    CLEAVE_EUNSUPPORTED, /* valid, but uses something not supported here */
    CLEAVE_EIO,        /* could not read or write */
    CLEAVE_ENOMEM,
    CLEAVE_ECANCELED,  /* the caller's callback said stop */
    CLEAVE_EINTERNAL   /* our fault */
} cleave_status;

typedef struct {
    cleave_status status;
    char message[512]; /* one sentence, no trailing newline */
} cleave_error;

/* realloc-shaped: p NULL allocates, size 0 frees; may be called from several threads. All memory of
 * ours comes from it (protobuf-c's too); cJSON, libuv and GLPK use malloc. NULL: malloc. */
typedef struct {
    void *(*resize)(void *ctx, void *p, size_t size);
    void *ctx;
} cleave_allocator;

typedef struct cleave_model cleave_model;
typedef struct cleave_plan cleave_plan;

/* "0.1.0" */
CLEAVE_API const char *cleave_version(void);

/* -- models -- */

/* Maps the file; weights are not read. allocator is copied; NULL for malloc. */
CLEAVE_API cleave_status cleave_model_open(const char *path, const cleave_allocator *allocator,
                                           cleave_model **ret_model, cleave_error *error);
/* bytes must stay until cleave_model_free. folder: where external data is looked for; may be NULL. */
CLEAVE_API cleave_status cleave_model_open_bytes(const void *bytes, size_t n, const char *folder,
                                                 const cleave_allocator *allocator,
                                                 cleave_model **ret_model, cleave_error *error);
CLEAVE_API void cleave_model_free(cleave_model *model);

/* Gives a symbolic dimension a size: ("batch", 8); a dimension without a name is "input[axis]". To be
 * called before anything that needs shapes; unknown symbols are CLEAVE_EINPUT. */
CLEAVE_API cleave_status cleave_model_bind(cleave_model *model, const char *symbol, int64_t size,
                                           cleave_error *error);
/* Things that are legal but unwise, found while reading. NULL past the last. */
CLEAVE_API const char *cleave_model_warning(const cleave_model *model, int i);
/* Files that hold weights, as the model names them: relative to its folder, also after it is written
 * to another one. NULL past the last. */
CLEAVE_API const char *cleave_model_external(const cleave_model *model, int i);

/* What `cleave inspect` shows, as text for people or as one JSON object (docs/formats/inspect.schema
 * .json). *ret_text is freed with cleave_text_free. */
CLEAVE_API cleave_status cleave_model_inspect(cleave_model *model, int as_json, char **ret_text,
                                              cleave_error *error);
/* What to do with an axis that does not divide into its shards. */
typedef enum {
    CLEAVE_UNEVEN_REFUSE,  /* count it as wrong */
    CLEAVE_UNEVEN_CEIL,    /* size / shards, rounded up, each; the last ones smaller or empty */
    CLEAVE_UNEVEN_BALANCED /* sizes differ by at most 1, larger ones first */
} cleave_uneven;

/* The backend that cleave_model_shards checks for: a name of configs/backends, or the path of a file of
 * your own (docs/sharding.md); NULL: none. What it does not support is listed apart from what is
 * wrong. */
CLEAVE_API cleave_status cleave_model_backend(cleave_model *model, const char *name_or_path,
                                              cleave_error *error);
/* cleave_model_shards says each tensor's sharding in the notation of tensor dictionaries too,
 * {pattern:assignment} (docs/formats/tiles.md). Off until asked for. */
CLEAVE_API void cleave_model_show_tiles(cleave_model *model, int show);
/* What `cleave shards` shows: the part of each annotated tensor on each device, what follows from the
 * annotations, and what is wrong with them, as text or as one JSON object (docs/formats/shards.schema
 * .json). configuration: only that one; NULL: all. Wrong annotations are no failure: *ret_wrong (may be
 * NULL) is how many there are, with those that the backend does not support. *ret_text is freed with
 * cleave_text_free. */
CLEAVE_API cleave_status cleave_model_shards(cleave_model *model, const char *configuration,
                                             cleave_uneven uneven, int as_json, char **ret_text,
                                             int *ret_wrong, cleave_error *error);
CLEAVE_API void cleave_text_free(cleave_model *model, char *text);

/* What `cleave rules` shows: how the operators of that name ("MatMul", "com.microsoft.Attention") may
 * be split over devices, with all conditions, as text or as one JSON object; NULL: all operators.
 * CLEAVE_EUSAGE: there is no such operator. *ret_text is freed with cleave_text_free(NULL, text). */
CLEAVE_API cleave_status cleave_rules(const char *operator_name, int as_json, char **ret_text,
                                      cleave_error *error);

/* -- planning -- */

/* The third: as few devices as the model fits, and on so many the least latency. */
typedef enum { CLEAVE_LATENCY, CLEAVE_THROUGHPUT, CLEAVE_FEWEST_DEVICES } cleave_objective;

typedef struct {
    int candidates_judged, candidates_queued;
    int found;             /* a plan that fits is known */
    double objective;      /* of the best so far, in seconds: of a run, or between runs */
    double bound;          /* seconds: no plan has less; 0: not known */
    double seconds;        /* since the start */
    double seconds_left;   /* estimate; negative when unknown */
} cleave_progress;

typedef struct {
    const char *cluster;   /* name or path; NULL: "dgx-h100" */
    const char *configs_path; /* folders with clusters/ and devices/, colon-separated; NULL: ours, which
                               * are looked for beside the library first */
    int devices;           /* use exactly the first so many; 0: as many of the cluster as are best */
    int64_t memory_bytes;  /* of each device, instead of the description's; 0: as described */
    cleave_objective objective;
    int first_fit;         /* stop at the first plan that compiles */
    int documented_search; /* the search that PopRT documents instead of ours; to compare */
    /* Manual mode: cut here instead of searching. "NODE=DEVICE,..." or JSON, {"sharding_info": {"NODE":
     * DEVICE}, "pipelining_info": {"NODE": STAGE}}; what is left over goes to the next device. NULL:
     * search. */
    const char *sharding_nodes;
    int jobs;              /* workers; 0: 2. The plan does not depend on it */
    int max_candidates;    /* 0: the search decides */
    const char *compiler;  /* a command, run in a folder of its own (docs/compiler-protocol.md); NULL:
                            * built in */
    double compiler_timeout_s; /* for one candidate, at most 1e9; 0: 600 */
    /* Called after each batch of candidates, on the calling thread; not 0 stops with the best plan so
     * far. May be NULL. */
    int (*progress)(void *ctx, const cleave_progress *progress);
    void *progress_ctx;
    /* Asked ten times a second while external compilers run, on any thread; not 0 stops at once. May
     * be NULL. */
    int (*stop)(void *ctx);
    void *stop_ctx;
    /* The best plan after so many seconds, as soon as the candidates at work are judged; the first ones
     * are judged in any case. At most 1e9; 0: none, and the plan depends on nothing but the input. */
    double deadline_s;
    double gap; /* enough when (objective - bound) / objective is no more; 0: search to the end */
    /* Rules that the plan has to obey, as JSON text (docs/formats/constraints.md). Where they contradict
     * each other, or sharding_nodes break them, no plan is found; the plan's notes say which. NULL:
     * none. */
    const char *constraints;
    /* A run of the pipeline has so many micro-batches, each a run of the model as it is; what is in flight
     * has to fit. At most 1000000; 0: one for CLEAVE_LATENCY; for CLEAVE_THROUGHPUT enough to fill the
     * pipeline, fewer where memory is short. */
    int microbatches;
    /* Of a training graph, the first operators of the backward pass, separated by commas; what reads from them
     * is backward too. "none": the graph has no such pass. NULL: known by names and types of operators
     * (docs/cost-model.md). For CLEAVE_THROUGHPUT each device gets the backward operators of its layers. */
    const char *backward;
    /* Shards inside operators: the devices are dealt out to stages of equal form, and the tensors of a
     * stage are split over its devices. mesh: that form, "2x8" or "dp=2xtp=8"; max_tensor_devices: each
     * stage has at most so many, and 1 is whole operators; stages: exactly so many. All NULL and 0: what is
     * best, but for whole operators where sharding_nodes, a compiler, first_fit, max_candidates, the
     * documented search or a rule that places operators on devices is given, and for more than 100,000
     * operators. */
    const char *mesh;
    int max_tensor_devices;
    int stages;
    /* Not 0: the outermost axis of the mesh (the only one, if it has one) splits nothing but the batch, the
     * leading dimension of the model's inputs. */
    int data_parallel;
    /* The part, 0 to 1, of the bytes' time of each collective that computation hides. Assumes that each has
     * independent computation beside it that lasts as long, and that neither slows the other; latencies are
     * never hidden. 0: collectives and computation take turns. */
    double overlap;
} cleave_plan_options;

/* All defaults; without names, so that C++ takes it too. */
#define CLEAVE_PLAN_OPTIONS                                                                         \
    { NULL, NULL, 0, 0, CLEAVE_LATENCY, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, \
      0, NULL, NULL, 0, 0, 0, 0 }

/* CLEAVE_OK with a plan that fits, or CLEAVE_NO_PLAN with the nearest one. */
CLEAVE_API cleave_status cleave_plan_make(cleave_model *model, const cleave_plan_options *options,
                                          cleave_plan **ret_plan, cleave_error *error);
CLEAVE_API void cleave_plan_free(cleave_plan *plan);

CLEAVE_API int cleave_plan_fits(const cleave_plan *plan);
CLEAVE_API int cleave_plan_devices(const cleave_plan *plan);
CLEAVE_API int cleave_plan_stages(const cleave_plan *plan);
CLEAVE_API double cleave_plan_latency_ms(const cleave_plan *plan);
CLEAVE_API double cleave_plan_throughput(const cleave_plan *plan);
/* Proven: no plan of the same units has less latency, or less time between runs in a pipeline where the
 * objective is throughput. Negative: not known. */
CLEAVE_API double cleave_plan_bound_ms(const cleave_plan *plan);
/* (objective - bound) / objective; negative: not known. */
CLEAVE_API double cleave_plan_gap(const cleave_plan *plan);
/* Why the search stopped: "optimal", "gap", "searched", "first fit", "limit", "deadline", "stopped",
 * "infeasible"; NULL: not known, as of a plan made by hand. */
CLEAVE_API const char *cleave_plan_stopped(const cleave_plan *plan);
/* Micro-batches of a run of the pipeline, at least 1, and the time of all of them, from the start of the
 * first to the end of the last; negative: not known. */
CLEAVE_API int cleave_plan_microbatches(const cleave_plan *plan);
CLEAVE_API double cleave_plan_run_ms(const cleave_plan *plan);
/* Parts of that: until all stages have started, and since the first one is done; negative: not known. */
CLEAVE_API double cleave_plan_fill_ms(const cleave_plan *plan);
CLEAVE_API double cleave_plan_drain_ms(const cleave_plan *plan);
/* How much of the run is lost against the steady state, 0 to 1; negative: not known. */
CLEAVE_API double cleave_plan_bubble(const cleave_plan *plan);
/* Memory on a device for tensors of further micro-batches, part of its peak; negative: not known, or no
 * such device. */
CLEAVE_API int64_t cleave_plan_in_flight_bytes(const cleave_plan *plan, int device);
/* The mesh of each stage, where operators are split over several devices: "dp=2xtp=4"; "" where a stage
 * is one device. It belongs to the plan. */
CLEAVE_API const char *cleave_plan_mesh(const cleave_plan *plan);
/* Devices of a stage: the product of the mesh's axes, or 1. */
CLEAVE_API int cleave_plan_mesh_devices(const cleave_plan *plan);
/* Communication between the devices of a mesh in one run, one device of each stage counted: how many
 * collectives, the bytes that they send and their time; negative: not known. */
CLEAVE_API int cleave_plan_collectives(const cleave_plan *plan);
CLEAVE_API int64_t cleave_plan_collective_bytes(const cleave_plan *plan);
CLEAVE_API double cleave_plan_collective_ms(const cleave_plan *plan);
/* What the plan does, in the words that people use: "data parallel", "Megatron column" (src/explain/
 * parallelism.h); the axis of the mesh ("" for none) and how often go to *ret_axis and *ret_count, which
 * may be NULL. NULL past the last. */
CLEAVE_API const char *cleave_plan_found(const cleave_plan *plan, int i, const char **ret_axis,
                                         int *ret_count);
/* How the i-th node of the file's main graph is split: "tp=n", by axis the factor of its sharding rule;
 * "" where it is not, NULL past the end. */
CLEAVE_API const char *cleave_plan_split_of(const cleave_plan *plan, int64_t node);
/* Device of the i-th node of the file's main graph, the first of its mesh; -1 past the end. */
CLEAVE_API int cleave_plan_device_of(const cleave_plan *plan, int64_t node);
/* The report as a table for people; the plan file's text (docs/formats/plan.schema.json). They
 * belong to the plan. */
CLEAVE_API const char *cleave_plan_text(const cleave_plan *plan);
CLEAVE_API const char *cleave_plan_json(const cleave_plan *plan);

/* A plan file for this model; refused when it was made for another. */
CLEAVE_API cleave_status cleave_plan_load(cleave_model *model, const char *path, cleave_plan **ret_plan,
                                          cleave_error *error);
/* Written under a temporary name and renamed. */
CLEAVE_API cleave_status cleave_plan_save(const cleave_plan *plan, const char *path, cleave_error *error);

/* -- placing -- */

/* The device-placement problem as numbers, without a model: docs/formats/workload.md. */
typedef struct cleave_workload cleave_workload;
typedef struct cleave_placement cleave_placement;

/* Reads a workload file. allocator is copied; NULL for malloc. */
CLEAVE_API cleave_status cleave_workload_open(const char *path, const cleave_allocator *allocator,
                                              cleave_workload **ret_workload, cleave_error *error);
CLEAVE_API void cleave_workload_free(cleave_workload *workload);

typedef enum {
    CLEAVE_PLACE_THROUGHPUT, /* least load of the busiest device */
    CLEAVE_PLACE_LATENCY,    /* least time until the last node ends */
    CLEAVE_PLACE_DEVICES     /* fewest devices */
} cleave_place_objective;

/* A better answer or a better bound. */
typedef struct {
    const char *solver;
    double objective; /* infinite before the first answer */
    double bound;
    double seconds;
} cleave_place_news;

typedef struct {
    cleave_place_objective objective;
    int free_assignment; /* any node anywhere; 0: the devices form a line (contiguous) */
    double max_load;     /* for the fewest devices: no load above it; 0: any */
    double deadline_s;   /* at most 1e9; 0: none, and the answer depends on nothing but the input and seed */
    double gap;          /* enough when (objective - bound) / objective is no more; 0: the optimum */
    uint64_t seed;
    void (*news)(void *ctx, const cleave_place_news *news); /* may be NULL */
    void *news_ctx;
    int (*stop)(void *ctx); /* asked often, on the calling thread; not 0 stops. May be NULL */
    void *stop_ctx;
} cleave_place_options;

#define CLEAVE_PLACE_OPTIONS { CLEAVE_PLACE_THROUGHPUT, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* CLEAVE_OK with the best answer found; CLEAVE_NO_PLAN, and a placement without one, when there is no
 * legal answer, or none was found in time; CLEAVE_ECANCELED when it was stopped before the first. */
CLEAVE_API cleave_status cleave_place(cleave_workload *workload, const cleave_place_options *options,
                                      cleave_placement **ret_placement, cleave_error *error);
CLEAVE_API void cleave_placement_free(cleave_placement *placement);
/* Writes the workload as a mixed 0/1 program in free MPS, for any solver of such programs: its optimum is
 * the least load of the busiest device. Of options (NULL: the defaults) free_assignment counts; another
 * objective than throughput is CLEAVE_EUSAGE, a program too large to be of use CLEAVE_ELIMIT. */
CLEAVE_API cleave_status cleave_workload_save_mps(cleave_workload *workload,
                                                  const cleave_place_options *options,
                                                  const char *path, cleave_error *error);

CLEAVE_API int cleave_placement_found(const cleave_placement *placement);
/* Infinite without an answer; the bound is infinite when there is proof that there is none. */
CLEAVE_API double cleave_placement_objective(const cleave_placement *placement);
CLEAVE_API double cleave_placement_bound(const cleave_placement *placement);
/* Device of the i-th node of the file; -1 past the end or without an answer. */
CLEAVE_API int cleave_placement_device_of(const cleave_placement *placement, int64_t node);
/* The report for people; the answer as JSON (docs/formats/place.schema.json). They belong to the
 * placement. */
CLEAVE_API const char *cleave_placement_text(const cleave_placement *placement);
CLEAVE_API const char *cleave_placement_json(const cleave_placement *placement);
/* Writes the JSON, under a temporary name first. */
CLEAVE_API cleave_status cleave_placement_save(const cleave_placement *placement, const char *path,
                                               cleave_error *error);

/* -- strategies -- */

/* The strategy problem as numbers, without a model: docs/formats/strategy.md. Costs are whole numbers
 * whose sum may need 128 bits, so totals are given as decimal text. */
typedef struct cleave_strategies cleave_strategies;
typedef struct cleave_solution cleave_solution;

/* Reads a problem file, from front to back and without holding it. allocator is copied; NULL for
 * malloc. */
CLEAVE_API cleave_status cleave_strategies_open(const char *path, const cleave_allocator *allocator,
                                                cleave_strategies **ret_strategies,
                                                cleave_error *error);
CLEAVE_API void cleave_strategies_free(cleave_strategies *strategies);
CLEAVE_API int64_t cleave_strategies_nodes(const cleave_strategies *strategies);
CLEAVE_API int64_t cleave_strategies_edges(const cleave_strategies *strategies);

/* A better answer or a better bound. */
typedef struct {
    const char *method;
    double cost; /* the nearest double; infinite before the first answer */
    double bound;
    double seconds;
} cleave_solve_news;

typedef struct {
    double deadline_s; /* at most 1e9; 0: none, and the answer depends on nothing but the input and seed */
    double gap;        /* enough when (cost - bound) / cost is no more; 0: the optimum */
    int jobs;          /* threads, at most 1024; 0: 2 */
    uint64_t seed;
    void (*news)(void *ctx, const cleave_solve_news *news); /* may be NULL */
    void *news_ctx;
    int (*stop)(void *ctx); /* asked often, on the calling thread; not 0 stops. May be NULL */
    void *stop_ctx;
} cleave_solve_options;

#define CLEAVE_SOLVE_OPTIONS { 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* CLEAVE_OK with the best answer found; CLEAVE_NO_PLAN, and a solution without one, when no choices are
 * within the memory limit, or none were found in time; CLEAVE_ECANCELED when it was stopped before the
 * first. */
CLEAVE_API cleave_status cleave_solve(cleave_strategies *strategies, const cleave_solve_options *options,
                                      cleave_solution **ret_solution, cleave_error *error);
CLEAVE_API void cleave_solution_free(cleave_solution *solution);

CLEAVE_API int cleave_solution_found(const cleave_solution *solution);
/* All digits; "" without an answer. */
CLEAVE_API const char *cleave_solution_cost(const cleave_solution *solution);
/* All digits: no legal answer costs less; "" when there is proof that there is none. */
CLEAVE_API const char *cleave_solution_bound(const cleave_solution *solution);
/* (cost - bound) / cost; negative without an answer. */
CLEAVE_API double cleave_solution_gap(const cleave_solution *solution);
/* Why the search stopped: "optimal", "gap", "searched", "deadline", "stopped", "infeasible". */
CLEAVE_API const char *cleave_solution_stopped(const cleave_solution *solution);
/* Choice of the i-th node of the file, from 0; -1 past the end or without an answer. */
CLEAVE_API int cleave_solution_choice_of(const cleave_solution *solution, int64_t node);
/* The report for people; the answer as JSON (docs/formats/solve.schema.json). They belong to the
 * solution. */
CLEAVE_API const char *cleave_solution_text(const cleave_solution *solution);
CLEAVE_API const char *cleave_solution_json(const cleave_solution *solution);
/* Writes the JSON, under a temporary name first. */
CLEAVE_API cleave_status cleave_solution_save(const cleave_solution *solution, const char *path,
                                              cleave_error *error);

/* -- shards of weights in files -- */

typedef enum {
    CLEAVE_WEIGHTS_EXTERNAL,    /* a file of bare bytes a device, as ONNX's external data */
    CLEAVE_WEIGHTS_SAFETENSORS, /* a folder of safetensors a device, with an index where there are several */
    CLEAVE_WEIGHTS_RANGES       /* no weights: JSON that says which bytes of the model's files are whose */
} cleave_weights_kind;

typedef enum { CLEAVE_FILL_NOT, CLEAVE_FILL_ZEROS, CLEAVE_FILL_ONES } cleave_fill;

typedef struct {
    cleave_weights_kind kind;
    /* cleave_shard: CLEAVE_FILL_ZEROS and _ONES make shards of that value without reading any weight, also of
     * weights that are not there */
    cleave_fill fill;
    int64_t max_file_bytes; /* safetensors: of the tensors of one file, but for one that is larger; 0: any */
    int (*stop)(void *ctx); /* asked often, on the calling thread; not 0: CLEAVE_ECANCELED. May be NULL */
    void *stop_ctx;
    /* Called with a sentence for each thing in a layout that did not come to anything: names that the
     * model has not, weights without a spec, specs that were skipped. May be NULL */
    void (*note)(void *ctx, const char *sentence);
    void *note_ctx;
} cleave_shard_options;

#define CLEAVE_SHARD_OPTIONS { CLEAVE_WEIGHTS_EXTERNAL, CLEAVE_FILL_NOT, 0, NULL, NULL, NULL, NULL }

/* Cuts the weights of a model into the shards of a layout, a JSON file that says which device has which part
 * of which weight (docs/formats/weights.md) or a placement spec (docs/formats/placement-spec.md), and writes
 * them into a new folder: one call for all of a model.
 * options NULL: the defaults. The folder is there as a whole or not at all; one that exists is
 * CLEAVE_EUSAGE, unless it is empty. Weights are streamed, never held, and the model is only read. */
CLEAVE_API cleave_status cleave_shard(cleave_model *model, const char *layout, const char *folder,
                                      const cleave_shard_options *options, cleave_error *error);
/* From the shards of a folder to those of another layout, of any number of devices, into the folder to; NULL:
 * nothing is written. The model is not needed. *ret_text (may be NULL): what has to move between which
 * devices, as text or as one JSON object (docs/formats/reshard.schema.json), to be freed with
 * cleave_text_free(NULL, text). A folder that is damaged is CLEAVE_EINPUT. */
CLEAVE_API cleave_status cleave_reshard(const char *folder, const char *layout, const char *to,
                                        const cleave_shard_options *options, int as_json,
                                        char **ret_text, cleave_error *error);
/* The model that was sharded, byte for byte, to path, and the files that held its weights beside it, which
 * must not be there yet. Checksums are verified. Of options only stop counts. */
CLEAVE_API cleave_status cleave_collect(const char *folder, const char *path,
                                        const cleave_shard_options *options, cleave_error *error);

/* -- annotating -- */

/* To be asked before a long search: may a file be written at path? CLEAVE_EUSAGE when it would take the
 * place of the model's file or of its external data, which the two calls below refuse as well (model may
 * be NULL: there is none); CLEAVE_EIO when it cannot be made there. */
CLEAVE_API cleave_status cleave_check_output(cleave_model *model, const char *path, cleave_error *error);
/* Writes the model with the plan's annotations; every other byte as it was. The model's own files are
 * never written. */
CLEAVE_API cleave_status cleave_annotate(cleave_model *model, const cleave_plan *plan, const char *path,
                                         cleave_error *error);
/* Takes our annotations out again: the original, byte for byte. all != 0: anybody's annotations. A
 * model that has none of them is CLEAVE_EINPUT, and nothing is written. */
CLEAVE_API cleave_status cleave_strip(cleave_model *model, int all, const char *path,
                                      cleave_error *error);
/* stop is asked every 64 MiB while the two calls above write, on their thread; not 0 ends the call
 * with CLEAVE_ECANCELED, and no file stays. NULL: not asked. */
CLEAVE_API void cleave_model_set_stop(cleave_model *model, int (*stop)(void *ctx), void *ctx);

/* Annotating raises an IR version below 11 to 11, which is the first that knows annotations. keep != 0
 * leaves it as it is, for readers that look at the number alone. */
CLEAVE_API void cleave_model_keep_ir_version(cleave_model *model, int keep);

/* -- lowering -- */

typedef struct {
    const char *form;        /* "stages", "devices", "emulate", "ort-options" or "olive" */
    const char *collectives; /* of devices: "ort" or "tensorrt"; NULL: "ort" */
    const char *weights;     /* "external", "safetensors" or "ranges"; NULL: "external" */
} cleave_lower_options;

typedef struct {
    int models, files, collectives, transfers;
    int64_t bytes; /* of all files but the manifest */
} cleave_lowered;

/* Writes the plan as a folder of models that runtimes execute, with their weights and a manifest
 * (docs/lowering.md). folder must not be there yet, or be empty; it is there as a whole or not at all.
 * ret may be NULL. CLEAVE_EINPUT: the plan does not go with the model's rules, or an operator cannot be
 * lowered so; the sentence names it. CLEAVE_EUSAGE: the plan is for another model. */
CLEAVE_API cleave_status cleave_lower(cleave_model *model, const cleave_plan *plan,
                                      const cleave_lower_options *options, const char *folder,
                                      cleave_lowered *ret, cleave_error *error);

/* -- verifying -- */

typedef struct cleave_verification cleave_verification;

typedef struct {
    int proof_only;         /* nothing is run */
    int all;                /* compare every tensor, not only the model's outputs */
    const char *model_path; /* of the model's file; NULL: nothing is run */
    const char *runner;     /* the program cleave-run; NULL: nothing is run */
    const char *inputs;     /* files, or a folder of files, with values of inputs; NULL: random ones */
    uint64_t seed;          /* of the random ones */
} cleave_verify_options;
#define CLEAVE_VERIFY_OPTIONS { 0, 0, NULL, NULL, NULL, 0 }

/* Shows that a plan computes what the model computes: by a proof, for models of any size, and by
 * running both on the same inputs (docs/verifying.md). That it does not is no failure: see
 * cleave_verification_holds(). CLEAVE_EINPUT: the plan does not go with the model; CLEAVE_EUNSUPPORTED:
 * the runtime cannot run the model; CLEAVE_EIO: no runner, or no room for temporary files; CLEAVE_EUSAGE:
 * the plan is for another model. */
CLEAVE_API cleave_status cleave_verify(cleave_model *model, const cleave_plan *plan,
                                       const cleave_verify_options *options,
                                       cleave_verification **ret_verification,
                                       cleave_error *error);
CLEAVE_API void cleave_verification_free(cleave_verification *verification); /* NULL is fine */
/* 1: proven, and whatever was run is equal. */
CLEAVE_API int cleave_verification_holds(const cleave_verification *verification);
/* 0: it is a proof alone. */
CLEAVE_API int cleave_verification_ran(const cleave_verification *verification);
/* For people, and as JSON (docs/formats/verify.schema.json). They live as long as the verification.
 */
CLEAVE_API const char *cleave_verification_text(const cleave_verification *verification);
CLEAVE_API const char *cleave_verification_json(const cleave_verification *verification);

/* -- calibrating -- */

typedef struct {
    const char *runner; /* the program cleave-run: a path, or a name that the shell finds; NULL:
                         * "cleave-run" */
    int devices;        /* that the cluster gets, 1 to 64; 0: 2 */
    /* Asked ten times a second; not 0 stops at once. May be NULL. */
    int (*stop)(void *ctx);
    void *stop_ctx;
} cleave_calibrate_options;

typedef struct {
    char runtime[64];                         /* its version */
    int measurements, operators, devices;
    double matrix_flops, vector_flops;        /* a second: the most that any operator reached */
    double memory_bytes_per_s;                /* likewise */
    double launch_s;                          /* of the operator in the middle */
    double link_latency_s, link_bytes_per_s;  /* between devices */
    double error;                             /* of the fit: the median, as a part */
} cleave_calibrated;

/* Measures small models with cleave-run on this machine and writes what follows from their times as a
 * cluster of devices with one thread each, for cleave_plan_options.cluster (docs/calibration.md). Takes
 * some seconds. ret may be NULL. CLEAVE_EIO: the runner does not run, or path cannot be written;
 * CLEAVE_EINPUT: its answer makes no sense. */
CLEAVE_API cleave_status cleave_calibrate(const cleave_calibrate_options *options, const char *path,
                                          cleave_calibrated *ret, cleave_error *error);

#ifdef __cplusplus
}
#endif

#endif
