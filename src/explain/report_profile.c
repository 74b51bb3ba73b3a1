#include "explain/report_profile.h"

#include <string.h>

#include "base/units.h"
#include "explain/table.h"

#define SHOWN_PRICE  5e-5 /* less is 0 with the digits that are shown */
#define NAME_COLUMNS 40   /* of the profile's name, which a file may say */

/* "TP8 37.2 ms", and of how many devices where that is not the same. */
static const char *result(clv_text *text, const clv_plan_result *r, bool counts_devices)
{
    char ns[32];
    counts_devices = counts_devices && strcmp(r->form, "1 device") != 0; /* it says so */
    const char *s = counts_devices ? clv_arena_printf(text->arena, "%s %s on %d device%s", r->form,
                                                      clv_show_time(ns, r->objective_ns),
                                                      (int)r->devices, r->devices == 1 ? "" : "s")
                                   : clv_arena_printf(text->arena, "%s %s", r->form,
                                                      clv_show_time(ns, r->objective_ns));
    text->failed |= !s;
    return s ? s : "";
}

/* "21 % in latency", "no latency" where that takes more devices, "nothing". */
static const char *price_of(const clv_plan *plan, clv_text *text)
{
    const clv_plan_profile *p = plan->profile;
    const char *measure = plan->objective == CLV_THROUGHPUT ? "time between runs" : "latency";
    double price = clv_plan_profile_price(p);
    char part[32];
    if (price < SHOWN_PRICE && p->with.devices <= p->without.devices)
        return "nothing";
    const char *s = price < SHOWN_PRICE ? clv_arena_printf(text->arena, "no %s", measure)
                                        : clv_arena_printf(text->arena, "%s in %s",
                                                           clv_show_percent(part, price), measure);
    text->failed |= !s;
    return s ? s : "";
}

static void put_price(const clv_plan *plan, clv_text *text)
{
    const clv_plan_profile *p = plan->profile;
    const char *name = clv_cell_str_cut(text, clv_str_of(p->name), NAME_COLUMNS);
    bool counts = p->with.devices != p->without.devices;
    if (!p->without.form)
        clv_text_labelled(text, "profile", "%s%s", name,
                          p->with.form ? ": time was up before it was known what it costs" : "");
    else if (!p->with.form)
        clv_text_labelled(text, "profile", "%s: no plan of it %s; without it: %s", name,
                          plan->outcome == CLV_LATE ? "is within the limit" : "fits",
                          result(text, &p->without, true));
    else if (strcmp(p->with.form, p->without.form) == 0 && !counts &&
             clv_plan_profile_price(p) < SHOWN_PRICE)
        clv_text_labelled(text, "profile", "%s: it costs nothing, %s is best without it too", name,
                          p->with.form);
    else
        clv_text_labelled(text, "profile", "%s: it costs %s: %s, without it %s", name,
                          price_of(plan, text), result(text, &p->with, counts),
                          result(text, &p->without, counts));
}

void clv_report_profile(const clv_plan *plan, clv_text *text)
{
    const clv_plan_profile *p = plan->profile;
    if (!p)
        return;
    clv_text_printf(text, "\n");
    put_price(plan, text);
    if (p->command && p->servers > 1) /* to be copied: in one line */
        clv_text_printf(text, "command     of each of %d servers: %s\n", (int)p->servers,
                        clv_cell_name(text, p->command));
    else if (p->command)
        clv_text_printf(text, "command     %s\n", clv_cell_name(text, p->command));
}
