"""Times operators on one NVIDIA GPU with PyTorch and writes one CSV a table.

    python3 measure_gpu.py --out results [--seconds 60] section...

Sections: launch memory_bound gemm gemm_grid batched_gemm attention convolution convolution_grid memory
transfer models compiled onnx.
`--seconds` is the time a section may take; it stops with the rows it has. `memory` wants a process
of its own (it counts what the first kernels take). All times are microseconds and medians.

Three ways to time a kernel, the same in all tables:

  us              in a CUDA graph, each call with operands of its own, the L2 cache filled with
                  something else before each replay: operands come from memory
  us_same_buffer  in a CUDA graph, the same call over and over: operands come from L2 if they fit
  us_eager        called from Python one after the other without a graph: the host counts
"""
import argparse
import csv
import ctypes
import glob
import itertools
import math
import os
import statistics
import subprocess
import time
import traceback

import torch
import torch.nn.functional as F

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32
NAMES = {BF16: "bfloat16", F16: "float16", F32: "float32"}
REPEATS = 7
deadline = math.inf
folder = "."


# ---- tables ------------------------------------------------------------------------------------

class Table:
    """A CSV file whose rows are on disk as soon as they are known."""

    def __init__(self, name, columns):
        self.file = open(os.path.join(folder, name + ".csv"), "w", newline="")
        self.writer = csv.writer(self.file, lineterminator="\n")
        self.row(*columns.split(","))

    def row(self, *values):
        self.writer.writerow([f"{v:.3f}" if isinstance(v, float) else v for v in values])
        self.file.flush()


complaints = {}


def attempt(what, function, *arguments):
    """Calls function; a failure is printed (the first few of a kind) and gives None."""
    try:
        return function(*arguments)
    except Exception as error:
        reason = str(error).splitlines()[0][:160] if str(error) else repr(error)
        complaints[reason] = complaints.get(reason, 0) + 1
        if complaints[reason] <= 2:
            print(f"  failed {what}: {type(error).__name__} {reason}")
        if isinstance(error, torch.cuda.OutOfMemoryError):
            torch.cuda.empty_cache()
        return None


def late():
    return time.monotonic() > deadline


# ---- timing ------------------------------------------------------------------------------------

flush_buffer = flush_sum = None


def flush():
    """Reads 256 MiB, so that L2 holds clean lines of nothing that is timed."""
    global flush_buffer, flush_sum
    if flush_buffer is None:
        flush_buffer = torch.zeros(64 * MIB, device="cuda")
        flush_sum = torch.zeros((), device="cuda")
    torch.sum(flush_buffer, 0, out=flush_sum)


def events_us(run, repeats=REPEATS, before=None):
    """Median time between two events around run(), queued one behind the other."""
    pairs = []
    for _ in range(repeats):
        if before:
            before()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in pairs) * 1000


def wall_us(run, repeats=REPEATS, after=None):
    """Median time of the host for run(); after() is not counted."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e6)
        if after:
            after()
    return statistics.median(times)


def in_turn(calls):
    for call in calls:
        call()


def capture(calls):
    """A CUDA graph of these calls, one behind the other."""
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    graph.capture_begin()
    try:
        in_turn(calls)
    finally:
        graph.capture_end()
    return graph


def cold_us(calls):
    graph = capture(calls)
    graph.replay()
    return events_us(graph.replay, before=flush) / len(calls)


def same_us(call, about_us):
    count = int(min(100, max(2, 2000 / about_us)))
    graph = capture([call] * count)
    graph.replay()
    return events_us(graph.replay) / count


def eager_us(calls):
    calls = calls * math.ceil(20 / len(calls))
    return events_us(lambda: in_turn(calls), 5) / len(calls)


def measure(calls, eager=False):
    """(us, us_same_buffer) of calls that do the same with different operands; us_eager if wanted."""
    if torch.cuda.memory_reserved() > 90 * GIB:
        torch.cuda.empty_cache()
    in_turn(calls)
    torch.cuda.synchronize()
    cold = cold_us(calls)
    same = same_us(calls[0], cold)
    return (cold, same, eager_us(calls)) if eager else (cold, same)


def sets(bytes_of_one, total=256 * MIB, most=64):
    """How many sets of operands to rotate among: at least two, else about `total` bytes."""
    return int(max(2, min(most, math.ceil(total / bytes_of_one))))


def keeping(function):
    """The call of function that keeps its result until the next, so that outputs rotate too."""
    kept = [None]

    def call():
        kept[0] = function()
    return call


class Pool:
    """Normally distributed numbers of one dtype, lent as views; lends again from the start at the end."""

    def __init__(self, dtype, size):
        self.dtype, self.at = dtype, 0
        count, chunk = size // dtype.itemsize, 64 * MIB
        self.data = torch.empty(count, dtype=dtype, device="cuda")
        random = torch.randn(chunk, device="cuda").to(dtype)
        for start in range(0, count, chunk):
            part = self.data[start:start + chunk]
            part.copy_(random[:part.numel()])

    def take(self, *shape):
        count = math.prod(shape)
        if self.at + count > self.data.numel():
            self.at = 0
        view = self.data[self.at:self.at + count].view(*shape)
        self.at += (count + 511) // 512 * 512
        return view


# ---- launch ------------------------------------------------------------------------------------

LAUNCH_CU = r"""
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void nothing() {}

static double now() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }

static void row(const char *what, int kernels, double us) { printf("%s,%d,%.3f,%.4f\n", what, kernels, us, us / kernels); }

static void launches(cudaStream_t stream, int count) {
    for (int i = 0; i < count; i++) nothing<<<1, 1, 0, stream>>>();
}

static void plain(cudaStream_t stream) {
    std::vector<double> queued, done, alone;
    for (int i = 0; i < 20; i++) {
        double start = now();
        launches(stream, 500);
        queued.push_back(now() - start);
        cudaStreamSynchronize(stream);
    }
    for (int i = 0; i < 20; i++) {
        double start = now();
        launches(stream, 5000);
        cudaStreamSynchronize(stream);
        done.push_back(now() - start);
    }
    for (int i = 0; i < 1000; i++) {
        double start = now();
        launches(stream, 1);
        cudaStreamSynchronize(stream);
        alone.push_back(now() - start);
    }
    row("c_host_queues", 500, median(queued));
    row("c_back_to_back", 5000, median(done));
    row("c_synchronised", 1, median(alone));
}

static void graph(cudaStream_t stream, int kernels) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    launches(stream, kernels);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    std::vector<double> host, synchronised, repeated;
    for (int i = 0; i < 50; i++) {
        double start = now();
        cudaGraphLaunch(exec, stream);
        host.push_back(now() - start);
        cudaStreamSynchronize(stream);
        synchronised.push_back(now() - start);
    }
    for (int i = 0; i < 10; i++) {
        double start = now();
        for (int j = 0; j < 20; j++) cudaGraphLaunch(exec, stream);
        cudaStreamSynchronize(stream);
        repeated.push_back((now() - start) / 20);
    }
    row("c_graph_host", kernels, median(host));
    row("c_graph_synchronised", kernels, median(synchronised));
    row("c_graph_back_to_back", kernels, median(repeated));
}

int main() {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    launches(stream, 100);
    cudaStreamSynchronize(stream);
    plain(stream);
    for (int kernels : {1, 10, 100, 1000}) graph(stream, kernels);
    return cudaGetLastError() != cudaSuccess;
}
"""


def launch_from_c(table):
    source, program = os.path.join(folder, "launch.cu"), "/tmp/measure_launch"
    with open(source, "w") as file:
        file.write(LAUNCH_CU)
    subprocess.run(["nvcc", "-O2", "-arch=native", "-o", program, source], check=True)
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        what, kernels, us, each = line.split(",")
        table.row(what, int(kernels), float(us), float(each))


def launch_graphs(table, add):
    for kernels in (1, 10, 100, 1000):
        graph = capture([add] * kernels)
        graph.replay()
        back_to_back = events_us(lambda: in_turn([graph.replay] * 20), 11) / 20
        host = wall_us(graph.replay, 21, torch.cuda.synchronize)

        def waited():
            graph.replay()
            torch.cuda.synchronize()
        synchronised = wall_us(waited, 51)
        table.row("graph_back_to_back", kernels, back_to_back, back_to_back / kernels)
        table.row("graph_host", kernels, host, host / kernels)
        table.row("graph_synchronised", kernels, synchronised, synchronised / kernels)


def small_operators():
    """Operators so small that an eager call is the cost of its host."""
    def make(*shape):
        return torch.randn(*shape, device="cuda").to(BF16)
    matrix, weight, head, image = make(16, 64), make(64, 64), make(1, 1, 16, 64), make(1, 8, 8, 8)
    kernel, scale = make(8, 8, 3, 3), make(64)
    small = {
        "add": lambda: matrix + matrix,
        "gelu": lambda: F.gelu(matrix),
        "softmax": lambda: torch.softmax(matrix, -1),
        "layer_norm": lambda: F.layer_norm(matrix, (64,), scale, scale),
        "mm": lambda: torch.mm(matrix, weight),
        "linear": lambda: F.linear(matrix, weight, scale),
        "attention": lambda: F.scaled_dot_product_attention(head, head, head),
        "conv2d": lambda: F.conv2d(image, kernel, padding=1),
    }
    if triton:
        small["triton_silu_mul"] = lambda: silu_mul(matrix, matrix)
    return small


def launch():
    table = Table("launch", "measurement,kernels,us,us_per_kernel")
    one = torch.zeros(1, device="cuda")

    def add():
        one.add_(1)

    def waited():
        add()
        torch.cuda.synchronize()
    for _ in range(100):
        add()
    torch.cuda.synchronize()
    many = [add] * 1000
    us = events_us(lambda: in_turn(many), 11)
    table.row("eager_back_to_back", 1000, us, us / 1000)
    us = wall_us(lambda: in_turn(many[:500]), 11, torch.cuda.synchronize)
    table.row("eager_host_queues", 500, us, us / 500)
    for what, run in (("eager_synchronised", waited), ("eager_item", one.item)):
        us = wall_us(run, 501)
        table.row(what, 1, us, us)
    attempt("graphs", launch_graphs, table, add)
    attempt("launch from C", launch_from_c, table)
    for name, call in (attempt("operators", small_operators) or {}).items():
        us = attempt(name, lambda: (in_turn([call] * 50), eager_us([call] * 500))[1])
        if us is not None:
            table.row("eager_" + name, 1, us, us)


# ---- memory bound ------------------------------------------------------------------------------

if triton:
    @triton.jit
    def silu_mul_kernel(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        gate = tl.load(x + at, mask=inside).to(tl.float32)
        up = tl.load(y + at, mask=inside).to(tl.float32)
        tl.store(out + at, (gate / (1 + tl.exp(-gate)) * up).to(out.dtype.element_ty), mask=inside)


def silu_mul(x, y):
    out = torch.empty_like(x)
    silu_mul_kernel[(triton.cdiv(x.numel(), 2048),)](x, y, out, x.numel(), BLOCK=2048, num_warps=8)
    return out


def norm_case(function):
    def case(pool, rows, columns, size):
        x, weight = pool.take(rows, columns), pool.take(columns)
        return lambda: function(x, (columns,), weight), size + columns * pool.dtype.itemsize, size
    return case


def one_input(function, written=lambda size, rows, item: size):
    """The case of an operator with one input; `written` says how much it writes."""
    def case(pool, rows, columns, size):
        x = pool.take(rows, columns)
        return lambda: function(x), size, written(size, rows, pool.dtype.itemsize)
    return case


def two_inputs(function):
    def case(pool, rows, columns, size):
        x, y = pool.take(rows, columns), pool.take(rows, columns)
        return lambda: function(x, y), 2 * size, size
    return case


def layer_norm_case(pool, rows, columns, size):
    x, weight, bias = pool.take(rows, columns), pool.take(columns), pool.take(columns)
    read = size + 2 * columns * pool.dtype.itemsize
    return lambda: F.layer_norm(x, (columns,), weight, bias), read, size


def copy_case(pool, rows, columns, size):
    x, y = pool.take(rows, columns), pool.take(rows, columns)
    return lambda: y.copy_(x), size, size


def concat_case(pool, rows, columns, size):
    x, y = pool.take(rows, columns // 2), pool.take(rows, columns - columns // 2)
    return lambda: torch.cat((x, y), 1), size, size


def permute_case(pool, rows, columns, size):
    """Rows of heads of 64 become heads of rows, as around attention."""
    heads = max(1, columns // 64)
    x = pool.take(rows, heads, columns // heads)
    return lambda: x.transpose(0, 1).clone(memory_format=torch.contiguous_format), size, size


def embedding_case(pool, rows, columns, size):
    table = pool.data[:131072 * columns].view(131072, columns)
    index = torch.randint(0, 131072, (rows,), device="cuda")
    return lambda: F.embedding(index, table), size + 8 * rows, size


def cast_case(pool, rows, columns, size):
    x, other = pool.take(rows, columns), F32 if pool.dtype == BF16 else BF16
    return lambda: x.to(other), size, size // pool.dtype.itemsize * other.itemsize


def batch_norm_case(pool, rows, columns, size):
    """Of images in channels_last as a network in use has it; columns are channels."""
    x = pool.take(1, rows, 1, columns).permute(0, 3, 1, 2)
    mean, weight, bias = (pool.take(columns) for _ in range(3))
    spread = pool.take(columns).abs()
    read = size + 4 * columns * pool.dtype.itemsize
    return lambda: F.batch_norm(x, mean, spread, weight, bias), read, size


OPERATIONS = {  # name: tensors of full size read and written, case
    "add": (3, two_inputs(torch.add)),
    "gelu": (2, one_input(F.gelu)),
    "silu_mul": (3, two_inputs(silu_mul)),
    "softmax": (2, one_input(lambda x: torch.softmax(x, -1))),
    "layer_norm": (2, layer_norm_case),
    "rms_norm": (2, norm_case(F.rms_norm)),
    "sum": (1, one_input(lambda x: torch.sum(x, -1), lambda size, rows, item: rows * item)),
    "copy": (2, copy_case),
    "transpose": (2, one_input(lambda x: x.t().clone(memory_format=torch.contiguous_format))),
    "embedding": (2, embedding_case),
    "permute_heads": (2, permute_case),
    "concat": (2, concat_case),
    "cast": (2, cast_case),
    "relu": (2, one_input(torch.relu)),
    "tanh": (2, one_input(torch.tanh)),
    "exp": (2, one_input(torch.exp)),
    "bias_add": (2, norm_case(lambda x, shape, bias: x + bias)),
    "sum_first": (1, one_input(lambda x: torch.sum(x, 0), lambda size, rows, item: size // rows)),
    "argmax": (1, one_input(lambda x: torch.argmax(x, -1), lambda size, rows, item: 8 * rows)),
    "batch_norm": (2, batch_norm_case),
}


def shape_of(traffic, tensors, item, width):
    """Rows and columns of tensors whose traffic is about the given bytes."""
    elements = traffic / (tensors * item)
    columns = width or min(4096, 2 ** int(math.log2(elements)))
    return max(1, round(elements / columns)), columns


def memory_bound_row(table, pool, name, traffic, width=None):
    tensors, case = OPERATIONS[name]
    rows, columns = shape_of(traffic, tensors, pool.dtype.itemsize, width)
    size = rows * columns * pool.dtype.itemsize
    cases = [case(pool, rows, columns, size) for _ in range(sets(traffic, GIB, 100))]
    times = measure([keeping(call) for call, _, _ in cases], eager=True)
    table.row(name, NAMES[pool.dtype], rows, columns, *cases[0][1:], *times)


def memory_bound():
    table = Table("memory_bound",
                  "operation,dtype,rows,columns,bytes_read,bytes_written,us,us_same_buffer,us_eager")
    pools = [Pool(dtype, 10 * GIB) for dtype in (BF16, F32)]
    work = [(pool, name, KIB * 4 ** step, None)
            for pool in pools for name in OPERATIONS for step in range(12)]
    work += [(pool, name, traffic, width)
             for pool in pools for name in ("softmax", "layer_norm", "rms_norm", "sum", "batch_norm")
             for width in (64, 197, 768, 1024, 16384, 128256) for traffic in (MIB, 16 * MIB, 256 * MIB)]
    for pool, name, traffic, width in work:
        if late():
            print("  memory_bound: out of time")
            break
        attempt(f"{name} {traffic}", memory_bound_row, table, pool, name, traffic, width)


# ---- products ----------------------------------------------------------------------------------

ROWS = (1, 8, 17, 64, 197, 512, 1576, 4096, 16384)
WEIGHTS = (  # n, k
    (768, 768), (2304, 768), (3072, 768), (768, 3072), (30522, 768), (1000, 768),
    (1024, 1024), (4096, 1024), (1024, 4096), (1280, 1280), (5120, 1280), (1280, 5120),
    (4096, 4096), (11008, 4096), (4096, 11008), (14336, 4096), (4096, 14336), (128256, 4096),
    (5120, 5120), (13824, 5120), (5120, 13824), (8192, 8192), (10240, 8192), (28672, 8192), (8192, 28672))


def product(pool, m, n, k):
    """One product as a linear layer does it: the weight is n x k in memory."""
    a, weight = pool.take(m, k), pool.take(n, k).t()
    if pool.dtype.itemsize > 1:
        out = torch.empty(m, n, dtype=pool.dtype, device="cuda")
        return lambda: torch.mm(a, weight, out=out)
    scale = torch.ones((), device="cuda")
    return keeping(lambda: torch._scaled_mm(a, weight, scale_a=scale, scale_b=scale,
                                            out_dtype=BF16, use_fast_accum=True))


def product_row(tables, name, pool, m, n, k):
    one = (m * k + n * k) * pool.dtype.itemsize + m * n * max(2, pool.dtype.itemsize)
    times = measure([product(pool, m, n, k) for _ in range(sets(one))])
    for table, us in zip(tables, times):
        table.row(name, m, n, k, us)


def gemm():
    tables = [Table(name, "dtype,m,n,k,us") for name in ("gemm", "gemm_same_buffer")]
    for name, dtype, most in (("bfloat16", BF16, 16384), ("fp8", torch.float8_e4m3fn, 16384),
                              ("float16", F16, 4096), ("tf32", F32, 4096), ("float32", F32, 1576)):
        pool = Pool(dtype, 8 * GIB)
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        for n, k in WEIGHTS:
            for m in ROWS:
                if m <= most and not late():
                    attempt(f"{name} {m} {n} {k}", product_row, tables, name, pool, m, n, k)
        print(f"  gemm {name}{': out of time' if late() else ''}", flush=True)
        del pool
        torch.cuda.empty_cache()


def gemm_grid():
    """Sizes in all combinations, of the type that nobody else measures: what a table is fitted to."""
    tables = [Table(name, "dtype,m,n,k,us") for name in ("gemm_grid", "gemm_grid_same_buffer")]
    pool = Pool(F32, 8 * GIB)
    torch.backends.cuda.matmul.allow_tf32 = True
    sizes = (64, 256, 1024, 2048, 4096, 8192, 16384)
    work = list(itertools.product((4, 16, 64, 1024, 2048, 4096, 8192), sizes, sizes))
    work += itertools.product((32768, 131072), (64, 128, 256, 512), (64, 128, 256, 512))
    for m, n, k in work:
        if m * n * k < 3e11 and not late():
            attempt(f"tf32 {m} {n} {k}", product_row, tables, "tf32", pool, m, n, k)


def batched_work():
    """(batch, m, n, k) of attention that is not fused: scores, then what they weigh."""
    for batch, sequence, size in ((12, 128, 64), (192, 128, 64), (12, 197, 64), (192, 197, 64), (1024, 197, 64),
                                  (12, 384, 64), (96, 384, 64), (384, 384, 64), (16, 512, 64), (256, 512, 64),
                                  (32, 1024, 128), (32, 2048, 128), (32, 4096, 128), (16, 257, 80), (256, 257, 80)):
        yield batch, sequence, sequence, size
        yield batch, sequence, size, sequence
    for batch, sequence in ((32, 128), (32, 2048), (512, 2048), (32, 8192)):
        yield batch, 1, sequence, 128
        yield batch, 1, 128, sequence


def batched_product(pool, batch, m, n, k):
    a, b = pool.take(batch, m, k), pool.take(batch, k, n)
    if n > k:  # keys lie in memory as queries do
        b = b.view(batch, n, k).transpose(1, 2)
    return keeping(lambda: torch.bmm(a, b))


def batched_row(table, name, pool, batch, m, n, k):
    one = batch * pool.dtype.itemsize * (m * k + n * k + m * n)
    us, _ = measure([batched_product(pool, batch, m, n, k) for _ in range(sets(one))])
    table.row(name, batch, m, n, k, us)


def batched_gemm():
    table = Table("batched_gemm", "dtype,batch,m,n,k,us")
    for name, dtype in (("bfloat16", BF16), ("float16", F16), ("tf32", F32), ("float32", F32)):
        pool = Pool(dtype, 8 * GIB)
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        for case in batched_work():
            if not late():
                attempt(f"batched {name} {case}", batched_row, table, name, pool, *case)


# ---- attention ---------------------------------------------------------------------------------

HEADS = ((32, 8, 128), (12, 12, 64), (32, 32, 128), (64, 8, 128), (16, 16, 64), (28, 4, 128), (8, 1, 128), (40, 40, 128))
PREFILL = ((1, 128), (1, 512), (1, 1000), (1, 2048), (1, 4096), (1, 8192), (1, 16384), (2, 300), (4, 512),
           (4, 2048), (8, 1024), (8, 200), (16, 197), (16, 512), (32, 128))
DECODE = tuple((batch, past) for past in (128, 1000, 2048, 8192, 32768) for batch in (1, 4, 17, 64))
FULL = tuple((batch, sequence, heads, heads, size)
             for sequence, heads, size in ((197, 12, 64), (197, 16, 64), (257, 16, 80), (128, 12, 64), (384, 12, 64),
                                           (512, 16, 64), (1024, 24, 128), (4096, 24, 128), (4096, 10, 64))
             for batch in (1, 8, 16, 64))
COLUMNS = "dtype,kv_dtype,batch,sequence,heads,kv_heads,head_size,us"


def attend(pool, batch, queries, sequence, heads, kv_heads, size, causal):
    q = pool.take(batch, queries, heads, size).transpose(1, 2)
    k, v = (pool.take(batch, sequence, kv_heads, size).transpose(1, 2) for _ in range(2))
    return keeping(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads))


def attention_row(table, pool, batch, queries, sequence, heads, kv_heads, size, causal):
    elements = batch * size * (2 * queries * heads + 2 * sequence * kv_heads)
    if elements * 2 > 4 * GIB or batch * queries * sequence * heads > 2e10:
        return
    calls = [attend(pool, batch, queries, sequence, heads, kv_heads, size, causal)
             for _ in range(sets(elements * 2, most=32))]
    us, _ = measure(calls)
    table.row("bfloat16", "bfloat16", batch, sequence, heads, kv_heads, size, us)


def attention_work():
    """(table, batch, queries, sequence, heads, kv_heads, size, causal), the tables in turn."""
    for heads in HEADS:
        for batch, sequence in PREFILL:
            yield "prefill", batch, sequence, sequence, *heads, True
        for batch, sequence in DECODE:
            yield "decode", batch, 1, sequence, *heads, False
    for batch, sequence, *heads in FULL:
        yield "full", batch, sequence, sequence, *heads, False


def attention():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    pool = Pool(BF16, 10 * GIB)
    tables = {name: Table("attention_" + name, COLUMNS) for name in ("prefill", "decode", "full")}
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        for name, *case in attention_work():
            if not late():
                attempt(f"{name} {case}", attention_row, tables[name], pool, *case)
    print("  flash done", "out of time" if late() else "", flush=True)
    tables = {name: Table(f"attention_{name}_cudnn", COLUMNS) for name in ("prefill", "full")}
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        for name, *case in attention_work():
            if name in tables and (case[3:6] in ([32, 8, 128], [12, 12, 64]) or name == "full") and not late():
                attempt(f"cudnn {name} {case}", attention_row, tables[name], pool, *case)


# ---- convolution -------------------------------------------------------------------------------

RESNET = (  # height and width, channels in, channels out, kernel, stride
    (224, 3, 64, 7, 2),
    (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1), (56, 256, 64, 1, 1),
    (56, 256, 128, 1, 1), (56, 128, 128, 3, 2), (28, 128, 512, 1, 1), (56, 256, 512, 1, 2),
    (28, 512, 128, 1, 1), (28, 128, 128, 3, 1),
    (28, 512, 256, 1, 1), (28, 256, 256, 3, 2), (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2),
    (14, 1024, 256, 1, 1), (14, 256, 256, 3, 1),
    (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2), (7, 512, 2048, 1, 1), (14, 1024, 2048, 1, 2),
    (7, 2048, 512, 1, 1), (7, 512, 512, 3, 1))
DEPTHWISE = ((112, 32, 3, 1), (112, 96, 3, 2), (56, 144, 3, 1), (28, 240, 5, 1), (14, 480, 3, 1), (14, 672, 5, 1),
             (7, 1152, 5, 1), (56, 96, 7, 1), (28, 192, 7, 1), (14, 384, 7, 1), (7, 768, 7, 1))


def convolve(pool, batch, side, into, out, kernel, stride, groups):
    x = pool.take(batch, side, side, into).permute(0, 3, 1, 2)
    weight = pool.take(out, kernel, kernel, into // groups).permute(0, 3, 1, 2)
    return keeping(lambda: F.conv2d(x, weight, stride=stride, padding=kernel // 2, groups=groups))


def convolution_row(table, name, pool, batch, side, into, out, kernel, stride, groups=1):
    one = batch * pool.dtype.itemsize * (side * side * into + (side // stride) ** 2 * out)
    us, _ = measure([convolve(pool, batch, side, into, out, kernel, stride, groups)
                     for _ in range(sets(one, most=16))])
    table.row(name, batch, side, side, into, out, kernel, stride, us)


def convolution():
    columns = "dtype,batch,height,width,in_channels,out_channels,kernel,stride,us"
    table, depthwise = Table("convolution", columns), Table("convolution_depthwise", columns)
    torch.backends.cudnn.benchmark, torch.backends.cudnn.benchmark_limit = True, 3
    torch.backends.cudnn.allow_tf32 = True
    for name, dtype in (("bfloat16", BF16), ("float16", F16), ("tf32", F32)):
        pool = Pool(dtype, 4 * GIB)
        for batch in (16, 1, 64):
            for case in RESNET:
                if not late():
                    attempt(f"conv {name} {batch} {case}", convolution_row, table, name, pool, batch, *case)
            for side, channels, kernel, stride in DEPTHWISE:
                if name == "bfloat16" and not late():
                    attempt(f"depthwise {batch} {side}", convolution_row, depthwise, name, pool, batch,
                            side, channels, channels, kernel, stride, channels)
        print(f"  convolution {name}{': out of time' if late() else ''}", flush=True)


def convolution_grid_work():
    """batch, height and width, channels in, channels out, kernel, stride"""
    for into, side, batch in itertools.product((16, 32, 64, 128, 256, 512, 1024), (7, 14, 28, 56, 112, 224), (1, 4, 16, 64)):
        for out in (into // 2, into, 2 * into):
            if 32 <= out <= 1024 and into * side <= 14336:
                yield batch, side, into, out, 3, 1
    for batch in (1, 4, 16, 64):
        for into, side, kernel in itertools.product((32, 128, 256), (14, 56), (5, 7)):
            yield batch, side, into, into, kernel, 1
        for into, side in ((64, 112), (128, 56), (256, 28), (320, 64), (640, 32)):
            yield batch, side, into, into, 3, 2
            yield batch, side, into, 2 * into, 3, 2
        for first in ((224, 3, 64, 7, 2), (224, 3, 32, 3, 2), (224, 3, 64, 3, 1), (299, 3, 32, 3, 2), (224, 3, 96, 4, 4),
                      (224, 3, 768, 16, 16), (224, 3, 1024, 16, 16), (64, 4, 320, 3, 1), (512, 3, 64, 7, 2)):
            yield batch, *first


def convolution_grid():
    """Layers of many sizes, for the table of convolutions; every size of kernel but 1, which are products."""
    table = Table("convolution_grid", "dtype,batch,height,width,in_channels,out_channels,kernel,stride,us")
    torch.backends.cudnn.benchmark, torch.backends.cudnn.benchmark_limit = True, 3
    torch.backends.cudnn.allow_tf32 = True
    for name, dtype in (("float16", F16), ("tf32", F32)):
        pool = Pool(dtype, 6 * GIB)
        for batch, side, into, out, kernel, stride in convolution_grid_work():
            size = dtype.itemsize * batch * side * side * (into + out / stride ** 2)
            work = 2 * batch * (side / stride) ** 2 * into * out * kernel ** 2
            if size < 500e6 and work < 1e12 and not late():
                attempt(f"grid {name} {batch} {side} {into} {out} {kernel}", convolution_row, table, name, pool, batch, side,
                        into, out, kernel, stride)
        print(f"  convolution grid {name}{': out of time' if late() else ''}", flush=True)
        del pool
        torch.cuda.empty_cache()


# ---- memory ------------------------------------------------------------------------------------

def smi(field):
    """A figure of nvidia-smi in bytes; it counts in MiB."""
    query = ["nvidia-smi", "--query-gpu=" + field, "--format=csv,noheader,nounits"]
    return int(float(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])) * MIB


def used():
    free, total = torch.cuda.mem_get_info()
    return total - free


def library_steps():
    """What a process does first, in order: (name, action)."""
    def half(*shape):
        return torch.zeros(*shape, dtype=BF16, device="cuda")
    one = torch.empty(1, device="cuda")
    yield "first_kernel", lambda: one.zero_()
    yield "first_bf16_product", lambda: torch.mm(half(256, 256), half(256, 256))
    yield "first_float32_product", lambda: torch.mm(half(256, 256).float(), half(256, 256).float())
    yield "first_linear_with_bias", lambda: F.linear(half(256, 256), half(256, 256), half(256))
    yield "first_convolution", lambda: F.conv2d(half(1, 64, 56, 56), half(64, 64, 3, 3))
    yield "first_attention", lambda: F.scaled_dot_product_attention(*[half(1, 8, 256, 64)] * 3)
    yield "first_graph", lambda: capture([lambda: one.zero_()]).replay()


def memory_steps(table):
    table.row("total_nvidia_smi", smi("memory.total"), "")
    table.row("reserved_nvidia_smi", smi("memory.reserved"), "what the driver keeps, no process running")
    before = smi("memory.used")
    table.row("used_before_nvidia_smi", before, "no process of ours")
    torch.cuda.set_stream(torch.cuda.Stream())
    torch.cuda.synchronize()
    table.row("total_cuda", torch.cuda.mem_get_info()[1], "cudaMemGetInfo")
    table.row("total_properties", torch.cuda.get_device_properties(0).total_memory, "")
    table.row("used_cuda_after_context", used(), "cudaMemGetInfo: total less free")
    table.row("context", smi("memory.used") - before, "nvidia-smi, after less before")
    for name, action in library_steps():
        was, cached = used(), torch.cuda.memory_reserved()
        action()
        torch.cuda.synchronize()
        added = torch.cuda.memory_reserved() - cached
        table.row(name, used() - was, f"more in use of the device; {added} of it in PyTorch's cache")
    table.row("used_by_libraries_and_context", used() - torch.cuda.memory_reserved(), "all but PyTorch's cache")


def allocator_steps(table):
    """What a request costs in PyTorch's cache, emptied before each."""
    for size in (1, 513, 4 * KIB, MIB - 1, MIB, MIB + 1, 3 * MIB, 10 * MIB - 1, 10 * MIB + 1, 21 * MIB + 1, 200 * MIB + 1):
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        tensor = torch.empty(size, dtype=torch.uint8, device="cuda")
        grown = torch.cuda.memory_allocated() - allocated
        table.row(f"allocator_{size}", torch.cuda.memory_reserved() - reserved, f"asks the device; gives {grown}")
        del tensor


def driver_steps(table):
    """What cuMemAlloc takes of free memory, and the largest piece it gives."""
    driver, pointer = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64()
    for size in (1, 4 * KIB, MIB, 2 * MIB, 2 * MIB + 1, 5 * MIB):
        pieces, was = [], used()
        for _ in range(64):
            driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size))
            pieces.append(pointer.value)
        table.row(f"driver_64_x_{size}", used() - was, "64 calls of cuMemAlloc")
        for piece in pieces:
            driver.cuMemFree_v2(ctypes.c_uint64(piece))
    torch.cuda.empty_cache()
    free = torch.cuda.mem_get_info()[0]
    for less in range(0, 2 * GIB, 2 * MIB):
        if driver.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(free - less)) == 0:
            table.row("largest_allocation", free - less, f"{less} less than is free")
            driver.cuMemFree_v2(pointer)
            break


def memory():
    table = Table("memory", "step,bytes,note")
    attempt("memory", memory_steps, table)
    attempt("allocator", allocator_steps, table)
    attempt("driver", driver_steps, table)


# ---- transfer ----------------------------------------------------------------------------------

def transfer():
    table = Table("transfer", "direction,host_memory,bytes,us")
    device = torch.empty(GIB, dtype=torch.uint8, device="cuda")
    pinned = torch.ones(GIB, dtype=torch.uint8).pin_memory()
    paged = torch.ones(GIB, dtype=torch.uint8)
    for name, host in (("pinned", pinned), ("paged", paged)):
        for step in range(3, 11):
            size = 4 ** step * KIB
            there, here = device[:size], host[:size]
            count = 20 if size < 16 * MIB else 2
            to = [lambda: there.copy_(here, non_blocking=True)] * count
            back = [lambda: here.copy_(there, non_blocking=True)] * count
            for direction, calls in (("to_device", to), ("to_host", back)):
                in_turn(calls)
                table.row(direction, name, size, events_us(lambda: in_turn(calls), 5) / count)


# ---- whole models ------------------------------------------------------------------------------

def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Llama(torch.nn.Module):
    """Decoder layers of Llama 3 8B without embeddings: norms, rotation, grouped attention, gated MLP."""

    def __init__(self, layers=4, hidden=4096, inner=14336, heads=32, kv_heads=8):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, hidden // heads
        self.layers = torch.nn.ModuleList(torch.nn.ModuleDict({
            "qkv": torch.nn.Linear(hidden, (heads + 2 * kv_heads) * self.size, bias=False),
            "out": torch.nn.Linear(hidden, hidden, bias=False),
            "gate": torch.nn.Linear(hidden, inner, bias=False),
            "up": torch.nn.Linear(hidden, inner, bias=False),
            "down": torch.nn.Linear(inner, hidden, bias=False),
            "norm1": torch.nn.RMSNorm(hidden), "norm2": torch.nn.RMSNorm(hidden)}) for _ in range(layers))

    def attend(self, layer, x, cos, sin):
        batch, length, _ = x.shape
        qkv = layer["qkv"](x).view(batch, length, -1, self.size).transpose(1, 2)
        q, k, v = qkv.split((self.heads, self.kv_heads, self.kv_heads), 1)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return layer["out"](y.transpose(1, 2).reshape(batch, length, -1))

    def forward(self, x, cos, sin):
        for layer in self.layers:
            x = x + self.attend(layer, layer["norm1"](x), cos, sin)
            y = layer["norm2"](x)
            x = x + layer["down"](F.silu(layer["gate"](y)) * layer["up"](y))
        return x


class Bert(torch.nn.Module):
    """BERT base without its pooler: post-norm layers with biases, fused attention without a mask."""

    def __init__(self, layers=12, hidden=768, inner=3072, heads=12):
        super().__init__()
        self.heads = heads
        self.words, self.places = torch.nn.Embedding(30522, hidden), torch.nn.Embedding(512, hidden)
        self.norm = torch.nn.LayerNorm(hidden)
        self.layers = torch.nn.ModuleList(torch.nn.ModuleDict({
            "query": torch.nn.Linear(hidden, hidden), "key": torch.nn.Linear(hidden, hidden),
            "value": torch.nn.Linear(hidden, hidden), "out": torch.nn.Linear(hidden, hidden),
            "up": torch.nn.Linear(hidden, inner), "down": torch.nn.Linear(inner, hidden),
            "norm1": torch.nn.LayerNorm(hidden), "norm2": torch.nn.LayerNorm(hidden)}) for _ in range(layers))

    def attend(self, layer, x):
        batch, length, hidden = x.shape
        q, k, v = (layer[name](x).view(batch, length, self.heads, -1).transpose(1, 2)
                   for name in ("query", "key", "value"))
        y = F.scaled_dot_product_attention(q, k, v)
        return layer["out"](y.transpose(1, 2).reshape(batch, length, hidden))

    def forward(self, tokens):
        x = self.norm(self.words(tokens) + self.places.weight[:tokens.shape[1]])
        for layer in self.layers:
            x = layer["norm1"](x + self.attend(layer, x))
            x = layer["norm2"](x + layer["down"](F.gelu(layer["up"](x))))
        return x


def model_row(table, name, model, batch, sequence, *inputs):
    run = keeping(lambda: model(*inputs))
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    eager = events_us(run, 9)
    graph = capture([run])
    graph.replay()
    parameters = sum(p.numel() for p in model.parameters())
    dtype = next(model.parameters()).dtype
    table.row(name, NAMES[dtype], batch, sequence, parameters, events_us(graph.replay, 9), eager)


def image_models(table):
    import torchvision
    for name in ("resnet50", "vit_l_16", "vit_b_16", "convnext_tiny"):
        with torch.device("cuda"):
            model = getattr(torchvision.models, name)(weights=None).eval()
        for dtype in (F32, BF16):
            model = model.to(dtype=dtype, memory_format=torch.channels_last)
            for batch in (1, 16, 64):
                x = torch.randn(batch, 3, 224, 224, device="cuda").to(dtype, memory_format=torch.channels_last)
                attempt(f"{name} {batch}", model_row, table, name, model, batch, "", x)


def bert(table):
    with torch.device("cuda"):
        model = Bert().to(BF16).eval()
    for batch, sequence in ((1, 128), (1, 512), (8, 128), (32, 128), (32, 384)):
        tokens = torch.randint(0, 30000, (batch, sequence), device="cuda")
        attempt(f"bert {batch}", model_row, table, "bert_base", model, batch, sequence, tokens)


def llama(table):
    with torch.device("cuda"):
        model = Llama().to(BF16).eval()
    for batch, sequence in ((1, 1), (16, 1), (1, 128), (1, 2048), (4, 2048), (1, 8192)):
        x = torch.randn(batch, sequence, 4096, device="cuda").to(BF16)
        cos, sin = (torch.randn(sequence, 128, device="cuda").to(BF16) for _ in range(2))
        attempt(f"llama {batch} {sequence}", model_row, table, "llama3_8b_4_layers", model, batch, sequence, x, cos, sin)


def models():
    table = Table("models", "model,dtype,batch,sequence,parameters,us,us_eager")
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = True
    with torch.no_grad():
        for part in (llama, image_models, bert):
            if not late():
                attempt(part.__name__, part, table)


# ---- compiled ----------------------------------------------------------------------------------

def compiled():
    """A chain of five pointwise operators: as five kernels, and as the one torch.compile makes of them."""
    table = Table("compiled", "form,dtype,elements,us,us_same_buffer,us_eager")

    def chain(x, y):
        return torch.tanh(F.gelu(x * y + 1) * y)
    for form, function in (("five_kernels", chain), ("torch_compile", torch.compile(chain))):
        for elements in (1024, MIB, 64 * MIB):
            operands = [[torch.randn(elements, device="cuda").to(BF16) for _ in range(2)] for _ in range(8)]
            calls = [keeping(lambda x=x, y=y: function(x, y)) for x, y in operands]
            times = attempt(f"{form} {elements}", measure, calls, True)
            if times:
                table.row(form, "bfloat16", elements, *times)


# ---- ONNX models -------------------------------------------------------------------------------

def onnx():
    """Models in the working tree's tests/data with ONNX Runtime's CUDA provider, if it has one."""
    import onnxruntime
    providers = onnxruntime.get_available_providers()
    print("  onnxruntime", onnxruntime.__version__, providers)
    if "CUDAExecutionProvider" not in providers:
        return
    table = Table("onnx", "model,us")
    for path in sorted(glob.glob("tests/data/models/*.onnx") + glob.glob("tests/data/runnable/*.onnx")):
        attempt(path, onnx_row, table, onnxruntime, path)


def onnx_row(table, onnxruntime, path):
    session = onnxruntime.InferenceSession(path, providers=["CUDAExecutionProvider"])
    binding, types = session.io_binding(), {"tensor(float)": F32, "tensor(float16)": F16, "tensor(int64)": torch.int64}
    for tensor in session.get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in tensor.shape]
        value = torch.ones(shape, dtype=types[tensor.type]).numpy()
        binding.bind_ortvalue_input(tensor.name, onnxruntime.OrtValue.ortvalue_from_numpy(value, "cuda", 0))
    for tensor in session.get_outputs():
        binding.bind_output(tensor.name, "cuda")
    for _ in range(5):
        session.run_with_iobinding(binding)
    table.row(os.path.basename(path), wall_us(lambda: session.run_with_iobinding(binding), 21))


# ---- main --------------------------------------------------------------------------------------

SECTIONS = {section.__name__: section for section in (
    launch, memory_bound, gemm, gemm_grid, batched_gemm, attention, convolution, convolution_grid, memory, transfer, models,
    compiled, onnx)}


def main():
    global deadline, folder
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=".")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS))
    arguments = parser.parse_args()
    folder = arguments.out
    os.makedirs(folder, exist_ok=True)
    for name in arguments.sections:
        start = time.monotonic()
        deadline = start + arguments.seconds
        if name != "memory":  # which wants to see the device untouched
            torch.cuda.set_stream(torch.cuda.Stream())  # a capture wants a stream that is not the default one
        try:
            SECTIONS[name]()
        except Exception:
            traceback.print_exc()
        print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
    for reason, count in complaints.items():
        print(f"  {count} x {reason}")


if __name__ == "__main__":
    main()
