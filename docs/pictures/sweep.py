"""Draws the picture of the page about sweeps anew: python docs/pictures/sweep.py"""

from pathlib import Path

import polhode as ph
from polhode.ensembles.sampling import read_sweep_file

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "store-release-sweep.toml"

if __name__ == "__main__":
    file = read_sweep_file(EXAMPLE)
    source = file.source()
    result = ph.sweep(source, reduce=ph.summary_reductions(source, file.reduce))
    summary = ph.summarize(result, title="store release", settings={"duration": "15 s", "method": "rk4"})
    summary.plot().savefig(HERE / "sweep.png", dpi=80)
