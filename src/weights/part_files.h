/* part_files.h - writes boxes of weights into files of a folder, in one pass over the weights.
 *
 *     clv_part_files *p;
 *     clv_part_files_new(folder, weights, &options, arena, &p, err);
 *     f = clv_part_files_open(p, "gpu0.data", ...);        // one file a device
 *     clv_part_files_add(p, f, weight, &box, &id, err);     // any number
 *     clv_part_files_seal(p, err);                          // now every place is known:
 * part_write.h clv_part_files_at(p, id)->offset ...                  // written into models
 *     clv_part_files_write(p, source, err);                 // now data flows
 *     clv_part_files_file(p, f)->checksum ...
 *
 * Each weight is read once, from front to back, however many boxes are cut of it; what is held is
 * buffers (CLV_PART_MEMORY), never a weight. Threads take a weight each; what they write does not
 * depend on how many they are. The files are new ones in a folder that exists; the
 * caller removes it when a call fails (base/out_folder.h).
 */
#ifndef CLV_WEIGHTS_PART_FILES_H
#define CLV_WEIGHTS_PART_FILES_H

#include "base/json_out.h"
#include "base/map.h"
#include "base/out_folder.h"
#include "weights/weight_stream.h"

typedef enum {
    CLV_PARTS_EXTERNAL, /* bare bytes, each box at a multiple of CLV_PART_ALIGN: ONNX external data
                         */
    CLV_PARTS_SAFETENSORS, /* a checkpoint a device; offsets are known after sealing */
    CLV_PARTS_RANGES       /* no data: JSON that says which bytes of the original each box is */
} clv_parts_kind;

/* ONNX: "offsets should be multiples of 4 KiB", so that a loader may map them. */
#define CLV_PART_ALIGN 4096
/* Buffers of one pass, whatever is written, and files that are open at a time. */
#define CLV_PART_MEMORY ((size_t)32 << 20)
/* A thread alone is kept waiting by what the kernel does for each page that it writes. */
#define CLV_PART_THREADS 2

/* Where the bytes of a weight lie in the original; file NULL: nowhere as they stand. */
typedef struct {
    const char *file;
    int64_t offset, length;
} clv_payload;

typedef struct {
    clv_parts_kind kind;
    const clv_payload *payloads; /* RANGES: by weight */
    int64_t max_bytes;           /* safetensors: a file is begun anew above it; 0: never */
    bool file_sums;              /* checksums of whole files too: a second sum of all bytes */
    int32_t threads;             /* 0: one. With more, calls of disk come from several */
    const clv_disk *disk;        /* NULL: the system's calls */
    /* Asked for every block that the calling thread reads; not 0: CLV_ECANCELED. NULL: not asked */
    int (*stop)(void *ctx);
    void *stop_ctx;
} clv_parts_options;

/* Where a box lies. */
typedef struct {
    int32_t file; /* of clv_part_files_file() */
    int32_t weight;
    clv_box box;
    int64_t offset, length; /* bytes; -1 before they are known */
    clv_checksum checksum;  /* of its bytes, once written */
} clv_part_place;

typedef struct {
    const char *name;      /* relative to the folder */
    int64_t bytes;         /* once sealed */
    clv_checksum checksum; /* once written, with file_sums */
} clv_part_file;

/* What follows is for the files of this folder: sets of boxes before and after they are laid out.
 */
typedef struct {
    clv_part_place pub;
    int32_t set;
    int32_t next;   /* of the same set and weight; -1: the last */
    int64_t before; /* where the bytes before it in its file end, padding left out */
} clv_placed_box;

typedef struct {
    clv_part_file pub;
    const char *head; /* what it begins with; NULL: nothing */
    size_t n_head;
    clv_checksum_state *sum;
    int64_t summed; /* bytes that went into it */
    bool in_order;  /* so far all came in the order of the file */
} clv_part_output;

typedef struct {
    const char *name;
    int64_t end;  /* external: of the bytes so far */
    int32_t file; /* external: the one it has */
} clv_part_set;

typedef struct {
    clv_arena *arena;
    const clv_out_folder *folder;
    const clv_weight_list *weights;
    clv_parts_options options;
    clv_map first_of; /* (set, weight) -> place */
    clv_placed_box *places;
    clv_part_set *sets;
    clv_part_output *files;
    int32_t n_places, cap_places, n_sets, cap_sets, n_files, cap_files;
    bool sealed;
} clv_part_files;

/* weights and folder must outlive it, and so does the arena, which holds all of it. */
clv_status clv_part_files_new(const clv_out_folder *folder, const clv_weight_list *weights,
                              const clv_parts_options *options, clv_arena *arena,
                              clv_part_files **ret, clv_error *err);
/* A set of boxes that are kept together: those of a device. name is relative to the folder, which
 * need not have the folders in it: "gpu0.data"; safetensors: "gpu0/model", to which
 * "-00001-of-00002.safetensors" or ".safetensors" is added. */
clv_status clv_part_files_open(clv_part_files *p, const char *name, int32_t *ret_set,
                               clv_error *err);
/* *ret_id: a number for clv_part_files_at(), the same one for a box equal to one that the set has.
 * The box is copied. Files are fastest written where every set gets weights in the same order.
 * O(boxes of the weight in the set). */
clv_status clv_part_files_add(clv_part_files *p, int32_t set, int32_t weight, const clv_box *box,
                              int32_t *ret_id, clv_error *err);
/* External files: at once after adding; others: after sealing. Valid until the next add. */
const clv_part_place *clv_part_files_at(const clv_part_files *p, int32_t id);
int32_t clv_part_files_n(const clv_part_files *p);
/* Files, numbered from 0, as they are since sealing. Indexes of safetensors come last. */
const clv_part_file *clv_part_files_file(const clv_part_files *p, int32_t file);
int32_t clv_part_files_n_files(const clv_part_files *p);

/* -- for those that lay sets out in files: safetensors.h, byte_ranges.h, part_write.h -- */

clv_status clv_part_file_new(clv_part_files *p, const char *name, int32_t *ret_file,
                             clv_error *err);
/* The text becomes the whole of a new file. */
clv_status clv_part_file_text(clv_part_files *p, const char *name, const clv_json_out *text,
                              clv_error *err);
/* A box's own dims: those of the view, put together again as the tensor's dimensions where that can
 * be done, else one dimension of all its elements. ret: the weight's rank, or 1. */
int32_t clv_box_dims(const clv_weight *w, const clv_box *box, int64_t *ret);

#endif
