#include "cluster/config_file.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/suggest.h"

#define NAMES_MAX 64 /* a message has 512 characters */

bool clv_config_is_name(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++)
        if (!isalnum((unsigned char)name[n]) && !strchr("._-", name[n]))
            return false;
    return n > 0 && n <= 100 && name[0] != '.';
}

static bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* The next folder of a colon-separated list into *folder; false at the end. Empty ones are skipped.
 */
static bool next_folder(const char **list, clv_str *folder)
{
    while (*list && **list == ':')
        (*list)++;
    if (!*list || !**list)
        return false;
    size_t n = strcspn(*list, ":");
    *folder = (clv_str){ *list, (int32_t)n };
    *list += n;
    return true;
}

clv_status clv_config_find(const clv_config_search *search, const char *name, clv_arena *arena,
                           const char **ret, clv_error *err)
{
    clv_mark mark = clv_arena_mark(arena);
    clv_str folder;
    if (search->beside) {
        const char *path = clv_arena_printf(arena, "%s/%s.json", search->beside, name);
        if (!path)
            return clv_fail_nomem(err, "a path");
        if (is_there(path)) {
            *ret = path;
            return CLV_OK;
        }
    }
    for (const char *list = search->path; next_folder(&list, &folder);) {
        clv_arena_rewind(arena, mark);
        const char *path =
            clv_arena_printf(arena, "%.*s/%s/%s.json", CLV_STR_ARG(folder), search->kind, name);
        if (!path)
            return clv_fail_nomem(err, "a path");
        if (is_there(path)) {
            *ret = path;
            return CLV_OK;
        }
    }
    clv_arena_rewind(arena, mark);
    *ret = NULL;
    return CLV_OK;
}

bool clv_config_is_path(const char *name_or_path)
{
    size_t n = strlen(name_or_path);
    return strchr(name_or_path, '/') || (n >= 5 && strcmp(name_or_path + n - 5, ".json") == 0);
}

const char *clv_config_folder(const char *path, clv_arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (slash == path)
        return "/"; /* of "/x.json" */
    return slash ? clv_arena_printf(arena, "%.*s", (int)(slash - path), path) : ".";
}

clv_status clv_config_locate(const clv_config_search *search, const char *what,
                             const char *name_or_path, clv_arena *arena, const char **ret,
                             clv_error *err)
{
    const char *path = clv_config_is_path(name_or_path) ? name_or_path : NULL;
    char known[CLV_KNOWN_SIZE];
    if (!path && clv_config_is_name(name_or_path))
        CLV_TRY(clv_config_find(search, name_or_path, arena, &path, err));
    if (!path)
        return clv_fail(err, CLV_EUSAGE, "'%.60s%s' is no known %s; %s", name_or_path,
                        strlen(name_or_path) > 60 ? "..." : "", what,
                        clv_config_known(search, name_or_path, known));
    *ret = path;
    return CLV_OK;
}

typedef struct {
    char text[104];
} short_name;

/* Puts name among the first NAMES_MAX in byte order, once. Returns how many there are now. */
static int add_name(short_name *names, int n, const char *name, size_t len)
{
    short_name new = { { 0 } };
    memcpy(new.text, name, len);
    int at = n;
    while (at > 0 && strcmp(names[at - 1].text, new.text) >= 0)
        at--;
    if (at == NAMES_MAX || (at < n && strcmp(names[at].text, new.text) == 0))
        return n;
    int kept = n < NAMES_MAX ? n : NAMES_MAX - 1;
    memmove(names + at + 1, names + at, (size_t)(kept - at) * sizeof *names);
    names[at] = new;
    return kept + 1;
}

static int add_names(const char *folder, short_name *names, int n)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return n;
    for (struct dirent *e; (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        if (len > 5 && len < sizeof names->text && strcmp(e->d_name + len - 5, ".json") == 0)
            n = add_name(names, n, e->d_name, len - 5);
    }
    closedir(dir);
    return n;
}

/* " and "-separated. */
static void list_folders(const clv_config_search *search, char *buf, size_t size)
{
    size_t n = search->beside ? clv_add_words(buf, size, 0, "%s", search->beside) : 0;
    clv_str folder;
    for (const char *list = search->path; next_folder(&list, &folder);)
        n = clv_add_words(buf, size, n, "%s%.*s/%s", n ? " and " : "", CLV_STR_ARG(folder),
                          search->kind);
    if (n == 0)
        clv_add_words(buf, size, 0, "no folder");
}

const char *clv_config_places(const clv_config_search *search, char *buf, size_t size)
{
    list_folders(search, buf, size);
    return buf;
}

typedef struct {
    const char **at;
    int32_t n, cap;
} name_list;

static clv_status list_names(const char *folder, clv_arena *arena, name_list *to, clv_error *err)
{
    DIR *dir = opendir(folder);
    clv_status status = CLV_OK;
    if (!dir)
        return CLV_OK;
    for (struct dirent *e; status == CLV_OK && (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n <= 5 || strcmp(e->d_name + n - 5, ".json") != 0)
            continue;
        const char *name = clv_arena_printf(arena, "%.*s", (int)(n - 5), e->d_name);
        if (name && !clv_config_is_name(name))
            continue;
        if (name && CLV_PUSH_ROOM(arena, to->at, to->n, to->cap))
            to->at[to->n++] = name;
        else
            status = clv_fail_nomem(err, "a list of names");
    }
    closedir(dir);
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

clv_status clv_config_names(const clv_config_search *search, clv_arena *arena,
                            const char *const **ret, int32_t *ret_n, clv_error *err)
{
    name_list all = { 0 };
    clv_str folder;
    int32_t n = 0;
    for (const char *list = search->path; next_folder(&list, &folder);) {
        const char *path = clv_arena_printf(arena, "%.*s/%s", CLV_STR_ARG(folder), search->kind);
        if (!path)
            return clv_fail_nomem(err, "a path");
        CLV_TRY(list_names(path, arena, &all, err));
    }
    if (all.n > 0)
        qsort(all.at, (size_t)all.n, sizeof *all.at, by_bytes);
    for (int32_t i = 0; i < all.n; i++)
        if (n == 0 || strcmp(all.at[n - 1], all.at[i]) != 0)
            all.at[n++] = all.at[i];
    *ret = all.at;
    *ret_n = n;
    return CLV_OK;
}

const char *clv_config_known(const clv_config_search *search, const char *wanted,
                             char buf[static CLV_KNOWN_SIZE])
{
    short_name names[NAMES_MAX];
    const char *words[NAMES_MAX];
    char looked[CLV_KNOWN_SIZE * 2 / 3] = "", known[CLV_KNOWN_SIZE] = "none", folder_name[PATH_MAX];
    int n = 0;
    clv_str folder;
    for (const char *list = search->path; next_folder(&list, &folder);) {
        snprintf(folder_name, sizeof folder_name, "%.*s/%s", CLV_STR_ARG(folder), search->kind);
        n = add_names(folder_name, names, n);
    }
    for (int i = 0; i < n; i++)
        words[i] = names[i].text;
    const char *near = clv_suggest(wanted, words, n);
    list_folders(search, looked, sizeof looked);
    size_t at = near ? clv_add_words(buf, CLV_KNOWN_SIZE, 0, "did you mean '%s'? ", near) : 0;
    size_t others = at + sizeof "known are  (looked in )" + strlen(looked);
    /* where was looked is worth more than the last of many names */
    size_t room = others + 8 < sizeof known ? sizeof known - others : 8, length = 0;
    for (int i = 0; i < n; i++)
        length = clv_add_words(known, room, length, "%s%s", length ? ", " : "", words[i]);
    clv_add_words(buf, CLV_KNOWN_SIZE, at, "known are %s (looked in %s)", known, looked);
    return buf;
}
