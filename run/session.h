/* session.h - one model loaded into the runtime: what goes in and out, and running it. */
#ifndef CLV_RUN_SESSION_H
#define CLV_RUN_SESSION_H

#include "run/tensor.h"

/* An input or output of a model. */
typedef struct {
    const char *name;
    ONNXType kind;
    clr_shape shape;      /* of a tensor; -1 where a dimension has no number, and count unset */
    const char **symbols; /* for each dimension: its symbol, "" where it has none */
} clr_port;

typedef struct {
    clr_port *at;
    const char **names;
    int32_t n;
} clr_ports;

/* -1 where there is none of that name. O(n). */
int32_t clr_find_port(const clr_ports *ports, const char *name);

typedef enum { CLR_OPT_NONE, CLR_OPT_BASIC, CLR_OPT_EXTENDED, CLR_OPT_ALL } clr_opt_level;

typedef struct {
    int threads; /* of one operator; 0: as many as the runtime likes */
    clr_opt_level level;
    const char *profile;         /* begin of the path of the runtime's profile, NULL: none */
    OrtCustomOpDomain **domains; /* operators that we bring; they outlive the session */
    int n_domains;
    bool communicates; /* some operators wait for other sessions: none may be merged or moved */
} clr_session_options;

typedef struct {
    const clr_ort *ort;
    const char *path;
    OrtSession *session;
    clr_ports inputs, outputs;
    double load_s;
} clr_session;

/* Names and types live in the arena, the rest until clr_session_close(). path stays the caller's.
 * CLV_EIO, CLV_EFORMAT; CLV_EUNSUPP: an operator that the runtime has no kernel for. */
clv_status clr_session_open(const clr_ort *ort, const char *path,
                            const clr_session_options *options, clv_arena *arena, clr_session *ret,
                            clv_error *err);
void clr_session_close(clr_session *session); /* zeroed is fine */

/* A value for each input, in the order of the session; *outputs become new values, which are the
 * caller's. run_options NULL: none. From one thread at a time. */
clv_status clr_session_run(const clr_session *session, const OrtRunOptions *run_options,
                           const OrtValue *const *inputs, OrtValue **outputs, clv_error *err);

/* What the model's metadata says under a key, in the arena; NULL: nothing. */
clv_status clr_session_metadata(const clr_session *session, const char *key, clv_arena *arena,
                                const char **ret, clv_error *err);

/* Ends profiling. Path of the profile, in the arena; the file is the caller's to remove. */
clv_status clr_session_profile(clr_session *session, clv_arena *arena, const char **ret,
                               clv_error *err);

#endif
