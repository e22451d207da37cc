"""JavaScript for Node, pages and workers."""

from __future__ import annotations

from polhode.ir.targets.phrases import INFIX, Language

_HEAD = """\
"use strict";
"""

_MAIN = """\
// Run all units and print their samples.
function main() {
  const out = new Float64Array(POLHODE_OUTPUTS * POLHODE_UNITS * (1 + POLHODE_SAMPLE_SIZE));
  for (let unit = 0; unit < POLHODE_UNITS; unit++) polhode_run(unit, out);
  const text = (x) => (Object.is(x, -0) ? "-0" : String(x));
  const lines = ["@@HEADER"];
  for (let row = 0; row < POLHODE_OUTPUTS * POLHODE_UNITS; row++) {
    const at = row * (1 + POLHODE_SAMPLE_SIZE);
    for (let body = 0; body < POLHODE_BODIES; body++) {
      const start = at + 1 + body * POLHODE_COLUMNS;
      const who = (row % POLHODE_UNITS) * POLHODE_BODIES + body;
      const numbers = [out[at], who, ...out.subarray(start, start + POLHODE_COLUMNS)];
      lines.push(numbers.map(text).join(","));
    }
  }
  console.log(lines.join("\\n"));
}

if (typeof module !== "undefined") {  // Node; in a page or a worker the functions are there as they are
  module.exports = { @@NAMES };
  if (require.main === module) main();
}
"""

JAVASCRIPT = Language(
    name="javascript",
    title="JavaScript",
    suffixes=(".js", ".cjs"),
    command="node {0}.js",
    operations={
        **INFIX,
        "sqrt": "Math.sqrt({0})",
        "floor": "Math.floor({0})",
        "fmod": "{0} % {1}",
        "sel": "{0} ? {1} : {2}",
    },
    entry="{0}[{1}]",
    whole="{0}",
    number="{0}",
    infinity="Infinity",
    nan="NaN",
    table="const {0} = new Float64Array([\n{2}\n]);",
    whole_constant="const {0} = {1};",
    number_constant="const {0} = {1};",
    arguments={"out": "{0}", "in": "{0}", "number": "{0}", "whole": "{0}"},
    function="function {0}({1}) {{",
    declare={
        "value": "const {0} = {1};",
        "truth": "const {0} = {1};",
        "number": "let {0} = {1};",
        "whole": "let {0} = {1};",
        "out": "const {0} = new Float64Array({1});",
    },
    repeat="for (let {0} = {1}; {0} < {2}; {0}++) {{",
    during="while ({0}) {{",
    when="if ({0}) {{",
    kept_before="const {0}_kept = new Float64Array({1});\n",
    kept="const kept = {0}_kept;",
    head=_HEAD,
    main=_MAIN,
)
