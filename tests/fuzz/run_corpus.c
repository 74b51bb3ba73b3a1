/* run_corpus.c - runs a fuzz target over the files of a folder; what was found once stays tested.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    uint8_t *data = malloc(n > 0 ? (size_t)n : 1);
    size_t got = data && n >= 0 ? fread(data, 1, (size_t)n, f) : 0;
    fclose(f);
    if (data)
        LLVMFuzzerTestOneInput(data, got);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int n = 0;
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        if (e->d_name[0] != '.')
            n += run_file(path);
    }
    closedir(dir);
    printf("%d inputs\n", n);
    return n ? 0 : 1;
}
