"""`python -m polhode` is `polhode`."""

from polhode.cli import main

main()
