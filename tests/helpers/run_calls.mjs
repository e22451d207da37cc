// Run calls of a WebAssembly module on images of memory, and compare each word with what the CPU has left.
// Used by Node (node run_calls.mjs jobs.json) and by a page.

/** [words, different, other NaNs] of one module: `base` is the address of images, `calls` are ArrayBuffers. */
export async function runCalls(code, base, calls) {
  const sizes = calls.map((call) => Number(new BigInt64Array(call, 0, 1)[0]));
  const memory = new WebAssembly.Memory({ initial: Math.ceil((base + 8 * Math.max(...sizes)) / 65536) });
  const __stack_pointer = new WebAssembly.Global({ value: "i32", mutable: true }, base);
  const env = { __linear_memory: memory, __stack_pointer, fmod: (x, y) => x % y };
  const { instance } = await WebAssembly.instantiate(code, { env });
  const total = [0, 0, 0];
  for (const call of calls) runCall(memory.buffer, instance.exports.advance, base, call, total);
  return total;
}

function runCall(buffer, advance, base, call, total) {
  const [size, addressed, given, left, first, last] = Array.from(new BigInt64Array(call, 0, 6), Number);
  const addresses = Array.from(new BigInt64Array(call, 48, addressed), Number);
  const words = new BigInt64Array(buffer, base, size);
  new Uint8Array(buffer, base, 8 * size).fill(0xa5);
  words.set(new BigInt64Array(call, 48 + 8 * addressed, given));
  for (const word of addresses) words[word] += BigInt(base);
  advance(base, BigInt(first), BigInt(last));
  for (const word of addresses) words[word] -= BigInt(base);
  const at = 48 + 8 * (addressed + given);
  const got = new Int32Array(buffer, base, 2 * size), want = new Int32Array(call, at, 2 * left);
  const numbers = new Float64Array(buffer, base, size), expected = new Float64Array(call, at, left);
  const pattern = 0xa5a5a5a5 | 0;
  for (let i = 0; i < size; i++) {
    const [low, high] = i < left ? [want[2 * i], want[2 * i + 1]] : [pattern, pattern];
    if (got[2 * i] === low && got[2 * i + 1] === high) continue;
    total[numbers[i] !== numbers[i] && i < left && expected[i] !== expected[i] ? 2 : 1]++;
  }
  total[0] += size;
}

/** Of each job {wasm, base, calls}, whose files `read` finds. */
export async function runJobs(jobs, read) {
  const totals = [];
  for (const { wasm, base, calls } of jobs) {
    totals.push(await runCalls(await read(wasm), base, await Promise.all(calls.map(read))));
  }
  return totals;
}

if (typeof process !== "undefined") {
  const { readFileSync } = await import("node:fs");
  const read = (path) => {
    const { buffer, byteOffset, length } = readFileSync(path);
    return buffer.slice(byteOffset, byteOffset + length);
  };
  console.log(JSON.stringify(await runJobs(JSON.parse(readFileSync(process.argv[2])), read)));
}
