/* plan.h - what is decided: each operator's device and stage, and what the judge found of it.
 *
 * The same in memory, in the plan file (plan_json_write.h, plan_json_read.h) and in the annotated
 * model. Bodies follow the operator that owns them; a function body follows its calls where they
 * agree.
 */
#ifndef CLV_PLAN_PLAN_H
#define CLV_PLAN_PLAN_H

#include "base/arena.h"
#include "cluster/time_parts.h"
#include "notation/sharding_spec.h"
#include "problem/partition_problem.h"

#define CLV_PLAN_UNKNOWN (-1) /* of numbers that are not negative */

/* Why there are so many micro-batches. */
typedef enum {
    CLV_MICRO_GIVEN,  /* asked for, or one because none were */
    CLV_MICRO_FILLED, /* enough to come near the steady state (clv_micro_enough) */
    CLV_MICRO_MEMORY  /* fewer, as memory holds no more in flight */
} clv_micro_reason;

typedef struct {
    const char *name, *kind; /* "gpu0", "h100-sxm" */
    int32_t stage;           /* -1: unused */
    int32_t n_ops;
    /* CLV_PLAN_UNKNOWN where they are not known. The first three are of the fullest moment; the
     * peak is their sum and the gaps between tensors. */
    int64_t weight_bytes, activation_bytes, workspace_bytes, peak_bytes, capacity_bytes;
    /* The capacity is the memory without these: what driver and libraries reserve, buffers for
     * communication, and what is left free. CLV_PLAN_UNKNOWN, all three or none. */
    int64_t reserved_bytes, buffer_bytes, headroom_bytes;
    int64_t state_bytes;     /* of the activations: states of the model, as caches of keys */
    int64_t in_flight_bytes; /* copies for further micro-batches, part of the peak */
    int64_t flops;
    int64_t busy_ns; /* compute of one sample */
    /* Maximal candidates of the group, where the model was cut behind it; none for the last. */
    const char **sharding_nodes;
    int32_t n_sharding_nodes;
} clv_plan_device;

typedef struct {
    const char *tensor;
    int32_t from, to;
    int64_t bytes, ns;
    clv_basis basis; /* of the links' bandwidth */
} clv_plan_transfer;

/* An input that the host sends to each device that reads a part of it, or an output that comes back
 * once, each part from one of the devices that have it. */
typedef struct {
    const char *tensor;
    const int32_t *devices; /* rising */
    int32_t n_devices;
    int64_t bytes, ns; /* in all; on the slowest of the links */
} clv_plan_host_copy;

/* What goes between the host and the devices in a run. The links of the devices work side by side;
 * what one device gets goes over its link one after another. */
typedef struct {
    const clv_plan_host_copy *inputs, *outputs;
    int32_t n_inputs, n_outputs;
    int64_t inputs_ns, outputs_ns; /* until the last is there */
    clv_basis basis;               /* the least of those of the links */
} clv_plan_host_copies;

/* An axis of the mesh of a stage; all stages have meshes of one form (sharding/mesh.h). */
typedef struct {
    const char *name; /* "tp" */
    int32_t size;
    const int64_t *shares; /* proportions of the parts along it, one a coordinate; NULL: equal */
} clv_plan_axis;

/* Communication inside a stage, between the devices of its mesh. */
typedef struct {
    const char *kind;      /* "all-reduce" */
    const char *axes;      /* "tp": the axes of the mesh along which it goes */
    const char *tensor;    /* what changes its layout */
    const char *reader;    /* operator for which it does; NULL: for all that read it */
    const char *from, *to; /* layouts in words, "{dp, -, tp}" (sharding/layout.h) */
    int32_t stage;
    int64_t bytes, ns; /* sent by each device; time */
} clv_plan_collective;

/* What a device starts at once, or waits for: a kernel, or a collective. */
typedef struct {
    const char *name; /* label of its main operator; of a collective the tensor */
    const char *kind; /* "product", "convolution", "attention", "experts", "memory", "all-reduce" */
    int32_t device;   /* that runs it, the lead of a mesh */
    int32_t n_ops;    /* 0: a collective */
    int64_t ns[CLV_N_TIME_CAUSES];
    int64_t basis_ns[CLV_N_BASES]; /* the same, by what it rests on */
} clv_plan_kernel;

/* The best plan of a form, for comparison. */
typedef struct {
    const char *form;    /* "TP8", "DP2xTP4xPP2", "8 copies" */
    const char *options; /* of the command, that ask for it */
    int32_t devices, copies;
    int64_t latency_ns, period_ns; /* of each copy */
    int64_t peak_bytes;            /* of the fullest device */
    int64_t bound_ns;              /* no plan of the form has less of the objective; 0: not known */
} clv_plan_alternative;

/* The least of the objective that was found with so many devices in use. */
typedef struct {
    int32_t devices;
    int64_t ns;
} clv_plan_count;

/* What a search came to. */
typedef struct {
    const char *form; /* "TP8"; NULL: no plan fits, or it is not known */
    int32_t devices;  /* in use */
    int64_t objective_ns;
} clv_plan_result;

/* Who is to run the plan (cluster/backend.h). */
typedef struct {
    const char *name;
    const char *command;           /* line of a server that runs it; NULL: not known */
    int32_t servers;               /* that are started so */
    const char *layers;            /* of each stage, "40,40"; NULL: of one stage, or not known */
    clv_plan_result with, without; /* the plan, and the best one for anyone */
} clv_plan_profile;
/* A size of the batch that was tried, and what came of it. */
typedef struct {
    int64_t size;
    clv_outcome outcome;
    const char *form;    /* "8 copies"; NULL: no plan fits */
    int32_t devices;     /* in use */
    int64_t latency_ns;  /* of a run; 0: not known, as all times */
    int64_t ns;          /* between runs, of all copies together */
    int64_t peak_bytes;  /* of the fullest device; CLV_PLAN_UNKNOWN */
    int64_t short_bytes; /* CLV_OOM: what a device lacks */
} clv_plan_batch;

/* A kind of parallelism that the plan uses, in the words of the field (explain/parallelism.h). */
typedef struct {
    const char *name; /* "data parallel" */
    const char *axes; /* "dp"; "" where it is not about an axis of the mesh */
    const char *of;   /* what is counted: "matmuls", "weights", "stages" */
    int32_t n;
} clv_plan_finding;

/* What sharding specs cannot say, of one tensor: sizes of parts that are not equal, or that its
 * writer leaves parts of a sum. */
typedef struct {
    const char *tensor;
    int32_t dim;
    const char *sizes; /* "4, 3, 3", in the order of the parts */
} clv_plan_uneven;

typedef struct {
    const char *tensor;
    const char *layout; /* "{dp, -} sum(tp)" */
} clv_plan_partial;

/* What the user wrote for one node; it replaces the default "whole tensors on its device". */
typedef struct {
    int32_t file_index; /* of the node in the main graph; -1: node is still to be looked up */
    clv_node_annotation note;
    const char *node; /* as the plan file names it; NULL: by its position */
} clv_plan_annotation;

/* A rule of the user, and what became of it. */
typedef struct {
    const char *name, *why; /* NULL: not given */
    const char *says;
    const char
        *state; /* "in force", "unused", "conflict" (one of those that contradict each other, or
                   broken by a plan given by hand), "left out" (of this plan, for that reason) */
} clv_plan_rule;

typedef struct {
    const char *model;         /* file name without folder */
    uint64_t fingerprint;      /* of names and operators, so that a plan meets its own model only */
    const char *configuration; /* name of the DeviceConfigurationProto */
    const char *cluster, *compiler;
    const char *runtime; /* who forms kernels; NULL: not known */
    clv_objective objective;
    double proportion;    /* available memory proportion that was lowered to; 0: default */
    int64_t state_tokens; /* that growing states hold after a run, of all sequences; 0: none do */
    clv_outcome outcome;  /* of the judge; not CLV_FITS: the nearest plan that was seen */
    int32_t short_device; /* CLV_OOM: the device that lacks most, and how much it lacks */
    int64_t short_bytes;
    int32_t n_devices, n_stages, n_ops;
    clv_plan_device *devices;
    const int32_t *device_of_op; /* by position of the node in the file's main graph */
    const bool *backward_op; /* the same: of the backward pass, which goes through the stages from
                                the last to the first; NULL: none is */
    /* Copies (plan_copies.h): the devices at one place of each do the same. */
    int32_t n_copies;           /* 0, 1: none but itself */
    int32_t copy_devices;       /* that each copy has */
    const int32_t *copy_device; /* n_copies * copy_devices: copy by copy */
    /* Stages of several devices (plan_mesh.h); else n_axes is 0 and all of this is empty. */
    const clv_plan_axis *axes; /* of the mesh of each stage */
    int32_t n_axes;
    double overlap;       /* of collectives with compute, as it was assumed: 0 to 1 */
    int32_t mesh_devices; /* their product; a stage's operators run on so many devices */
    int32_t n_meshes;
    const int32_t *mesh_device; /* n_meshes * mesh_devices: mesh by mesh, row-major over the axes */
    const int32_t *lead_of_device; /* n_devices: the first of its mesh, which stands for all of it
                                      in device_of_op; -1: in no mesh. NULL: no meshes, no copies */
    const char **split_of_op; /* by position: "tp=n", the factor that each axis splits; "": none.
                                 NULL without a mesh */
    clv_plan_collective *collectives;
    const clv_plan_finding *found;
    const clv_plan_uneven *uneven;
    const clv_plan_partial *partial;
    int32_t n_collectives, n_found, n_uneven, n_partial;
    const clv_plan_annotation *annotations;
    int32_t n_annotations;         /* ascending by file_index */
    int64_t latency_ns, period_ns; /* of each copy; 0: not known */
    int64_t max_latency_ns;        /* that was allowed; 0: any */
    int64_t host_ns;        /* of both, what the host does for each run while devices wait; 0 */
    int64_t first_token_ns; /* of a prefill, from the request to its first token; 0: not known */
    int32_t microbatches;   /* in a run of the pipeline; 0: not known, so one */
    clv_micro_reason why_microbatches;
    int64_t fill_ns, drain_ns;    /* CLV_PLAN_UNKNOWN, or: until all stages have started; since the
                                     first    is done */
    clv_plan_transfer *transfers; /* NULL: not known */
    int32_t n_transfers;
    const clv_plan_host_copies *host_copies; /* in no time above; NULL: not known */
    clv_plan_kernel *kernels;                /* what busy_ns goes to; none: not known */
    int32_t n_kernels;
    /* what was found beside it */
    const clv_plan_alternative *alternatives; /* the plan's own form first, then the best first */
    const clv_plan_count *counts;             /* rising; none where one number was tried */
    const char *why_chosen;                   /* a sentence; NULL: there was no choice */
    const char *form;                         /* its own; NULL: not known */
    const clv_plan_profile *profile;          /* NULL: for anyone */
    int32_t n_alternatives, n_counts;
    const char *batch_symbol; /* whose size was chosen; NULL: all sizes were given */
    int64_t batch;
    const clv_plan_batch *batches; /* rising; the chosen one is among them */
    int32_t n_batches;
    const char *why_batch; /* a sentence */
    /* how it was found */
    const char *search; /* "default", "first-fit", "documented" */
    int32_t n_judged, n_fitting;
    const char *stopped; /* why it ended: a word of the plan file; NULL: not known */
    int64_t bound_ns; /* no plan has less latency or period, as the objective says; 0: not known */
    const char **bindings; /* "batch=8" */
    int32_t n_bindings;
    const char **open_tensors, **unknown_ops, **notes;
    int32_t n_open_tensors, n_unknown_ops, n_notes;
    clv_plan_rule *rules; /* in the order of the constraints file */
    int32_t n_rules;
    const char *conflict; /* CLV_INFEASIBLE: why, in a sentence */
} clv_plan;

/* Adds what the host does for a run, while devices wait, to all times of a plan without copies:
 * latency, period and bound. */
void clv_plan_add_host(clv_plan *plan, int64_t host_ns);
/* Sets the time to first token, which is the latency, with all that belongs to it, after what a
 * front end does; 0: it is not known, or the run is no prefill. */
void clv_plan_add_front_end(clv_plan *plan, int64_t front_end_ns);

/* Says that a latency of max_ns is allowed, 0: any; a plan that fits and takes longer is CLV_LATE.
 */
void clv_plan_limit_latency(clv_plan *plan, int64_t max_ns);

/* Adds a sentence to the plan's notes. text: lives as long as the plan; NULL is taken for lack of
 * memory. O(notes). */
clv_status clv_plan_add_note(clv_plan *plan, const char *text, clv_arena *arena, clv_error *err);

/* -- what follows from the numbers of a plan, each O(1) -- */

/* Is it known how long a run of the pipeline takes? Then so long, and the part of it that filling
 * and draining the pipeline cost, 0 to 1; else 0 and -1. */
bool clv_plan_has_run(const clv_plan *plan);
int64_t clv_plan_run_ns(const clv_plan *plan);
double clv_plan_bubble(const clv_plan *plan);

/* At least 1. */
int32_t clv_plan_copies(const clv_plan *plan);

/* How many devices have work, of all copies. O(devices). */
int32_t clv_plan_devices_used(const clv_plan *plan);

/* Memory in use and busy time are not known of a device. */
void clv_plan_forget_use(clv_plan_device *device);

/* From one run of a copy to its next in the long run: the period, or the run of the pipeline
 * divided by its micro-batches where their number was not chosen for the period; 0: not known. */
int64_t clv_plan_interval_ns(const clv_plan *plan);
/* Latency; or by throughput that interval, divided among the copies; 0: not known. */
int64_t clv_plan_objective_ns(const clv_plan *plan);
/* Samples a second with a batch that was tried; 0: not known. */
double clv_plan_samples_per_s(const clv_plan_batch *batch);
/* Proven: no plan that the search was about takes less. */
bool clv_plan_is_optimal(const clv_plan *plan);
/* How much more the objective is than without the profile, 0 where it is no more; negative: not
 * known. */
double clv_plan_profile_price(const clv_plan_profile *profile);
/* How much of the objective is above the bound, 0 to 1; negative: no bound is known. */
double clv_plan_gap(const clv_plan *plan);

#endif
