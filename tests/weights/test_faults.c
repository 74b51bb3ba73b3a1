/* test_faults.c - full disks, short files, shards that are damaged, missing or in each other's
 * place, an end in the middle: a sentence that names the thing, nothing that looks whole, inputs
 * untouched.
 */
#include "weights/sharded.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sharded s;
static int32_t threads; /* that write; 0: one */
static clv_checksum original[2];

static clv_checksum sum_of(const char *name)
{
    clv_checksum sum = { 0, 0 };
    int64_t n;
    cr_assert_eq(clv_checksum_file(at_path(&s, name), s.arena, &sum, &n, NULL), CLV_OK);
    return sum;
}

static void set_up(void)
{
    s = sharded_new();
    original[0] = sum_of("m.onnx");
    original[1] = sum_of("data/w.bin");
}

static void tear_down(void)
{
    cr_assert(clv_checksum_eq(original[0], sum_of("m.onnx")), "the model was written to");
    cr_assert(clv_checksum_eq(original[1], sum_of("data/w.bin")), "the weights were written to");
    sharded_free(&s);
}

TestSuite(faults, .init = set_up, .fini = tear_down);

/* -- disks that end -- */

typedef struct {
    int64_t left, read_left; /* bytes; below 0: no end */
    pthread_mutex_t lock;
} disk;

/* How many of n bytes there are. */
static size_t take_bytes(disk *d, int64_t *left, size_t n)
{
    pthread_mutex_lock(&d->lock);
    if (*left >= 0 && (int64_t)n > *left)
        n = (size_t)*left;
    *left -= *left >= 0 ? (int64_t)n : 0;
    pthread_mutex_unlock(&d->lock);
    return n;
}

static ssize_t disk_write(void *ctx, int fd, const void *from, size_t n, off_t offset)
{
    disk *d = ctx;
    size_t some = take_bytes(d, &d->left, n);
    if (some == 0 && n > 0) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(fd, from, some, offset);
}

static ssize_t disk_read(void *ctx, int fd, void *to, size_t n, off_t offset)
{
    disk *d = ctx;
    return pread(fd, to, take_bytes(d, &d->read_left, n), offset);
}

/* Fails after every so many bytes, until it does not. */
static void try_all(bool reading, clv_status (*act)(const clv_disk *disk, clv_error *err),
                    const char *made)
{
    int failed = 0;
    for (int64_t n = 0;; n += 1021) {
        disk d = { reading ? -1 : n, reading ? n : -1, PTHREAD_MUTEX_INITIALIZER };
        clv_disk calls = { disk_read, disk_write, &d };
        clv_error err = { 0 };
        int before = folder_count(s.folder);
        clv_status status = act(&calls, &err);
        if (status == CLV_OK)
            break;
        failed++;
        cr_assert_eq(status, CLV_EIO, "said: %s", err.message);
        cr_assert(strstr(err.message, reading ? "cut short" : "No space left on device"),
                  "said: %s", err.message);
        cr_assert_neq(access(at_path(&s, made), F_OK), 0, "%s looks whole", made);
        cr_assert_eq(folder_count(s.folder), before, "something stays");
    }
    cr_assert_gt(failed, 20);
    cr_assert_eq(access(at_path(&s, made), F_OK), 0);
}

static clv_weight_layout the_layout;

static clv_status act_shard(const clv_disk *calls, clv_error *err)
{
    clv_shard_options o = { .disk = calls, .threads = threads };
    return clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &the_layout, at_path(&s, "a"),
                             &o, s.arena, err);
}

static clv_status act_reshard(const clv_disk *calls, clv_error *err)
{
    clv_shard_options o = { .disk = calls, .kind = CLV_PARTS_SAFETENSORS, .threads = threads };
    clv_weights_folder f = read_it(&s, "a");
    return clv_weights_reshard(&f, &the_layout, at_path(&s, "b"), &o, s.arena, err);
}

static clv_status act_reshard_too(const clv_disk *calls, clv_error *err)
{
    clv_shard_options o = { .disk = calls, .threads = threads };
    clv_weights_folder f = read_it(&s, "a");
    return clv_weights_reshard(&f, &the_layout, at_path(&s, "c"), &o, s.arena, err);
}

static clv_status act_collect(const clv_disk *calls, clv_error *err)
{
    clv_shard_options o = { .disk = calls };
    return clv_weights_collect(at_path(&s, "a"), at_path(&s, "new/m.onnx"), &o, s.arena, err);
}

Test(faults, a_disk_that_is_full_after_any_number_of_bytes)
{
    the_layout = random_layout(&s, 3);
    try_all(false, act_shard, "a");
    the_layout = random_layout(&s, 4);
    try_all(false, act_reshard, "b");
    cr_assert_eq(mkdir(at_path(&s, "new"), 0777), 0);
    try_all(false, act_collect, "new/m.onnx");
    is_original(&s, "b");
}

/* Whichever thread meets the end. */
Test(faults, threads_and_a_disk_that_is_full_or_a_source_that_ends)
{
    threads = 3;
    the_layout = random_layout(&s, 3);
    try_all(false, act_shard, "a");
    the_layout = random_layout(&s, 4);
    try_all(false, act_reshard, "b");
    try_all(true, act_reshard_too, "c");
    is_original(&s, "b");
}

Test(faults, a_source_that_ends_after_any_number_of_bytes)
{
    the_layout = random_layout(&s, 3);
    try_all(true, act_shard, "a");
    the_layout = random_layout(&s, 4);
    try_all(true, act_reshard, "b");
    cr_assert_eq(mkdir(at_path(&s, "new"), 0777), 0);
    try_all(true, act_collect, "new/m.onnx");
}

/* The system's own limit on the size of files. */
Test(faults, a_file_that_may_not_grow)
{
    struct rlimit old, small = { 8192, 8192 };
    clv_error err = { 0 };
    the_layout = random_layout(&s, 2);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    clv_status status = act_shard(NULL, &err);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    cr_assert_eq(status, CLV_EIO);
    cr_assert(strstr(err.message, "File too large"), "said: %s", err.message);
    cr_assert_eq(folder_count(s.folder), 2, "something stays");
}

/* -- folders that are not what they were -- */

static void refuse_folder(clv_status wanted, const char *words)
{
    clv_error err = { 0 };
    clv_weight_layout t = random_layout(&s, 2);
    int before = folder_count(s.folder);
    for (int k = 0; k < 2; k++) {
        clv_status status =
            k ? reshard_to(&s, "a", &t, "b", &err) : collect_to(&s, "a", "m2.onnx", &err);
        cr_assert_eq(status, wanted, "status %d, said: %s", status, err.message);
        cr_assert(strstr(err.message, words), "said: %s", err.message);
        cr_assert_eq(folder_count(s.folder), before, "something stays");
    }
}

static void patch(const char *name, int64_t at)
{
    int fd = open(at_path(&s, name), O_RDWR);
    uint8_t byte;
    cr_assert_eq(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Two devices, whose files have the same size. */
static void make_even(void)
{
    int64_t dims[2] = { 64, 257 }, zero[2] = { 0 }, half[2] = { 32, 257 }, middle[2] = { 32, 0 };
    clv_box top = { 2, dims, zero, half }, bottom = { 2, dims, middle, half };
    clv_weight_layout t = random_layout(&s, 2);
    t.n_shards = 0;
    add_shard(&s, &t, W_OUT, 0, &top);
    add_shard(&s, &t, W_OUT, 1, &bottom);
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    /* The collected files would lie where the original's are. */
    cr_assert_eq(rename(at_path(&s, "data"), at_path(&s, "data2")), 0);
}

static void undo_even(void) { cr_assert_eq(rename(at_path(&s, "data2"), at_path(&s, "data")), 0); }

static void only_collect(clv_status wanted, const char *words)
{
    clv_error err = { 0 };
    int before = folder_count(s.folder);
    clv_status status = collect_to(&s, "a", "m2.onnx", &err);
    cr_assert_eq(status, wanted, "status %d, said: %s", status, err.message);
    cr_assert(strstr(err.message, words), "said: %s", err.message);
    cr_assert_eq(folder_count(s.folder), before, "something stays");
    cr_assert_neq(access(at_path(&s, "data"), F_OK), 0, "something stays");
}

Test(faults, a_flipped_byte_is_found)
{
    make_even();
    patch("a/rank_1_cuda_1.data", 777);
    only_collect(CLV_EFORMAT, "rank_1_cuda_1.data is damaged: bytes 0 to 16448, a shard of weight "
                              "'out', are not those that were written");
    patch("a/rank_1_cuda_1.data", 777);
    patch("a/rest.bin", 5);
    only_collect(CLV_EFORMAT, "rest.bin is damaged");
    undo_even();
}

Test(faults, every_byte_of_a_shard_counts)
{
    clv_error err = { 0 };
    clv_weight_layout t = random_layout(&s, 2);
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    clv_weights_folder f = read_it(&s, "a");
    for (int32_t i = 0; i < f.layout.n_shards; i++) {
        const clv_shard_place *p = &f.places[i];
        if (p->length == 0 || f.layout.shards[i].weight == W_TYPED)
            continue;
        char *name = clv_arena_printf(s.arena, "a/%s", f.files[p->file].name);
        int64_t at = p->offset + below(&s, p->length);
        clv_weight_layout again = random_layout(&s, 3);
        patch(name, at);
        clv_status status = reshard_to(&s, "a", &again, "b", &err);
        /* A copy that is not read does no harm. */
        cr_assert(status == CLV_EFORMAT || status == CLV_OK, "said: %s", err.message);
        if (status == CLV_OK) {
            is_original(&s, "b");
            cr_assert_eq(system(clv_arena_printf(s.arena, "rm -r '%s'", at_path(&s, "b"))), 0);
        }
        patch(name, at);
    }
}

/* Of two that are wrong the first is reported, whatever thread has it. */
Test(faults, threads_say_what_one_thread_says)
{
    clv_error one = { 0 }, many = { 0 };
    the_layout = random_layout(&s, 3);
    cr_assert_eq(act_shard(NULL, NULL), CLV_OK);
    clv_weights_folder f = read_it(&s, "a");
    for (int32_t i = 0; i < f.layout.n_shards; i++) /* all of them */
        if (f.places[i].length > 0)
            patch(clv_arena_printf(s.arena, "a/%s", f.files[f.places[i].file].name),
                  f.places[i].offset);
    cr_assert_eq(act_reshard(NULL, &one), CLV_EFORMAT);
    for (threads = 2; threads < 20; threads++) {
        cr_assert_eq(act_reshard(NULL, &many), CLV_EFORMAT);
        cr_assert_str_eq(many.message, one.message);
    }
}

Test(faults, swapped_files_are_found)
{
    make_even();
    cr_assert_eq(rename(at_path(&s, "a/rank_0_cuda_0.data"), at_path(&s, "a/t")), 0);
    cr_assert_eq(rename(at_path(&s, "a/rank_1_cuda_1.data"), at_path(&s, "a/rank_0_cuda_0.data")),
                 0);
    cr_assert_eq(rename(at_path(&s, "a/t"), at_path(&s, "a/rank_1_cuda_1.data")), 0);
    only_collect(CLV_EFORMAT, "rank_0_cuda_0.data is damaged");
    undo_even();
}

Test(faults, a_missing_or_short_file_is_found)
{
    clv_weight_layout t = random_layout(&s, 2);
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    cr_assert_eq(rename(at_path(&s, "a/rank_1_cuda_1.data"), at_path(&s, "away")), 0);
    refuse_folder(CLV_EIO, "rank_1_cuda_1.data: No such file or directory");
    cr_assert_eq(rename(at_path(&s, "away"), at_path(&s, "a/rank_1_cuda_1.data")), 0);
    cr_assert_eq(truncate(at_path(&s, "a/rank_1_cuda_1.data"), 100), 0);
    refuse_folder(CLV_EFORMAT, "rank_1_cuda_1.data has 100 bytes, but weights.json says");
    cr_assert_eq(unlink(at_path(&s, "a/weights.json")), 0);
    refuse_folder(CLV_EIO, "weights.json");
}

/* weights.json edited by hand: a word is replaced wherever it stands. */
static void edit(const char *from, const char *to, const char *words)
{
    size_t n;
    char *text = file_text(s.folder, "keep.json", &n), *at = strstr(text, from);
    cr_assert_not_null(at, "%s is not in weights.json", from);
    char *made =
        clv_arena_printf(s.arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    file_write(s.folder, "a/weights.json", made, strlen(made));
    refuse_folder(CLV_EFORMAT, words);
    free(text);
}

Test(faults, an_edited_folder_is_refused)
{
    clv_weight_layout t = random_layout(&s, 2);
    size_t n;
    t.n_shards = 0;
    for (int32_t w = 0; w < 3; w++) {
        clv_box whole;
        clv_box_whole(s.weights.at[w].rank, s.weights.at[w].dims, s.arena, &whole, NULL);
        add_shard(&s, &t, w, 0, &whole);
        add_shard(&s, &t, w, 1, &whole);
    }
    shard_it(&s, &t, "a", CLV_PARTS_EXTERNAL);
    char *text = file_text(s.folder, "a/weights.json", &n);
    file_write(s.folder, "keep.json", text, n);
    free(text);
    edit("\"offset\": 0,", "\"offset\": 4096,", "overlap in rank_0_cuda_0.data");
    edit("\"length\": 960,", "\"length\": 961,", "bytes");
    edit("\"schema_version\": 2", "\"schema_version\": 3", "schema_version");
    edit("\"name\": \"out\"", "\"name\": \"raw\"", "is a weight that the list has already");
    edit("\"file\": \"rank_0_cuda_0.data\"", "\"file\": \"../m.onnx\"", "leads out of the folder");
    edit("\"file\": \"rank_0_cuda_0.data\"", "\"file\": \"/etc/passwd\"",
         "leads out of the folder");
    edit("\"device\": \"rank:0/cuda:0\"", "\"device\": \"cpu\"", "is no device of the list");
    edit("\"offsets\": [\n            0,", "\"offsets\": [\n            1,",
         "do not lie in dimension 0");
    edit("\"xxh3\": \"", "\"xxh3\": \"g", "is not 32 hex digits");
    edit("\"kind\": \"external\"", "\"kind\": \"ranges\"", "has no weights of its own");
    edit("\"kind\"", "\"sort\"", "sort");
    edit("\"name\": \"out\"", "\"name\": \"other\"", "weights.json was changed: its digest is ");
    edit("\"digest\"", "\"devices\"", "devices");
    edit("}", "", "weights.json");
}

/* -- places -- */

Test(faults, what_exists_is_never_taken)
{
    clv_error err = { 0 };
    the_layout = random_layout(&s, 2);
    cr_assert_eq(mkdir(at_path(&s, "a"), 0777), 0);
    file_write(s.folder, "a/precious", "x", 1);
    cr_assert_eq(act_shard(NULL, &err), CLV_EUSAGE);
    cr_assert(strstr(err.message, "exists and is not empty, expected a new folder"));
    cr_assert_eq(unlink(at_path(&s, "a/precious")), 0);
    cr_assert_eq(act_shard(NULL, &err), CLV_OK, "an empty folder is taken: %s", err.message);
    cr_assert_eq(collect_to(&s, "a", "m2.onnx", &err), CLV_EUSAGE);
    cr_assert(strstr(err.message, "data/w.bin exists, and the model has a file of that name"));
    cr_assert_eq(collect_to(&s, "a", "a/rest.bin", &err), CLV_EUSAGE);
    cr_assert(strstr(err.message, "is a file of the shards, which are never written"));
    cr_assert_eq(collect_to(&s, "a", "none/m.onnx", &err), CLV_EIO);
    cr_assert(strstr(err.message, "does not exist"), "said: %s", err.message);
}

static int after;
static pthread_t caller;

static int stop_later(void *ctx)
{
    cr_assert(pthread_equal(caller, pthread_self()), "asked on a thread that is not the caller's");
    return --*(int *)ctx < 0;
}

/* How often it was stopped before it came to the end. */
static int stop_everywhere(int32_t n_threads)
{
    the_layout = random_layout(&s, 3);
    for (int n = 0;; n++) {
        clv_error err = { 0 };
        after = n;
        caller = pthread_self();
        clv_shard_options o = { .threads = n_threads, .stop = stop_later, .stop_ctx = &after };
        clv_status status = clv_weights_shard(&(clv_onnx_model){ s.file, s.model }, &the_layout,
                                              at_path(&s, "a"), &o, s.arena, &err);
        if (status == CLV_OK)
            return n;
        cr_assert_eq(status, CLV_ECANCELED);
        cr_assert_eq(folder_count(s.folder), 2, "something stays");
    }
}

Test(faults, stopped_at_any_block_nothing_stays)
{
    cr_assert_gt(stop_everywhere(1), 4);
    cr_assert_eq(system(clv_arena_printf(s.arena, "rm -r '%s'", at_path(&s, "a"))), 0);
    cr_assert_gt(stop_everywhere(3), 0); /* the other threads may have done it all */
}

/* Killed in the middle of writing: what is left does not bear the name. */
static ssize_t plain_read(void *ctx, int fd, void *to, size_t n, off_t offset)
{
    (void)ctx;
    return pread(fd, to, n, offset);
}

static ssize_t deadly_write(void *ctx, int fd, const void *from, size_t n, off_t offset)
{
    int *left = ctx;
    if (--*left < 0)
        raise(SIGKILL);
    return pwrite(fd, from, n, offset);
}

/* Did it live? */
static bool lives(int writes, clv_status (*act)(const clv_disk *disk, clv_error *err))
{
    int how;
    pid_t child = fork();
    if (child == 0) {
        clv_disk calls = { plain_read, deadly_write, &writes };
        _exit(act(&calls, NULL) == CLV_OK ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &how, 0), child);
    cr_assert(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
    return WIFEXITED(how);
}

static void kill_at_each_write(clv_status (*act)(const clv_disk *disk, clv_error *err),
                               const char *made)
{
    int killed = 0;
    for (int n = 0; !lives(n, act); n++) {
        cr_assert_neq(access(at_path(&s, made), F_OK), 0, "%s looks whole", made);
        killed++;
    }
    cr_assert_gt(killed, 5);
    cr_assert_eq(access(at_path(&s, made), F_OK), 0);
}

Test(faults, killed_at_any_write_nothing_looks_whole)
{
    the_layout = random_layout(&s, 3);
    kill_at_each_write(act_shard, "a");
    the_layout = random_layout(&s, 2);
    kill_at_each_write(act_reshard, "b");
    cr_assert_eq(mkdir(at_path(&s, "new"), 0777), 0);
    kill_at_each_write(act_collect, "new/m.onnx");
    is_original(&s, "b");
}
