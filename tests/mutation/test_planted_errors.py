"""The list of planted errors is up to date: `make mutants` takes hours, this a moment."""

from mutants import ROOT
from planted_errors import PLANTED


def test_every_planted_error_finds_its_text_and_its_tests():
    for planted in PLANTED:
        source = (ROOT / "src" / "polhode" / planted.file).read_text(encoding="utf-8")
        assert source.count(planted.text) == 1, planted.what
        if planted.file.endswith(".py"):
            compile(source.replace(planted.text, planted.instead), planted.file, "exec")
        for test in planted.tests:
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / "tests" / file).read_text(encoding="utf-8"), planted.what
