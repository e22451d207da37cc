import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText } from "../src/plots/csv.ts";

test("double precision has all its digits, single precision nine; both can be read back to the same bits", () => {
  const single = Math.fround(0.1);
  const text = csvText([
    { name: "time", unit: "s", isSingle: false, values: [0.1 + 0.2] },
    { name: "x", unit: "m", isSingle: true, values: [single] },
  ]);
  assert.equal(text, "time (s),x (m; float32)\r\n0.30000000000000004,0.100000001\r\n");
  const [time, x] = text.split("\r\n")[1].split(",").map(Number);
  assert.ok(time === 0.1 + 0.2 && Math.fround(x) === single);
});

test("a number that is not defined is an empty field; names with commas and quotes are quoted", () => {
  const text = csvText([
    { name: "time", unit: "s", isSingle: false, values: [0, 1] },
    { name: 'force "a, b"', unit: "", isSingle: false, values: [NaN, -Infinity] },
  ]);
  assert.equal(text, 'time (s),"force ""a, b"""\r\n0,\r\n1,\r\n');
});
