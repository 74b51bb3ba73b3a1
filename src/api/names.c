#include "api/names.h"

#include <string.h>

#define COUNT(words) (sizeof(words) / sizeof *(words))

#define AS_TEXT_(x)  #x
#define AS_TEXT(x)   AS_TEXT_(x)

const char *cleave_version(void)
{
    return AS_TEXT(CLEAVE_VERSION_MAJOR) "." AS_TEXT(CLEAVE_VERSION_MINOR) "." AS_TEXT(
        CLEAVE_VERSION_PATCH);
}

unsigned cleave_version_number(void) { return CLEAVE_VERSION_NUMBER; }

static const char *word_of(const char *const *words, size_t n, int value)
{
    return value >= 0 && (size_t)value < n ? words[value] : "unknown";
}

const char *cleave_status_name(cleave_status status)
{
    static const char *const words[] = { "ok",    "no plan", "usage",  "input",    "unsupported",
                                         "limit", "io",      "memory", "canceled", "internal" };
    return word_of(words, COUNT(words), (int)status);
}

const char *cleave_objective_name(cleave_objective objective)
{
    static const char *const words[] = { "latency", "throughput", "devices" };
    return word_of(words, COUNT(words), (int)objective);
}

const char *cleave_form_name(cleave_form form)
{
    static const char *const words[] = { "stages", "devices", "emulate", "ort-options", "olive" };
    return word_of(words, COUNT(words), (int)form);
}

const char *cleave_collectives_name(cleave_collectives collectives)
{
    static const char *const words[] = { "ort", "tensorrt" };
    return word_of(words, COUNT(words), (int)collectives);
}

const char *cleave_weights_name(cleave_weights weights)
{
    static const char *const words[] = { "external", "safetensors", "ranges" };
    return word_of(words, COUNT(words), (int)weights);
}

/* -- why a search ended: the words are the solvers' (limits.h) -- */

static const clv_end ends[] = {
    [CLEAVE_END_UNKNOWN] = CLV_END_GIVEN,
    [CLEAVE_END_OPTIMAL] = CLV_END_OPTIMAL,
    [CLEAVE_END_GAP] = CLV_END_GAP,
    [CLEAVE_END_INFEASIBLE] = CLV_END_INFEASIBLE,
    [CLEAVE_END_SEARCHED] = CLV_END_SEARCHED,
    [CLEAVE_END_DEADLINE] = CLV_END_DEADLINE,
    [CLEAVE_END_STOPPED] = CLV_END_STOPPED,
    [CLEAVE_END_CANDIDATES] = CLV_END_CANDIDATES,
    [CLEAVE_END_FIRST_FIT] = CLV_END_FIRST_FIT,
};

const char *cleave_end_name(cleave_end end)
{
    const char *word = (unsigned)end < COUNT(ends) ? clv_end_name(ends[end]) : NULL;
    return word ? word : "unknown";
}

cleave_end clv_end_public(clv_end end)
{
    for (size_t i = 0; i < COUNT(ends); i++)
        if (ends[i] == end)
            return (cleave_end)i;
    return CLEAVE_END_UNKNOWN;
}

cleave_end clv_end_of_word(const char *word)
{
    for (size_t i = 0; word && i < COUNT(ends); i++)
        if (strcmp(cleave_end_name((cleave_end)i), word) == 0)
            return (cleave_end)i;
    return CLEAVE_END_UNKNOWN;
}
