/* temporary.c - a folder that goes again, and signals. What a signal has to clean up cannot be
 * handed to it, so it is the one global of this program. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/cmd.h"

#define PATH_ROOM 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char temporary[PATH_ROOM]; /* "": none */

static void remove_files(const char *folder)
{
    DIR *dir = opendir(folder);
    char path[2 * PATH_ROOM];

    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

clv_status clr_make_temporary(clv_arena *arena, const char **ret, clv_error *err)
{
    const char *base = getenv("TMPDIR");
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%s/cleave-run.XXXXXX", base && *base ? base : "/tmp");
    pthread_mutex_lock(&lock);
    bool made = mkdtemp(path) != NULL;
    if (made)
        memcpy(temporary, path, sizeof path);
    pthread_mutex_unlock(&lock);
    if (!made)
        return clv_fail(err, CLV_EIO, "cannot make the folder %s: %s", path, strerror(errno));
    *ret = clv_arena_printf(arena, "%s", path);
    return *ret ? CLV_OK : clv_fail_nomem(err, "a path");
}

void clr_forget_temporary(void)
{
    pthread_mutex_lock(&lock);
    if (*temporary)
        remove_files(temporary);
    *temporary = '\0';
    pthread_mutex_unlock(&lock);
}

static void *wait_for_signal(void *signals)
{
    int number = 0;

    while (sigwait(signals, &number) != 0)
        continue;
    clr_forget_temporary();
    static const char words[] = "cleave-run: stopped by a signal\n";
    ssize_t unused = write(STDERR_FILENO, words, sizeof words - 1);
    (void)unused;
    _exit(128 + number);
}

void clr_watch_signals(void)
{
    static sigset_t signals; /* of the thread, for as long as the process lives */
    const int ours[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    pthread_t thread;

    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct sigaction action;
        /* one that is ignored from the start stays so: nohup */
        if (sigaction(ours[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals, ours[i]);
    }
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (pthread_create(&thread, NULL, wait_for_signal, &signals) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}
