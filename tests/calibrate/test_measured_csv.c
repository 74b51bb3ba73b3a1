#include "calibrate/measured_csv.h"

#include <criterion/criterion.h>
#include <string.h>

#include "calibrate/measured_nccl.h"

static clv_arena *arena;
static void open_arena(void) { arena = clv_arena_new(NULL, 0); }
static void close_arena(void) { clv_arena_free(arena); }
TestSuite(measured_csv, .init = open_arena, .fini = close_arena);

static clv_status read(clv_measured_file file, const char *text, clv_measured_rows *rows,
                       clv_error *err)
{
    return clv_measured_csv(file, &(clv_file_text){ text, "f.csv", strlen(text) }, arena, rows,
                            err);
}

static void refused(clv_measured_file file, const char *text, const char *words)
{
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    cr_assert_eq(read(file, text, &rows, &err), CLV_EFORMAT, "%s", text);
    cr_expect(strstr(err.message, words) == err.message, "%s\nexpected %s", err.message, words);
}

Test(measured_csv, columns_come_in_any_order)
{
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    cr_assert_eq(read(CLV_MEASURED_PRODUCTS,
                      "us,k,dtype,n,m\r\n2.5,32,int4_wo,64,16\r\n\r\n1e1,8,fp8,4,2", &rows, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(rows.n, 2);
    cr_expect_float_eq(rows.at[0].ns, 2500, 1e-9);
    cr_expect_eq(rows.at[0].point.dtype, CLV_DT_BFLOAT16);
    cr_expect_eq(rows.at[0].point.weights, CLV_DT_INT4);
    cr_expect_float_eq(rows.at[0].point.at[0], 16, 0);
    cr_expect_float_eq(rows.at[0].point.at[2], 32, 0);
    cr_expect_float_eq(rows.at[1].ns, 10000, 1e-9);
    clv_measured_rows other = { 0 };
    cr_assert_eq(
        read(CLV_MEASURED_PRODUCTS, "dtype,m,n,k,us\nint4_wo,16,64,32,2.5\n", &other, &err),
        CLV_OK);
    cr_expect_eq(other.at[0].hash, rows.at[0].hash, "left out in both, or in neither");
}

Test(measured_csv, products_without_tf32_have_no_table)
{
    clv_measured_rows rows = { 0 };
    cr_assert_eq(
        read(CLV_MEASURED_PRODUCTS, "dtype,m,n,k,us\nfloat32,1,2,3,4\ntf32,1,2,3,4\n", &rows, NULL),
        CLV_OK);
    cr_assert_eq(rows.n, 1);
    cr_expect_eq(rows.at[0].point.dtype, CLV_DT_FLOAT);
}

#define CONVOLUTION "dtype,batch,height,width,in_channels,out_channels,kernel,stride,us\n"

Test(measured_csv, convolutions_have_the_sizes_of_unfolded_images)
{
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    cr_assert_eq(read(CLV_MEASURED_CONVOLUTIONS,
                      CONVOLUTION "float16,2,224,112,3,64,7,2,9\ntf32,2,8,8,16,32,1,1,9\n", &rows,
                      &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(rows.n, 2);
    const clv_timed_point *p = &rows.at[0].point, *q = &rows.at[1].point;
    cr_expect(p->kind == CLV_TIMED_CONVOLUTION && p->dtype == CLV_DT_BFLOAT16);
    cr_expect(p->at[0] == 2 * 112 * 56 && p->at[1] == 64 && p->at[2] == 3 * 49);
    cr_expect(q->kind == CLV_TIMED_PRODUCT && q->at[0] == 128 && q->at[1] == 32 && q->at[2] == 16);
    refused(CLV_MEASURED_CONVOLUTIONS, CONVOLUTION "tf32,1000000000000,1000000000000,8,3,4,3,1,9\n",
            "f.csv:2: kernel is '3', expected a kernel and an image with fewer than 2^63 elements");
    refused(CLV_MEASURED_CONVOLUTIONS, CONVOLUTION "tf32,1,8,8,3,4,0,1,9\n",
            "f.csv:2: kernel is '0', expected a whole number");
}

Test(measured_csv, each_file_has_rows_of_its_kind)
{
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    const char *attention = "dtype,kv_dtype,batch,sequence,heads,kv_heads,head_size,us\n"
                            "bfloat16,fp8,2,64,32,8,128,9\n";
    cr_assert_eq(read(CLV_MEASURED_FULL, attention, &rows, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(read(CLV_MEASURED_PREFILL, attention, &rows, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(read(CLV_MEASURED_DECODE, attention, &rows, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(read(CLV_MEASURED_EXPERTS,
                      "dtype,tokens,hidden,intermediate,top_k,experts,tensor_parallel,"
                      "expert_parallel,distribution,us,gated\n"
                      "fp8,64,2048,768,8,128,2,4,power_law_1.2,30,0\n"
                      "fp8,64,2048,768,8,128,2,4,balanced,30,1\n",
                      &rows, &err),
                 CLV_OK, "%s", err.message);
    cr_assert_eq(read(CLV_MEASURED_COLLECTIVES,
                      "library,operation,devices,bytes,us\nn,alltoall,4,1024,5\n", &rows, &err),
                 CLV_OK, "%s", err.message);
    static const clv_timed kinds[] = { CLV_TIMED_FULL,           CLV_TIMED_PREFILL,
                                       CLV_TIMED_DECODE_GROUPED, CLV_TIMED_EXPERTS,
                                       CLV_TIMED_EXPERTS_EVEN,   CLV_TIMED_COLLECTIVE };
    cr_assert_eq(rows.n, 6);
    for (int i = 0; i < 6; i++)
        cr_expect_eq(rows.at[i].point.kind, kinds[i], "row %d", i);
    cr_expect_float_eq(rows.at[3].point.at[1], 256, 1e-9, "without a gate two matrices of three");
    cr_expect_float_eq(rows.at[4].point.at[1], 384, 1e-9);
    cr_expect_eq(rows.at[5].devices, 4);
}

Test(measured_csv, experts_have_a_gate_but_for_a_family)
{
    clv_measured_rows rows = { 0 };
    cr_assert_eq(read(CLV_MEASURED_EXPERTS,
                      "dtype,tokens,hidden,intermediate,top_k,experts,tensor_parallel,"
                      "expert_parallel,distribution,us\nfp8,64,2688,1536,6,128,1,1,balanced,30\n"
                      "fp8,64,2048,1536,6,128,1,1,balanced,30\n",
                      &rows, NULL),
                 CLV_OK);
    cr_expect_float_eq(rows.at[0].point.at[1], 1024, 1e-9);
    cr_expect_float_eq(rows.at[1].point.at[1], 1536, 1e-9);
}

Test(measured_csv, bad_headers)
{
    refused(CLV_MEASURED_PRODUCTS, "", "f.csv is empty");
    refused(CLV_MEASURED_PRODUCTS, "dtype,m,n,us\n", "f.csv:1: has no column 'k'");
    refused(CLV_MEASURED_PRODUCTS, "dtype,m,n,k,us,color\n",
            "f.csv:1: has the unknown column 'color', expected those of gemm.csv");
    refused(CLV_MEASURED_PRODUCTS, "dtype,m,n,k,us,heads\n",
            "f.csv:1: has the unknown column 'heads'");
    refused(CLV_MEASURED_PRODUCTS, "dtype,m,n,k,us,m\n", "f.csv:1: has the column 'm' twice");
}

#define HEAD "dtype,m,n,k,us\n"
#define ROW  "fp8,1,2,3,4\n"

Test(measured_csv, bad_rows)
{
    refused(CLV_MEASURED_PRODUCTS, HEAD ROW "fp8,1,2,3\n", "f.csv:3: has fewer than 5 columns");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,1,2,3,4,5\n", "f.csv:2: has more than 5 columns");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,1,2,3,4,\n", "f.csv:2: has more than 5 columns");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp7,1,2,3,4\n", "f.csv:2: dtype is 'fp7', expected");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,0,2,3,4\n", "f.csv:2: m is '0', expected a whole");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,1.5,2,3,4\n", "f.csv:2: m is '1.5', expected a whole");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,-1,2,3,4\n", "f.csv:2: m is '-1', expected a whole");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,1,2000000000000,3,4\n", "f.csv:2: n is");
    refused(CLV_MEASURED_PRODUCTS, HEAD "fp8,1,2,99999999999999999999,4\n", "f.csv:2: k is");
    refused(CLV_MEASURED_PRODUCTS, HEAD ROW "\n" ROW, "f.csv:4: measures the same as line 2");
}

Test(measured_csv, bad_times)
{
    static const char *const bad[] = { "0",     "-1", "nan", "inf", "1,5",   "",   "1us", "0x10",
                                       "1e999", "1.", ".5",  "1e",  "1e400", " 1", "1 " };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *text = clv_arena_printf(arena, HEAD "fp8,1,2,3,%s\n", bad[i]);
        refused(CLV_MEASURED_PRODUCTS, text, "f.csv:2: ");
    }
}

#define MOE                                                                                        \
    "dtype,tokens,hidden,intermediate,top_k,experts,tensor_parallel,expert_parallel,distribution," \
    "us\n"

Test(measured_csv, sizes_that_contradict_each_other)
{
    refused(CLV_MEASURED_EXPERTS, MOE "fp8,1,8,8,9,8,1,1,balanced,1\n", "f.csv:2: has sizes that");
    refused(CLV_MEASURED_EXPERTS, MOE "fp8,1,8,8,1,8,1,9,balanced,1\n", "f.csv:2: has sizes that");
    refused(CLV_MEASURED_EXPERTS, MOE "fp8,1,8,8,1,8,9,1,balanced,1\n",
            "f.csv:2: tensor_parallel is '9', expected no more than intermediate");
    refused(CLV_MEASURED_EXPERTS, MOE "fp8,1,8,8,1,8,1,1,odd,1\n",
            "f.csv:2: distribution is 'odd'");
    refused(CLV_MEASURED_EXPERTS, MOE "fp8,1,8,8,1,8,1,1,power_law_9,1\n", "f.csv:2: distribution");
    refused(CLV_MEASURED_DECODE,
            "dtype,kv_dtype,batch,sequence,heads,kv_heads,head_size,us\nfp8,fp8,1,1,1,2,64,1\n",
            "f.csv:2: kv_heads is '2', expected no more than heads");
    refused(CLV_MEASURED_COLLECTIVES, "library,operation,devices,bytes,us\nn,send,2,1,1\n",
            "f.csv:2: operation is 'send', expected all_reduce");
    refused(CLV_MEASURED_COLLECTIVES, "library,operation,devices,bytes,us\nn,alltoall,1,1,1\n",
            "f.csv:2: devices is '1', expected 2 to 65536");
    refused(CLV_MEASURED_COLLECTIVES, "library,operation,devices,bytes,us\n,alltoall,2,1,1\n",
            "f.csv:2: library is '', expected a name");
}

/* -- nccl-tests -- */

#define RANKS                                                                                      \
    "#  Rank  0 Group  0 Pid  1 on h device  0 [0x1b] NVIDIA\n#  Rank  1 Group  0 Pid  1\n"

static clv_status read_nccl(const char *text, clv_measured_rows *rows, clv_error *err)
{
    return clv_measured_nccl(CLV_TIMED_ALL_REDUCE,
                             &(clv_file_text){ text, "all_reduce_perf.txt", strlen(text) }, arena,
                             rows, err);
}

static void nccl_refused(const char *text, const char *words)
{
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    cr_assert_eq(read_nccl(text, &rows, &err), CLV_EFORMAT, "%s", text);
    cr_expect(strstr(err.message, words) == err.message, "%s", err.message);
}

Test(measured_csv, what_nccl_tests_print)
{
    clv_measured_rows rows = { 0 };
    clv_error err = { 0 };
    const char *text =
        "# nccl-tests version 2.17.6 nccl-headers=22902 nccl-library=22902\n"
        "# Using devices\n" RANKS "#\n"
        "#       size         count      type   redop    root     time   algbw\n"
        "#        (B)    (elements)                               (us)  (GB/s)\n"
        "           0             0     float     sum      -1     4.10    0.00\n"
        "        1024           256     float     sum      -1     9.52    0.11  0.11 "
        "0 9.4 0.1 0.1 0\n\t2048 512 float sum -1 9.6 0.2 0.2 0\n"
        "# Avg bus bandwidth    : 0.1\n";
    cr_assert_eq(read_nccl(text, &rows, &err), CLV_OK, "%s", err.message);
    cr_assert_eq(rows.n, 2);
    cr_expect_str_eq(rows.at[0].library, "nccl 2.29.2");
    cr_expect_eq(rows.at[0].devices, 2);
    cr_expect_float_eq(rows.at[0].point.at[0], 1024, 0);
    cr_expect_float_eq(rows.at[0].ns, 9520, 1e-6);
}

Test(measured_csv, names_of_what_nccl_tests_print)
{
    clv_timed_operation o;
    cr_expect(clv_measured_nccl_name("all_gather_perf-8.log", &o) && o == CLV_TIMED_ALL_GATHER);
    cr_expect(clv_measured_nccl_name("alltoall_perf", &o) && o == CLV_TIMED_ALLTOALL);
    cr_expect_not(clv_measured_nccl_name("broadcast_perf.txt", &o));
    cr_expect_not(clv_measured_nccl_name("all_reduce.csv", &o));
}

Test(measured_csv, bad_output_of_nccl_tests)
{
    nccl_refused("", "all_reduce_perf.txt has no times");
    nccl_refused(RANKS, "all_reduce_perf.txt has no times");
    nccl_refused("8 2 float sum -1 9\n",
                 "all_reduce_perf.txt:1: is behind 0 lines of '# Rank', expected");
    nccl_refused(RANKS "8 2 float sum\n", "all_reduce_perf.txt:3: has 4 columns");
    nccl_refused(RANKS "x 2 float sum -1 9\n", "all_reduce_perf.txt:3: size is 'x'");
    nccl_refused(RANKS "8 2 float sum -1 N/A\n", "all_reduce_perf.txt:3: time is 'N/A'");
    nccl_refused(RANKS "8 2 float sum -1 0.0\n", "all_reduce_perf.txt:3: time is '0.0'");
}
