"""Times whole models on one NVIDIA GPU as torch.compile fuses them and one CUDA graph starts them.

    python3 measure_models.py --out results [--seconds 60] section...

Sections: decoder images text. They are what plans with `--runtime engine` predict, from files of the same networks.
`--seconds` is the time that a section may take; it stops with the rows it has. Writes whole_models.csv in the folder:

  queries, past   tokens of each sequence that are computed, and those that are in its cache before
  us              the graph, replayed; median of 9
  memory_bytes    most that PyTorch had allocated in one run without a graph, weights and caches in it
"""
import argparse
import math
import os
import time
import traceback

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

import measure_gpu as gpu

HIDDEN, INNER, HEADS, KV_HEADS, SIZE, LAYERS, WORDS = 4096, 14336, 32, 8, 128, 32, 128256  # Llama 3 8B
DECODE = tuple((batch, past) for batch in (1, 8, 16, 64) for past in (127, 1023, 4095, 8191) if batch * past < 300_000)
PREFILL = ((1, 128), (1, 512), (1, 1024), (1, 2048), (1, 4096), (1, 8192), (4, 2048), (16, 512))


class Layer(torch.nn.Module):
    """One decoder layer with its cache: packed queries, keys and values, packed gate and up."""

    def __init__(self):
        super().__init__()
        linear = lambda into, out: torch.nn.Linear(into, out, bias=False)
        self.norm, self.norm_mlp = torch.nn.RMSNorm(HIDDEN, eps=1e-5), torch.nn.RMSNorm(HIDDEN, eps=1e-5)
        self.qkv, self.out = linear(HIDDEN, (HEADS + 2 * KV_HEADS) * SIZE), linear(HIDDEN, HIDDEN)
        self.gate_up, self.down = linear(HIDDEN, 2 * INNER), linear(INNER, HIDDEN)

    def forward(self, x, keys, values, cos, sin, past):
        batch, queries, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, queries, -1, SIZE).split((HEADS, KV_HEADS, KV_HEADS), 2)
        q, k = gpu.rotate(q, cos, sin), gpu.rotate(k, cos, sin)
        keys[:, past:past + queries], values[:, past:past + queries] = k, v
        if past:
            k, v = keys, values
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=not past, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, queries, HIDDEN))
        gate, up = self.gate_up(self.norm_mlp(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Decoder(torch.nn.Module):
    """Llama 3 8B: tokens to logits of the last of each sequence; layers are compiled, one code for all."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, HIDDEN)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.head = torch.nn.RMSNorm(HIDDEN, eps=1e-5), torch.nn.Linear(HIDDEN, WORDS, bias=False)
        for layer in self.layers:
            layer.compile(dynamic=False)

    def forward(self, tokens, keys, values, cos, sin, past):
        x = self.words(tokens)
        for i, layer in enumerate(self.layers):
            x = layer(x, keys[i], values[i], cos, sin, past)
        return self.head(self.norm(x[:, -1]))


def row(table, name, backend, model, batch, queries, past, *inputs):
    """Whole times and memory of a model that is compiled, as soon as it is warm"""
    run = gpu.keeping(lambda: model(*inputs))
    start = time.monotonic()
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    run()
    torch.cuda.synchronize()
    memory = torch.cuda.max_memory_allocated()
    graph = gpu.capture([run])
    for _ in range(2):
        graph.replay()
    us = gpu.events_us(graph.replay, 9)
    parameters = sum(p.numel() for p in model.parameters())
    table.row(name, gpu.NAMES[next(model.parameters()).dtype], backend, batch, queries, past, parameters, us, memory)
    print(f"  {name} {backend} {batch} x {queries} after {past}: {us:.0f} us, {memory / gpu.GIB:.2f} GiB, "
          f"{time.monotonic() - start:.1f} s", flush=True)
    del graph
    torch.cuda.empty_cache()


def decoder_row(table, model, backend, batch, queries, past):
    tokens = torch.randint(0, WORDS, (batch, queries), device="cuda")
    keys, values = (torch.randn(LAYERS, batch, past + queries, KV_HEADS, SIZE, device="cuda", dtype=gpu.BF16) for _ in range(2))
    cos, sin = (torch.randn(queries, 1, SIZE, device="cuda").to(gpu.BF16) for _ in range(2))
    with sdpa_kernel(getattr(SDPBackend, backend)):
        row(table, "llama3_8b", backend.lower(), model, batch, queries, past, tokens, keys, values, cos, sin, past)


def decoder(table):
    torch.set_default_dtype(gpu.BF16)
    with torch.device("cuda"):
        model = Decoder().eval()
    torch.set_default_dtype(torch.float32)
    work = [("FLASH_ATTENTION", batch, 1, past) for batch, past in DECODE]
    work += [("CUDNN_ATTENTION", batch, queries, 0) for batch, queries in PREFILL]
    work += [("FLASH_ATTENTION", batch, queries, 0) for batch, queries in ((1, 2048), (1, 8192))]
    for case in work:
        if not gpu.late():
            gpu.attempt(f"decoder {case}", decoder_row, table, model, *case)


def images(table):
    import torchvision
    torch._inductor.config.freezing = True  # batch norm into convolutions, as engines do
    for name in ("resnet50", "vit_l_16", "convnext_tiny"):
        with torch.device("cuda"):
            model = getattr(torchvision.models, name)(weights=None).eval().to(gpu.BF16, memory_format=torch.channels_last)
        for batch in (1, 64):
            if gpu.late():
                return
            torch._dynamo.reset()
            x = torch.randn(batch, 3, 224, 224, device="cuda").to(gpu.BF16, memory_format=torch.channels_last)
            model.compile(dynamic=False)
            gpu.attempt(f"{name} {batch}", row, table, name, "", model, batch, "", "", x)


def text(table):
    with torch.device("cuda"):
        model = gpu.Bert().to(gpu.BF16).eval()
    for batch, sequence in ((1, 128), (8, 128), (32, 384)):
        if gpu.late():
            return
        torch._dynamo.reset()
        model.compile(dynamic=False)
        tokens = torch.randint(0, 30000, (batch, sequence), device="cuda")
        gpu.attempt(f"bert {batch}", row, table, "bert_base", "", model, batch, sequence, 0, tokens)


SECTIONS = {section.__name__: section for section in (decoder, images, text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=".")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS))
    arguments = parser.parse_args()
    gpu.folder = arguments.out
    os.makedirs(gpu.folder, exist_ok=True)
    table = gpu.Table("whole_models", "model,dtype,attention,batch,queries,past,parameters,us,memory_bytes")
    torch._dynamo.config.cache_size_limit = 256
    torch.cuda.set_stream(torch.cuda.Stream())
    for name in arguments.sections:
        start = time.monotonic()
        gpu.deadline = start + arguments.seconds
        try:
            with torch.no_grad():
                SECTIONS[name](table)
        except Exception:
            traceback.print_exc()
        print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)
    for reason, count in gpu.complaints.items():
        print(f"  {count} x {reason}")


if __name__ == "__main__":
    main()
