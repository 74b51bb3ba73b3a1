#include "base/temporary.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS 4
#define TIMES   1500

static char place[] = "/tmp/clv_temporary_XXXXXX";
static int folder = -1;

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(place));
    folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    cr_assert_geq(folder, 0);
}

static void tear_down(void)
{
    close(folder);
    rmdir(place);
}

TestSuite(temporary, .init = set_up, .fini = tear_down);

static bool nothing_is_kept(int unused)
{
    (void)unused;
    return false;
}

/* Whether each of many temporaries could be made, while others tidy up. */
static bool write_many(bool (*make)(int folder, const char *base, clv_temporary *ret))
{
    for (int i = 0; i < TIMES; i++) {
        clv_temporary t;
        clv_temporaries_sweep(folder, nothing_is_kept);
        if (!make(folder, "out", &t))
            return false;
        clv_temporary_remove(folder, &t);
    }
    return true;
}

static void expect_all_made(bool (*make)(int folder, const char *base, clv_temporary *ret))
{
    pid_t writer[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writer[i] = fork();
        cr_assert_geq(writer[i], 0);
        if (writer[i] == 0)
            _exit(write_many(make) ? 0 : 1);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        cr_assert_eq(waitpid(writer[i], &status, 0), writer[i]);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "writer %d of %d", i, WRITERS);
    }
}

/* A folder is made and locked in two steps, between which it may be taken for a leftover. */
Test(temporary, folders_are_made_while_others_tidy_up) { expect_all_made(clv_temporary_folder); }

Test(temporary, files_are_made_while_others_tidy_up) { expect_all_made(clv_temporary_file); }
