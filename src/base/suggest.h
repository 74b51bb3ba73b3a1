/* suggest.h - did you mean: the nearest of a few words. */
#ifndef CLV_BASE_SUGGEST_H
#define CLV_BASE_SUGGEST_H

/* The word that differs least from given, by letters added, dropped, changed or swapped; the first
 * of equals; NULL if none is near enough (a third of given's length, at least 1). */
const char *clv_suggest(const char *given, const char *const *words, int n);

#endif
