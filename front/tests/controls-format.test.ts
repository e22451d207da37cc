// Formatting of numbers, units and names.

import assert from "node:assert/strict";
import { test } from "node:test";
import { timeFormatter, digitsFor, formula, titleFromName, sentences, short, significant, unitText, withUnit } from "../src/controls/format.ts";

test("powers in units are superscripts, and a pure number has no unit", () => {
  assert.equal(unitText("kg m2"), "kg m²");
  assert.equal(unitText("m/s2"), "m/s²");
  assert.equal(unitText("kg/m3"), "kg/m³");
  assert.equal(unitText("1/s"), "1/s");
  assert.equal(withUnit("5", "1"), "5");
  assert.equal(withUnit("5", "rad/s"), "5 rad/s");
});

test("significant digits are kept, and long numbers become powers of ten", () => {
  assert.equal(significant(Math.PI, 6), "3.14159");
  assert.equal(significant(-2.5, 4), "−2.500");
  assert.equal(significant(123456, 3), "123456");
  assert.equal(significant(2.34e-10, 2), "2.3 × 10⁻¹⁰");
  assert.equal(significant(5.97e24, 3), "5.97 × 10²⁴");
  assert.equal(significant(0, 5), "0");
});

test("NaN and infinity", () => {
  assert.equal(significant(null, 3), "NaN");
  assert.equal(significant(Number.NaN, 3), "NaN");
  assert.equal(significant(Infinity, 3), "∞");
});

test("a short number has no trailing zeros", () => {
  assert.equal(short(5), "5");
  assert.equal(short(100), "100");
  assert.equal(short(0.05), "0.05");
  assert.equal(short(2e-9), "2 × 10⁻⁹");
});

test("digits follow from the tolerance, and decimals from the duration", () => {
  assert.equal(digitsFor(3, 1e-6), 8);
  assert.equal(digitsFor(3, 0), 6);
  assert.equal(digitsFor(3, 10), 4);
  assert.equal(timeFormatter(0, 10)(1.2345), "1.23 s");
  assert.equal(timeFormatter(0, 5000)(4321.9), "4322 s");
  assert.equal(timeFormatter(0, 3456000)(3456000), "40.00 days");
  assert.equal(timeFormatter(0, 172800)(172800), "172\u202f800 s");
  assert.equal(timeFormatter(0, 0)(0), "0.00 s");
  assert.equal(timeFormatter(0, 1e-12)(5.1e-13), "0.510 × 10⁻¹² s");
  assert.equal(timeFormatter(1e8, 1e8 + 4)(1e8 + 1.234), "100\u202f000\u202f001.234 s");
});

test("a model's name becomes a heading", () => {
  assert.equal(titleFromName("gyroscope-euler-angles"), "Gyroscope Euler angles");
  assert.equal(titleFromName("cubesat"), "CubeSat");
});

test("a formula is typeset; names and longer powers are unchanged", () => {
  assert.equal(formula("2 pi sqrt(mu/k) t^2 - x^-1"), "2 π √(μ/k) t² − x⁻¹");
  assert.equal(formula("theta0 and a^10, e^-z, spin-pi-half"), "theta0 and a^10, e^-z, spin-pi-half");
});

test("lines become sentences, with spaces in names", () => {
  assert.equal(sentences("computed by lie_rk4\nchosen by auto: no_forces"), "Computed by lie rk4. Chosen by auto: no forces.");
  assert.equal(sentences("read from a file."), "Read from a file.");
});
