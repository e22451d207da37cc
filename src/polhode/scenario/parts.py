"""The parts: everything that can be attached to the bodies of a scenario.  See `part.py` for what each has to say."""

from __future__ import annotations

from polhode.scenario.added_mass import AddedMassPart
from polhode.scenario.contact_validation import ContactsPart
from polhode.scenario.event_part import EventsPart
from polhode.scenario.force_part import ForcesPart
from polhode.scenario.mass_course_part import MassCoursePart
from polhode.scenario.part import ScenarioPart
from polhode.scenario.pivot import PivotPart
from polhode.scenario.rotor import RotorsPart

PARTS: tuple[ScenarioPart, ...] = (
    ForcesPart(),
    EventsPart(),
    ContactsPart(),
    RotorsPart(),
    MassCoursePart(),
    AddedMassPart(),
    PivotPart(),
)
"""In the order of the arguments, and of the groups that they add to the state."""
