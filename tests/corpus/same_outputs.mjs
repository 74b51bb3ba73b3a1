// same_outputs.mjs - does ONNX Runtime compute the same with an annotated model as with the original?
//
// Usage: npm install onnxruntime-node@1.30.0   (anywhere; run from there)
//        node same_outputs.mjs CLEAVE FOLDER
//
// Each model of the folder is planned on four devices, annotated, and run beside the original on the same
// inputs, without graph optimisation: every output must have the same bytes. The runtime reads IR
// versions up to 13. The last line is 'N passed, N failed'.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';

const ort = createRequire(path.join(process.cwd(), 'here.js'))('onnxruntime-node');
const [cleave, folder] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'cleave-'));
const annotated = path.join(scratch, 'annotated.onnx');

// Sizes that only fit together, as in sizes.py.
const USUAL = { past_sequence_length: 3, sequence_length: 1, total_sequence_length: 4,
    'past_sequence_length + 1': 4, past_decoder_sequence_length: 3, encoder_sequence_length_out: 6,
    batch_size: 2, batch: 2 };
const PREFILL = { sequence_length: 4, total_sequence_length: 4 };

function sizeOf(symbol, symbols) {
    if (!symbols.includes('past_sequence_length') && symbol in PREFILL)
        return PREFILL[symbol];
    return USUAL[symbol] ?? 4;
}

let seed = 1;
function random() {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed / 0x7fffffff - 0.5;
}

function makeInput(meta, symbols) {
    const dims = meta.shape.map(d => typeof d === 'number' && d >= 0 ? d : sizeOf(String(d), symbols));
    const n = dims.reduce((a, b) => a * b, 1);
    const data = {
        int64: () => BigInt64Array.from({ length: n }, (_, i) => meta.name.includes('mask') ? 1n : BigInt(i % 2)),
        int32: () => new Int32Array(n).fill(1),
        bool: () => new Uint8Array(n).fill(1),
        float16: () => new Uint16Array(n).fill(0x3000),
        float32: () => Float32Array.from({ length: n }, random),
    }[meta.type]();
    return new ort.Tensor(meta.type, data, dims);
}

const bytesOf = t => Buffer.from(t.data.buffer, t.data.byteOffset, t.data.byteLength);
const quiet = { stdio: ['ignore', 'pipe', 'ignore'] };

async function compare(model) {
    const shown = JSON.parse(execFileSync(cleave, ['inspect', model, '--json'], quiet));
    const symbols = shown.symbols.map(s => s.name ?? s);
    const bind = symbols.flatMap(s => ['--bind', `${s}=${sizeOf(s, symbols)}`]);
    execFileSync(cleave, ['plan', model, '--devices', '4', '-o', annotated, '--quiet', ...bind], quiet);
    const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 };
    const before = await ort.InferenceSession.create(model, options);
    const after = await ort.InferenceSession.create(annotated, options);
    const feeds = Object.fromEntries(before.inputMetadata.map(m => [m.name, makeInput(m, symbols)]));
    const a = await before.run(feeds), b = await after.run(feeds);
    for (const name of Object.keys(a))
        if (!bytesOf(a[name]).equals(bytesOf(b[name])))
            throw new Error(`output '${name}' differs`);
}

let passed = 0, failed = 0;
for (const name of fs.readdirSync(folder).filter(f => f.endsWith('.onnx')).sort())
    try {
        await compare(path.join(folder, name));
        passed++;
    } catch (e) {
        failed++;
        console.log(`${name}: ${e.message}`);
    }
fs.rmSync(scratch, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
