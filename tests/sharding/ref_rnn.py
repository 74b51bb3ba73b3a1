"""ref_rnn.py - RNN, GRU and LSTM, step by step. x is (steps, batch, input) unless layout is 1."""
import numpy as np

from reference import kernel
from ref_elementwise import sigmoid

ACTIVATIONS = {
    "Sigmoid": sigmoid, "Tanh": np.tanh, "Relu": lambda z: np.maximum(z, 0),
    "Affine": lambda z: z,
}


def clipped(call, z):
    limit = call.attr("clip")
    return z if limit is None else np.clip(z, -limit, limit)


def functions(call, direction, defaults):
    names = call.attr("activations")
    n = len(defaults)
    names = defaults if not names else names[direction * n:direction * n + n]
    return [ACTIVATIONS[name] for name in names]


def rnn_step(call, d, w, r, b, p):
    act, = functions(call, d, ["Tanh"])
    wb, rb = np.split(b, 2)

    def step(x, h, c):
        return act(clipped(call, x @ w.T + h @ r.T + wb + rb)), c
    return step


def gru_step(call, d, w, r, b, p):
    f, g = functions(call, d, ["Sigmoid", "Tanh"])
    wz, wr, wh = np.split(w, 3)
    rz, rr, rh = np.split(r, 3)
    bz, br, bh, sz, sr, sh = np.split(b, 6)

    def step(x, h, c):
        z = f(clipped(call, x @ wz.T + h @ rz.T + bz + sz))
        reset = f(clipped(call, x @ wr.T + h @ rr.T + br + sr))
        if call.attr("linear_before_reset", 0):
            new = g(clipped(call, x @ wh.T + reset * (h @ rh.T + sh) + bh))
        else:
            new = g(clipped(call, x @ wh.T + (reset * h) @ rh.T + sh + bh))
        return (1 - z) * new + z * h, c
    return step


def lstm_step(call, d, w, r, b, p):
    f, g, h_act = functions(call, d, ["Sigmoid", "Tanh", "Tanh"])
    wb, rb = np.split(b, 2)
    pi, po, pf = np.split(p, 3)

    def step(x, h, c):
        i, o, forget, cell = np.split(x @ w.T + h @ r.T + wb + rb, 4, axis=-1)
        i, forget = f(clipped(call, i + pi * c)), f(clipped(call, forget + pf * c))
        if call.attr("input_forget", 0):
            forget = 1 - i
        new = forget * c + i * g(clipped(call, cell))
        return f(clipped(call, o + po * new)) * h_act(new), new
    return step


def run_direction(step, x, lengths, h, c, backwards):
    """Outputs of each step; a batch whose steps are over keeps its state, and its output is 0."""
    steps, batch = x.shape[:2]
    y = np.zeros((steps, batch, h.shape[-1]))
    for t in range(steps):
        at = np.array([(n - 1 - t if backwards else t) for n in lengths])
        live = (t < lengths)[:, None]
        rows = x[np.clip(at, 0, steps - 1), np.arange(batch)]
        new_h, new_c = step(rows, h, c)
        h, c = np.where(live, new_h, h), np.where(live, new_c, c)
        for b in range(batch):
            if t < lengths[b]:
                y[at[b], b] = h[b]
    return y, h, c


def recurrent(make_step, gates, call, x, w, r, b=None, lengths=None, h0=None, c0=None, p=None):
    layout = call.attr("layout", 0)
    if layout:
        x = x.swapaxes(0, 1)
        h0, c0 = (None if s is None else s.swapaxes(0, 1) for s in (h0, c0))
    steps, batch, _ = x.shape
    hidden, directions = r.shape[-1], w.shape[0]
    lengths = np.full(batch, steps) if lengths is None else lengths
    ys, hs, cs = [], [], []
    for d in range(directions):
        bias = np.zeros(2 * gates * hidden) if b is None else b[d]
        peep = np.zeros(3 * hidden) if p is None else p[d]
        step = make_step(call, d, w[d], r[d], bias, peep)
        zero = np.zeros((batch, hidden))
        backwards = d == 1 or call.attr("direction", "forward") == "reverse"
        y, h, c = run_direction(step, x, lengths, zero if h0 is None else h0[d],
                                zero if c0 is None else c0[d], backwards)
        ys.append(y), hs.append(h), cs.append(c)
    y, h, c = np.stack(ys, 1), np.stack(hs), np.stack(cs)  # y: (steps, directions, batch, hidden)
    if layout:
        y, h, c = y.transpose(2, 0, 1, 3), h.swapaxes(0, 1), c.swapaxes(0, 1)
    return tuple(v.astype(x.dtype) for v in (y, h, c))


@kernel("RNN")
def rnn(call, *inputs):
    return recurrent(rnn_step, 1, call, *inputs)[:2]


@kernel("GRU")
def gru(call, *inputs):
    return recurrent(gru_step, 3, call, *inputs)[:2]


@kernel("LSTM")
def lstm(call, *inputs):
    return recurrent(lstm_step, 4, call, *inputs)
