"""Reading what was stored: the motion of a run, or the store of an ensemble."""

from __future__ import annotations

from pathlib import Path

from polhode.ensembles.result import EnsembleResult
from polhode.ensembles.store import EnsembleStore, is_ensemble_store
from polhode.results import motion as stored_motion
from polhode.results.motion import Motion
from polhode.validation import check_path


def load(path: str | Path) -> Motion | EnsembleResult:
    """Read a motion that `motion.save` stored, or open the store of an ensemble.

    A damaged motion is refused.  Of a damaged ensemble the damaged chunks are refused, with their members, and the rest
    can be read.  Nothing in a store is executed.

    Examples
    --------
    >>> import polhode as ph, tempfile, pathlib
    >>> motion = ph.simulate(ph.particle(1.0), ph.State(velocity=(1, 0, 0)), duration=2.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     motion.save(pathlib.Path(folder) / "drift.zarr")
    ...     ph.load(pathlib.Path(folder) / "drift.zarr").final.position.round(9).tolist()
    [2.0, 0.0, 0.0]
    """
    place = check_path(path, "the store")
    if is_ensemble_store(place):
        return EnsembleResult.from_store(EnsembleStore.open(place))
    return stored_motion.load(place)
