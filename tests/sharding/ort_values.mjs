// ort_values.mjs - what ONNX Runtime computes for cases of cases_*.py.
//
// Usage: npm install --ignore-scripts onnxruntime-node@1.30.0   (anywhere; run from there)
//        python3 check_reference.py --write FOLDER
//        node ort_values.mjs FOLDER > ort_values.tsv
//
// One line a case: its key, a tab, and its results as JSON. Cases that the runtime refuses are left
// out, and said on standard error.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

process.env.ALLOW_RELEASED_ONNX_OPSET_ONLY = '0'; // it knows more than it promises
const ort = createRequire(path.join(process.cwd(), 'here.js'))('onnxruntime-node');
const [folder] = process.argv.slice(2);
const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 4, intraOpNumThreads: 1 };
const big = x => BigInt(x);
const ARRAYS = {
    float32: Float32Array, int64: BigInt64Array, uint8: Uint8Array, int8: Int8Array,
    int32: Int32Array, uint32: Uint32Array, int16: Int16Array, bool: Uint8Array,
};

function tensor({ dtype, dims, data }) {
    if (dtype === 'object')
        return new ort.Tensor('string', data, dims);
    const numbers = dtype === 'int64' ? data.map(big) : data;
    return new ort.Tensor(dtype, ARRAYS[dtype].from(numbers), dims);
}

function plain({ type, dims, data }) {
    const short = x => type === 'float32' ? Number(x.toPrecision(6)) : Number(x);
    const numbers = Array.from(data, x => type === 'string' ? x : short(x));
    return { type, dims, data: numbers };
}

for (const { key, model, feeds, results } of
    JSON.parse(fs.readFileSync(path.join(folder, 'cases.json'))))
    try {
        const session = await ort.InferenceSession.create(path.join(folder, model), options);
        const inputs = Object.fromEntries(feeds.map(f => [f.name, tensor(f)]));
        const out = await session.run(inputs);
        fs.writeSync(1, `${key}\t${JSON.stringify(results.map(n => plain(out[n])))}\n`);
        await session.release();
    } catch (e) {
        fs.writeSync(2, `${key}: ${e.message.split('\n')[0]}\n`);
    }
