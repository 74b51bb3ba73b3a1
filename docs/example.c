/* example.c - plans a model for two devices and writes it annotated.
 *
 *     cc example.c $(pkg-config --cflags --libs cleave) -o example
 *     ./example model.onnx model.sharded.onnx
 */
#include <cleave.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    cleave_model *model = NULL;
    cleave_plan *plan = NULL;
    cleave_error error;
    cleave_plan_options options;

    if (argc != 3) {
        fprintf(stderr, "Usage: example MODEL OUTPUT\n");
        return 2;
    }
    cleave_plan_options_init(&options);
    options.devices = 2;
    int failed = cleave_model_open(argv[1], NULL, &model, &error) != CLEAVE_OK ||
                 cleave_plan_make(model, &options, NULL, &plan, &error) != CLEAVE_OK ||
                 cleave_annotate(model, plan, NULL, argv[2], NULL, &error) != CLEAVE_OK;
    if (failed)
        fprintf(stderr, "example: %s\n", error.message);
    else
        printf("%d stages, %.3f ms a run, node 0 on device %d\n", cleave_plan_stages(plan),
               cleave_plan_latency_s(plan) * 1e3, cleave_plan_device_of(plan, 0));
    cleave_plan_free(plan);
    cleave_model_free(model);
    return failed;
}
