#include "base/text_digest.h"

#include <stdio.h>
#include <string.h>

#define KEY "\"" CLV_TEXT_DIGEST "\""

/* -- writing -- */

clv_status clv_text_digest_add(const char *text, size_t n, clv_arena *arena, const char **ret,
                               size_t *ret_n, clv_error *err)
{
    static const char end[] = "\n}\n", next[] = ",\n  ";
    size_t n_body = n - (sizeof end - 1), n_before = n_body + (sizeof next - 1);
    size_t room = n_before + sizeof KEY + CLV_CHECKSUM_TEXT + 16;
    char *made = clv_arena_take(arena, room), sum[CLV_CHECKSUM_TEXT];
    clv_checksum_state *state = clv_checksum_new(arena);
    if (!made || !state)
        return clv_fail_nomem(err, "a digest");
    memcpy(made, text, n_body);
    memcpy(made + n_body, next, sizeof next - 1);
    clv_checksum_add(state, made, n_before);
    clv_checksum_text(sum, clv_checksum_end(state));
    *ret_n =
        n_before + (size_t)snprintf(made + n_before, room - n_before, KEY ": \"%s\"%s", sum, end);
    *ret = made;
    return CLV_OK;
}

/* -- reading -- */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Behind a key: a checksum. Returns what is behind that, NULL where there is none. */
static const char *read_checksum(const char *at, clv_checksum *ret)
{
    char hex[CLV_CHECKSUM_TEXT] = "";
    at = skip_blanks(at);
    if (*at != ':')
        return NULL;
    at = skip_blanks(at + 1);
    if (*at != '"' || strlen(at + 1) < sizeof hex)
        return NULL;
    memcpy(hex, at + 1, sizeof hex - 1);
    at += sizeof hex;
    return *at == '"' && clv_checksum_parse(hex, ret) ? at + 1 : NULL;
}

const char *clv_text_find_checksum(const char *text, size_t n, const char *key, clv_checksum *ret,
                                   const char **ret_behind)
{
    size_t length = strlen(key);
    for (size_t at = n; at >= length; at--) {
        const char *found = text + at - length;
        if (memcmp(found, key, length) == 0 && (*ret_behind = read_checksum(text + at, ret)))
            return found;
    }
    return NULL;
}

clv_status clv_text_digest_check(const char *text, size_t n, const char *path, const char *remedy,
                                 clv_arena *arena, clv_error *err)
{
    char is[CLV_CHECKSUM_TEXT], said[CLV_CHECKSUM_TEXT];
    clv_checksum listed, sum;
    const char *behind = NULL, *key = clv_text_find_checksum(text, n, KEY, &listed, &behind);
    if (key)
        behind = skip_blanks(behind);
    if (!key || *behind != '}' || *skip_blanks(behind + 1) != '\0')
        return clv_fail(err, CLV_EFORMAT,
                        "%s: it does not end with its digest, 32 hexadecimal digits: it was "
                        "changed, %s",
                        path, remedy);
    clv_checksum_state *state = clv_checksum_new(arena);
    if (!state)
        return clv_fail_nomem(err, "a digest");
    clv_checksum_add(state, text, (size_t)(key - text));
    sum = clv_checksum_end(state);
    return clv_checksum_eq(sum, listed)
               ? CLV_OK
               : clv_fail(err, CLV_EFORMAT, "%s was changed: its digest is %s, it says %s; %s",
                          path, clv_checksum_text(is, sum), clv_checksum_text(said, listed),
                          remedy);
}
