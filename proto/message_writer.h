/* message_writer.h - messages written field by field, nested as they come.
 *
 * The length of a message stands before it, so whoever writes does the same twice: once to measure,
 * which keeps the length of each nested message in the order of their starts, and once to write.
 */
#ifndef CLV_PROTO_MESSAGE_WRITER_H
#define CLV_PROTO_MESSAGE_WRITER_H

#include "proto/message.h"
#include "proto/sink_buffer.h"

/* The most bytes that protobuf's own parsers take. */
#define CLV_PROTOBUF_MAX INT32_MAX

typedef struct {
    clv_sink_buffer *out; /* NULL: measure */
    clv_arena *arena;
    uint64_t *lengths;
    int32_t n_lengths, cap_lengths;
    int32_t next;   /* length */
    uint64_t total; /* bytes so far */
} clv_message_writer;

/* A nested message that is being written. */
typedef struct {
    uint32_t field;
    int32_t i; /* its length */
    uint64_t before;
} clv_open_message;

/* From measuring to writing into out: the calls that were measured come again. */
void clv_message_writer_start(clv_message_writer *e, clv_sink_buffer *out);

/* A field each; between begin and end are those of a nested message. Each may fail as the sink
 * does; measuring, as the arena does, and with CLV_ELIMIT from CLV_PROTOBUF_MAX bytes on. O(bytes).
 */
clv_status clv_put_begin(clv_message_writer *e, uint32_t field, clv_open_message *ret,
                         clv_error *err);
clv_status clv_put_end(clv_message_writer *e, const clv_open_message *m, clv_error *err);
clv_status clv_put_int(clv_message_writer *e, uint32_t field, int64_t value, clv_error *err);
clv_status clv_put_float(clv_message_writer *e, uint32_t field, float value, clv_error *err);
clv_status clv_put_bytes(clv_message_writer *e, uint32_t field, const void *bytes, size_t n,
                         clv_error *err);
static inline clv_status clv_put_str(clv_message_writer *e, uint32_t field, clv_str s,
                                     clv_error *err)
{
    return clv_put_bytes(e, field, s.at, (size_t)s.n, err);
}
/* A StringStringEntryProto. */
clv_status clv_put_pair(clv_message_writer *e, uint32_t field, clv_str key, clv_str value,
                        clv_error *err);
/* A field of the opened file as it stands, when m has just passed it. */
clv_status clv_put_field(clv_message_writer *e, const clv_message *m, const clv_field *f,
                         clv_error *err);

#endif
