"""`python -m polhode.cli` is `polhode`."""

from polhode.cli import main

main()
