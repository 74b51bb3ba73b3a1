#include "base/json.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_check.h"
#include "base/json_out.h"
#include "base/units.h"

/* The text is checked (json_check.h), copied so that a NUL stands behind it, made into a tree by
 * cJSON, and the tree looked over once for what the grammar allows but we do not: a key given twice
 * and numbers beyond a double. cJSON's lists are walked by their links, never by index.
 */

#define PATH_MAX_CHARS 256
#define EXACT_MAX      0x1p53 /* every whole number up to here is a double */
#define FEW_KEYS       8 /* so few are compared pair by pair in less than it takes to sort them */

static int by_key(const void *a, const void *b)
{
    return strcmp((*(cJSON *const *)a)->string, (*(cJSON *const *)b)->string);
}

/* Some key that n are given twice, in *ret; NULL. They are sorted, O(n log n). */
static clv_status find_twice_in_many(const cJSON *first, size_t n, const char **ret, clv_error *err)
{
    const cJSON **keys = calloc(n, sizeof *keys);
    size_t i = 0;
    if (!keys)
        return clv_fail_nomem(err, "the keys of a JSON object");
    for (const cJSON *c = first; c; c = c->next)
        keys[i++] = c;
    qsort(keys, n, sizeof *keys, by_key);
    for (i = 1; i < n && strcmp(keys[i - 1]->string, keys[i]->string) != 0; i++)
        ;
    *ret = i < n ? keys[i]->string : NULL;
    free(keys);
    return CLV_OK;
}

static size_t write_path(const clv_json_at *at, int line, char *buf, size_t size);

/* The path of an object, with the line of its last member of that name. */
static const char *path_at_key(const clv_json_at *at, const char *key, char *buf, size_t size)
{
    int line = 0;
    for (const cJSON *c = at->json->child; c; c = c->next)
        line = strcmp(c->string, key) == 0 ? c->valueint : line;
    buf[0] = 0;
    write_path(at, line, buf, size);
    return buf;
}

static const char *find_twice_in_few(const cJSON *first)
{
    for (const cJSON *c = first; c; c = c->next)
        for (const cJSON *d = c->next; d; d = d->next)
            if (*c->string == *d->string && strcmp(c->string, d->string) == 0)
                return d->string;
    return NULL;
}

static clv_status check_duplicates(const clv_json_at *at, clv_error *err)
{
    char path[PATH_MAX_CHARS];
    const char *twice = NULL;
    size_t n = 0;
    for (const cJSON *c = at->json->child; c; c = c->next)
        n++;
    if (n <= FEW_KEYS)
        twice = find_twice_in_few(at->json->child);
    else
        CLV_TRY(find_twice_in_many(at->json->child, n, &twice, err));
    if (!twice)
        return CLV_OK;
    return clv_fail(err, CLV_EFORMAT, "%s has the key '%.60s' twice, expected once",
                    path_at_key(at, twice, path, sizeof path), twice);
}

/* As deep as CLV_JSON_DEPTH_MAX at most. *largest: no number is beyond it, either way. */
static clv_status check_tree(const clv_json_at *at, double *largest, clv_error *err)
{
    char path[PATH_MAX_CHARS];
    if (cJSON_IsNumber(at->json)) {
        double size = fabs(at->json->valuedouble);
        if (!isfinite(size))
            return clv_fail(err, CLV_EFORMAT,
                            "%s is a number beyond 1.8e308, expected a finite one",
                            clv_json_path(at, path, sizeof path));
        *largest = size > *largest ? size : *largest;
    }
    bool object = cJSON_IsObject(at->json);
    if (object)
        CLV_TRY(check_duplicates(at, err));
    int32_t i = 0;
    for (const cJSON *c = at->json->child; c; c = c->next) {
        clv_json_at below = { at, c->string, object ? -1 : i++, c };
        CLV_TRY(check_tree(&below, largest, err));
    }
    return CLV_OK;
}

/* Behind a string, or one other character. */
static const char *after_token(const char *p)
{
    if (*p++ != '"')
        return p;
    for (; *p != '"'; p++)
        p += *p == '\\';
    return p + 1;
}

/* cJSON keeps doubles: numbers that those may round keep their text beside it, which cJSON frees as
 * it does that of strings. text: behind all numbers of the tree that were seen. */
static clv_status keep_digits(cJSON *json, const char **text, clv_error *err)
{
    if (cJSON_IsNumber(json)) {
        while (**text != '-' && !(**text >= '0' && **text <= '9'))
            *text = after_token(*text);
        size_t n = strspn(*text, "+-.0123456789eE");
        if (fabs(json->valuedouble) >= EXACT_MAX) {
            json->valuestring = malloc(n + 1);
            if (!json->valuestring)
                return clv_fail_nomem(err, "a number of a JSON document");
            memcpy(json->valuestring, *text, n);
            json->valuestring[n] = 0;
        }
        *text += n;
    }
    for (cJSON *c = json->child; c; c = c->next)
        CLV_TRY(keep_digits(c, text, err));
    return CLV_OK;
}

/* -- lines -- */

typedef struct {
    const char *at; /* NUL-terminated, and JSON */
    int line;
} place;

static void skip_space(place *p)
{
    for (; *p->at == ' ' || *p->at == '\t' || *p->at == '\r' || *p->at == '\n'; p->at++)
        p->line += *p->at == '\n';
}

/* To what comes next, behind the marks before it. */
static void skip_to_value(place *p)
{
    for (skip_space(p); *p->at == ',' || *p->at == ':'; skip_space(p))
        p->at++;
}

/* The line of each value, where cJSON has whole numbers that nobody reads: it keeps all numbers as
 * doubles too. Text and tree are in the same order. */
static void note_lines(cJSON *json, place *p)
{
    skip_to_value(p);
    json->valueint = p->line;
    if (cJSON_IsObject(json) || cJSON_IsArray(json)) {
        p->at++;
        for (cJSON *c = json->child; c; c = c->next) {
            skip_to_value(p);
            if (cJSON_IsObject(json))
                p->at = after_token(p->at);
            note_lines(c, p);
        }
        skip_space(p);
        p->at++;
    } else if (cJSON_IsString(json)) {
        p->at = after_token(p->at);
    } else {
        p->at += strcspn(p->at, ",]} \t\r\n");
    }
}

static void forget_lines(cJSON *json)
{
    json->valueint = 0;
    for (cJSON *c = json->child; c; c = c->next)
        forget_lines(c);
}

/* Where all is on one line it says nothing. */
static void find_lines(cJSON *json, const char *text)
{
    place p = { .at = text, .line = 1 };
    note_lines(json, &p);
    if (p.line == json->valueint)
        forget_lines(json);
}

static clv_status parse(const char *text, size_t n, const char *what, bool is_line, clv_json **ret,
                        clv_error *err)
{
    CLV_TRY(clv_json_check(text, n, what, is_line, err));
    if (n > INT32_MAX)
        return clv_fail(err, CLV_ELIMIT, "%.200s has %zu bytes, expected at most 2^31 - 1", what,
                        n);
    /* cJSON 1.7.15 reads one byte past a text that is cut off behind a comma; with the NUL there
     * the byte is ours. */
    char *copy = malloc(n + 1);
    if (!copy)
        return clv_fail_nomem(err, "a JSON document");
    memcpy(copy, text, n);
    copy[n] = 0;
    cJSON *json = cJSON_ParseWithLengthOpts(copy, n + 1, NULL, 1);
    clv_json_at root = clv_json_root(json, what);
    const char *numbers = copy;
    double largest = 0;
    if (json)
        find_lines(json, copy);
    clv_status status =
        json ? check_tree(&root, &largest, err) : clv_fail_nomem(err, "a JSON document");
    if (status == CLV_OK && largest >= EXACT_MAX)
        status = keep_digits(json, &numbers, err);
    free(copy);
    if (status != CLV_OK) {
        cJSON_Delete(json);
        return status;
    }
    *ret = json;
    return CLV_OK;
}

clv_status clv_json_parse(const char *text, size_t n, const char *what, clv_json **ret,
                          clv_error *err)
{
    return parse(text, n, what, false, ret, err);
}

clv_status clv_json_parse_line(const char *text, size_t n, const char *what, clv_json **ret,
                               clv_error *err)
{
    return parse(text, n, what, true, ret, err);
}

void clv_json_free(clv_json *json) { cJSON_Delete(json); }

clv_json_at clv_json_root(const clv_json *json, const char *what)
{
    return (clv_json_at){ NULL, what, -1, json };
}

/* line: of the document, behind its name; 0: none. */
static size_t write_path(const clv_json_at *at, int line, char *buf, size_t size)
{
    size_t n = at->parent ? write_path(at->parent, line, buf, size) : 0;
    if (n >= size)
        return n;
    int more;
    if (!at->parent && line > 0)
        more = snprintf(buf, size, "%.120s:%d", at->key, line);
    else if (!at->parent)
        more = snprintf(buf, size, "%.120s", at->key);
    else {
        const char *between = at->parent->parent ? "" : ": ";
        if (at->index >= 0)
            more = snprintf(buf + n, size - n, "%s[%d]", between, (int)at->index);
        else
            more = snprintf(buf + n, size - n, "%s%.60s", *between ? between : ".", at->key);
    }
    return n + (size_t)(more > 0 ? more : 0);
}

const char *clv_json_path(const clv_json_at *at, char *buf, size_t size)
{
    const clv_json_at *there = at;
    assert(size > 0);
    while (!there->json && there->parent)
        there = there->parent;
    buf[0] = 0;
    write_path(at, there->parent ? there->json->valueint : 0, buf, size);
    return buf;
}

/* The value as far as a message needs it. */
static const char *show(const cJSON *json, char buf[static 80])
{
    char number[32];
    if (cJSON_IsString(json))
        snprintf(buf, 80, "\"%.60s\"", json->valuestring);
    else if (cJSON_IsNumber(json))
        snprintf(buf, 80, "%s", clv_json_number_text(number, json->valuedouble));
    else
        snprintf(buf, 80, "%s",
                 cJSON_IsObject(json)  ? "an object"
                 : cJSON_IsArray(json) ? "an array"
                 : cJSON_IsTrue(json)  ? "true"
                 : cJSON_IsFalse(json) ? "false"
                                       : "null");
    return buf;
}

static clv_status wrong(const clv_json_at *at, const char *expected, clv_error *err)
{
    char path[PATH_MAX_CHARS], value[80];
    return clv_fail(err, CLV_EFORMAT, "%s is %s, expected %s", clv_json_path(at, path, sizeof path),
                    show(at->json, value), expected);
}

clv_status clv_json_keys(const clv_json_at *at, const char *const *allowed, clv_error *err)
{
    if (!cJSON_IsObject(at->json))
        return wrong(at, "an object", err);
    for (const cJSON *c = at->json->child; c; c = c->next) {
        int i = 0;
        while (allowed[i] && strcmp(allowed[i], c->string) != 0)
            i++;
        if (allowed[i])
            continue;
        char path[PATH_MAX_CHARS], list[200];
        size_t n = 0;
        list[0] = 0;
        for (i = 0; allowed[i] && n < sizeof list; i++)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", allowed[i]);
        return clv_fail(err, CLV_EFORMAT, "%s has the unknown key '%.60s', expected only %s",
                        path_at_key(at, c->string, path, sizeof path), c->string, list);
    }
    return CLV_OK;
}

clv_status clv_json_member(const clv_json_at *at, const char *key, bool required, clv_json_at *ret,
                           clv_error *err)
{
    assert(ret != at);
    if (!cJSON_IsObject(at->json))
        return wrong(at, "an object", err);
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(at->json, key);
    char path[PATH_MAX_CHARS];
    if (!json && required)
        return clv_fail(err, CLV_EFORMAT, "%s has no key '%s', which is required",
                        clv_json_path(at, path, sizeof path), key);
    *ret = (clv_json_at){ at, json ? json->string : key, -1, json };
    return CLV_OK;
}

clv_status clv_json_length(const clv_json_at *at, int32_t *ret, clv_error *err)
{
    if (!cJSON_IsArray(at->json))
        return wrong(at, "an array", err);
    int32_t n = 0; /* below 2^31, as the text has fewer bytes */
    for (const cJSON *c = at->json->child; c; c = c->next)
        n++;
    *ret = n;
    return CLV_OK;
}

clv_json_at clv_json_element(const clv_json_at *at, int32_t index, const clv_json_at *previous)
{
    assert(index >= 0);
    const cJSON *json;
    if (index > 0 && previous && previous->json && previous->parent == at &&
        previous->index == index - 1)
        json = previous->json->next;
    else {
        json = at->json->child;
        for (int32_t i = 0; i < index && json; i++)
            json = json->next;
    }
    return (clv_json_at){ at, NULL, index, json };
}

clv_status clv_json_string(const clv_json_at *at, const char **ret, clv_error *err)
{
    if (!cJSON_IsString(at->json))
        return wrong(at, "a string", err);
    *ret = at->json->valuestring;
    return CLV_OK;
}

clv_status clv_json_copy_string(const clv_json_at *at, clv_arena *arena, const char **ret,
                                clv_error *err)
{
    const char *text = NULL;
    CLV_TRY(clv_json_string(at, &text, err));
    char *copy = clv_arena_printf(arena, "%s", text);
    if (!copy)
        return clv_fail_nomem(err, "a text of a JSON file");
    *ret = copy;
    return CLV_OK;
}

clv_status clv_json_copy_texts(const clv_json_at *object, const char *key, clv_arena *arena,
                               const char ***ret, int32_t *ret_n, clv_error *err)
{
    clv_json_at list, at = { 0 };
    int32_t n = 0;

    CLV_TRY(clv_json_member(object, key, false, &list, err));
    if (!list.json)
        return CLV_OK;
    CLV_TRY(clv_json_length(&list, &n, err));
    const char **texts = CLV_NEW_ARRAY(arena, const char *, n);
    if (!texts)
        return clv_fail_nomem(err, "the texts of a JSON file");
    for (int32_t i = 0; i < n; i++) {
        at = clv_json_element(&list, i, i ? &at : NULL);
        CLV_TRY(clv_json_copy_string(&at, arena, &texts[i], err));
    }
    *ret = texts;
    *ret_n = n;
    return CLV_OK;
}

clv_status clv_json_number(const clv_json_at *at, double min, double max, double *ret,
                           clv_error *err)
{
    double v = at->json->valuedouble;
    if (!cJSON_IsNumber(at->json) || !(v >= min && v <= max)) {
        char expected[100], low[32], high[32];
        if (min > -DBL_MAX && max < DBL_MAX)
            snprintf(expected, sizeof expected, "a number from %s to %s",
                     clv_json_number_text(low, min), clv_json_number_text(high, max));
        else if (min > -DBL_MAX)
            snprintf(expected, sizeof expected, "a number of at least %s",
                     clv_json_number_text(low, min));
        else if (max < DBL_MAX)
            snprintf(expected, sizeof expected, "a number of at most %s",
                     clv_json_number_text(high, max));
        else
            snprintf(expected, sizeof expected, "a number");
        return wrong(at, expected, err);
    }
    *ret = v;
    return CLV_OK;
}

clv_status clv_json_int(const clv_json_at *at, int64_t min, int64_t max, int64_t *ret,
                        clv_error *err)
{
    const int64_t exact = (int64_t)EXACT_MAX;
    int64_t low = min < -exact ? -exact : min, high = max > exact ? exact : max;
    double v = at->json->valuedouble;
    bool whole =
        cJSON_IsNumber(at->json) && v >= (double)-exact && v <= (double)exact && v == floor(v);
    if (!whole || (int64_t)v < low || (int64_t)v > high) {
        char expected[100];
        return wrong(at, clv_show_range(expected, low, high), err);
    }
    *ret = (int64_t)v;
    return CLV_OK;
}

/* Of the text of a number that fits 64 bits. */
static int64_t rounded(const char *text, bool up)
{
    const char *e = strpbrk(text, "eE"), *p = text;
    int64_t whole = 0;
    bool rest = false;
    long left = (long)strcspn(text, ".eE") + (e ? strtol(e + 1, NULL, 10) : 0);
    for (; *p && p != e; p++) {
        if (*p == '.')
            continue;
        if (left-- > 0)
            whole = whole * 10 + (*p - '0');
        else
            rest |= *p != '0';
    }
    for (; left > 0; left--)
        whole *= 10;
    return whole + (up && rest);
}

clv_status clv_json_rounded(const clv_json_at *at, int64_t max, bool up, int64_t *ret,
                            clv_error *err)
{
    double v;
    CLV_TRY(clv_json_number(at, 0, (double)max, &v, err));
    int64_t whole = at->json->valuestring ? rounded(at->json->valuestring, up)
                                          : (int64_t)(up ? ceil(v) : floor(v));
    if (whole > max) {
        char expected[100];
        return wrong(at, clv_show_range(expected, 0, max), err);
    }
    *ret = whole;
    return CLV_OK;
}

clv_status clv_json_bool(const clv_json_at *at, bool *ret, clv_error *err)
{
    if (!cJSON_IsBool(at->json))
        return wrong(at, "true or false", err);
    *ret = cJSON_IsTrue(at->json);
    return CLV_OK;
}

bool clv_json_is_object(const clv_json_at *at) { return cJSON_IsObject(at->json); }
bool clv_json_is_string(const clv_json_at *at) { return cJSON_IsString(at->json); }
bool clv_json_is_null(const clv_json_at *at) { return cJSON_IsNull(at->json); }
bool clv_json_is_array(const clv_json_at *at) { return cJSON_IsArray(at->json); }

clv_json_at clv_json_next_member(const clv_json_at *at, const clv_json_at *previous)
{
    const cJSON *json = previous ? previous->json->next : at->json->child;
    return (clv_json_at){ at, json ? json->string : NULL, -1, json };
}

const char *clv_json_key_at(const clv_json_at *at, int32_t i)
{
    if (!cJSON_IsObject(at->json))
        return NULL;
    const cJSON *c = at->json->child;
    for (; c && i > 0; i--)
        c = c->next;
    return c ? c->string : NULL;
}
