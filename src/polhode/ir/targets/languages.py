"""The languages in which a scenario can be written as source: a new one is a record in a module, and a name here."""

from __future__ import annotations

from polhode.ir.targets.c import CUDA, C
from polhode.ir.targets.javascript import JAVASCRIPT
from polhode.ir.targets.rust import RUST

LANGUAGES = {language.name: language for language in (C, CUDA, RUST, JAVASCRIPT)}
