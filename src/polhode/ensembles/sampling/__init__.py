"""Draws of the uncertain inputs of a sweep: a member's depend on the seed, its number and the input's name alone."""

from polhode.ensembles.sampling.draw import Draw as Draw
from polhode.ensembles.sampling.drawn_source import DrawnSource as DrawnSource
from polhode.ensembles.sampling.sweep_file import SweepFile as SweepFile
from polhode.ensembles.sampling.sweep_file import read_sweep_file as read_sweep_file
