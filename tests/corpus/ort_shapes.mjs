// ort_shapes.mjs - the types that ONNX Runtime gives the results of the cases of ort_cases.py.
//
// Usage: npm install onnxruntime-node@1.30.0   (anywhere; run from there)
//        python3 ort_cases.py write FOLDER
//        node ort_shapes.mjs FOLDER > ort_shapes.tsv
//
// One line a case: what it is, a tab, and the types of its results. Cases that the runtime refuses are
// left out, and said on standard error.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

process.env.ALLOW_RELEASED_ONNX_OPSET_ONLY = '0'; // it knows more than it promises
const ort = createRequire(path.join(process.cwd(), 'here.js'))('onnxruntime-node');
const [folder] = process.argv.slice(2);
const options = { graphOptimizationLevel: 'disabled', logSeverityLevel: 4, intraOpNumThreads: 1 };
const THEIRS = { float: 'float32', double: 'float64' };
const OURS = { float32: 'float', float64: 'double' };

let seed = 1;
function random() {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed / 0x7fffffff - 0.5;
}

function makeInput({ dtype, dims }) {
    const n = dims.reduce((a, b) => a * b, 1);
    const type = THEIRS[dtype] ?? dtype;
    const array = {
        float32: () => Float32Array.from({ length: n }, random),
        float64: () => Float64Array.from({ length: n }, random),
        float16: () => new Uint16Array(n).fill(0x3000),
        int64: () => new BigInt64Array(n).fill(1n),
        uint64: () => new BigUint64Array(n).fill(1n),
        string: () => Array(n).fill('a b'),
        bool: () => new Uint8Array(n).fill(1),
        int8: () => new Int8Array(n).fill(1),
        uint8: () => new Uint8Array(n).fill(1),
        int16: () => new Int16Array(n).fill(1),
        uint16: () => new Uint16Array(n).fill(1),
        int32: () => new Int32Array(n).fill(1),
        uint32: () => new Uint32Array(n).fill(1),
    }[type]();
    return new ort.Tensor(type, array, dims);
}

async function typesOf({ model, feeds, results, claims }) {
    const session = await ort.InferenceSession.create(path.join(folder, model), options);
    const inputs = Object.fromEntries(feeds.map(f => [f.name, makeInput(f)]));
    const shapes = await session.run(inputs, results.map(name => `shape of ${name}`));
    const types = results.map(name => {
        const type = claims[name] ?? session.outputMetadata.find(m => m.name === name).type;
        return `${OURS[type] ?? type}[${[...shapes[`shape of ${name}`].data].join(',')}]`;
    });
    await session.release();
    return types.join(' ');
}

for (const one of JSON.parse(fs.readFileSync(path.join(folder, 'cases.json'))))
    try {
        fs.writeSync(1, `${one.case}\t${await typesOf(one)}\n`);
    } catch (e) {
        fs.writeSync(2, `${one.case}: ${e.message.split('\n')[0]}\n`);
    }
