"""Rust, of the 2021 edition: std alone, no unsafe code.  Rust never fuses multiplications and additions."""

from __future__ import annotations

from polhode.ir.targets.phrases import INFIX, Language

_HEAD = """\
#![allow(dead_code, non_upper_case_globals, unused_mut, unused_parens, unused_variables, while_true)]
#![allow(clippy::all)]
"""

_MAIN = """\
// Run all units and print their samples.
fn main() -> std::io::Result<()> {
  use std::io::Write;
  let mut out = vec![0.0; POLHODE_OUTPUTS * POLHODE_UNITS * (1 + POLHODE_SAMPLE_SIZE)];
  for unit in 0..POLHODE_UNITS {
    polhode_run(unit, &mut out);
  }
  let mut text = std::io::BufWriter::new(std::io::stdout());
  writeln!(text, "@@HEADER")?;
  for (row, sample) in out.chunks(1 + POLHODE_SAMPLE_SIZE).enumerate() {
    for (body, numbers) in sample[1..].chunks(POLHODE_COLUMNS).enumerate() {
      write!(text, "{:?},{}", sample[0], row % POLHODE_UNITS * POLHODE_BODIES + body)?;
      for x in numbers {
        write!(text, ",{:?}", x)?; // the shortest digits that give the number back
      }
      writeln!(text)?;
    }
  }
  text.flush()
}
"""

RUST = Language(
    name="rust",
    title="Rust",
    suffixes=(".rs",),
    command="rustc -O {0}.rs -o {0} && ./{0}",
    operations={
        **INFIX,
        "sqrt": "f64::sqrt({0})",
        "floor": "f64::floor({0})",
        "fmod": "{0} % {1}",
        "sel": "if {0} {{ {1} }} else {{ {2} }}",
    },
    entry="{0}[{1}]",
    whole="({0} as usize)",
    number="({0} as f64)",
    infinity="f64::INFINITY",
    nan="f64::NAN",
    table="pub static {0}: [f64; {1}] = [\n{2}\n];",
    whole_constant="pub const {0}: usize = {1};",
    number_constant="pub const {0}: f64 = {1};",
    arguments={"out": "{0}: &mut [f64]", "in": "{0}: &[f64]", "number": "{0}: f64", "whole": "{0}: usize"},
    function="#[inline(never)]\npub fn {0}({1}) {{",
    declare={
        "value": "let {0}: f64 = {1};",
        "truth": "let {0}: bool = {1};",
        "number": "let mut {0}: f64 = {1};",
        "whole": "let mut {0}: usize = {1};",
        "out": "let {0} = &mut [0.0_f64; {1}];",
    },
    repeat="for {0} in {1}..{2} {{",
    during="while {0} {{",
    when="if {0} {{",
    kept_before="",
    kept="let kept = &mut [0.0_f64; {1}];",
    head=_HEAD,
    main=_MAIN,
)
