#include "base/suggest.h"

#include <string.h>

#define LONGEST 63 /* longer words get no suggestion */

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Edit distance with swaps of neighbours, row by row; the last three rows are kept. */
static int distance(const char *a, const char *b)
{
    int rows[3][LONGEST + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);

    for (int j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            row[j] = least(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], up2[j - 2] + 1, row[j]);
        }
    }
    return rows[na % 3][nb];
}

const char *clv_suggest(const char *given, const char *const *words, int n)
{
    size_t length = strlen(given);
    int best = (int)(length / 3 > 1 ? length / 3 : 1) + 1;
    const char *near = NULL;

    if (length > LONGEST)
        return NULL;
    for (int i = 0; i < n; i++) {
        int d = strlen(words[i]) <= LONGEST ? distance(given, words[i]) : best;
        if (d < best) {
            best = d;
            near = words[i];
        }
    }
    return near;
}
