#include "cli/control.h"

#include "cli/answer.h"
#include "cli/signals.h"

static int on_stop(void *ctx)
{
    (void)ctx;
    return cli_signal() != 0;
}

cleave_control cli_control(const cli *c)
{
    cleave_control control;

    cleave_control_init(&control);
    control.stop = on_stop;
    control.report = c->json ? CLEAVE_REPORT_JSON : CLEAVE_REPORT_TEXT;
    control.note = c->quiet ? NULL : cli_note;
    control.report_columns = cli_columns();
    control.report_colour = c->colour;
    return control;
}
