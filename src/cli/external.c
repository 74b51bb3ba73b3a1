#include "cli/external.h"

#include <string.h>

#include "base/file.h"
#include "base/streams.h"
#include "cli/answer.h"

/* Weights that a model keeps in other files are named relative to its folder, and stay where they
 * are when it is written into another one.
 */

/* Readers look in the folder of the path that they are given, whatever it links to. */
static const char *folder_of(cli *c, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    return clv_arena_printf(c->arena, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int cli_note_external(cli *c, const cleave_model *model, const char *input, const char *output,
                      const char **ret)
{
    const char *first = cleave_model_external(model, 0), *more = "";
    const char *from = folder_of(c, input), *to = folder_of(c, output);
    int n = 0;

    *ret = NULL;
    if (!from || !to)
        return cli_nomem(c);
    if (!first || clv_same_place(from, to) ||
        clv_is_stream(output)) /* who reads a stream is elsewhere */
        return CLI_EXIT_OK;
    while (cleave_model_external(model, n))
        n++;
    if (n > 1)
        more = clv_arena_printf(c->arena, " and %d more file%s", n - 1, n > 2 ? "s" : "");
    if (more)
        *ret = clv_arena_printf(c->arena, "%s looks for '%s'%s in %s: copy or link %s there",
                                output, first, more, strchr(output, '/') ? to : "this folder",
                                n > 1 ? "them" : "it");
    return *ret ? CLI_EXIT_OK : cli_nomem(c);
}
