"""Two FMUs coupled in FMPy: a body, and a spring-damper.  It imports nothing of Polhode."""

from __future__ import annotations

import fmpy
from fmpy.fmi2 import FMU2Slave

MOTION = ("position", "quaternion", "velocity", "angular_velocity")
LOAD = ("force", "torque")


class Partner:
    """An instance of an FMU, with vectors by their names."""

    def __init__(self, path, **parameters):
        about = fmpy.read_model_description(str(path))
        self.references = {}
        for v in about.modelVariables:
            self.references.setdefault(v.name.partition("[")[0], []).append(v.valueReference)
        identifier = about.coSimulation.modelIdentifier
        folder = fmpy.extract(str(path))
        self.fmu = FMU2Slave(guid=about.guid, unzipDirectory=folder, modelIdentifier=identifier, instanceName="one")
        self.fmu.instantiate()
        for name, value in parameters.items():
            self.fmu.setReal(self.references[name], value)
        self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def get(self, names):
        return [self.fmu.getReal(self.references[name]) for name in names]

    def set(self, names, values):
        for name, value in zip(names, values, strict=True):
            self.fmu.setReal(self.references[name], value)


def load_of(body, spring):
    """The load of the spring for the motion of the body as it is now."""
    spring.set(MOTION, body.get(MOTION))
    return spring.get(LOAD)


def couple_explicitly(body, spring, duration, steps):
    """Each step with the load at its start."""
    h = duration / steps
    for k in range(steps):
        body.set(LOAD, load_of(body, spring))
        body.fmu.doStep(k * h, h)
        spring.fmu.doStep(k * h, h)


def couple_implicitly(body, spring, duration, steps, tolerance=1e-13, guess=None):
    """Each step with the mean of the loads at its start and at its end: repeated until the load at the end stays."""
    h, iterations = duration / steps, 0
    for k in range(steps):
        first = load_of(body, spring)
        last = first if guess is None else guess
        saved = body.fmu.getFMUstate()
        for _ in range(100):
            iterations += 1
            body.fmu.setFMUstate(saved)
            body.set(
                LOAD, [[(a + b) / 2 for a, b in zip(*pair, strict=True)] for pair in zip(first, last, strict=True)]
            )
            body.fmu.doStep(k * h, h)
            before, last = last, load_of(body, spring)
            size = max(abs(x) for vector in last for x in vector)
            change = max(abs(a - b) for pair in zip(before, last, strict=True) for a, b in zip(*pair, strict=True))
            if change <= tolerance * size:
                break
        else:
            raise RuntimeError(f"the loads do not settle at t = {k * h:g} s: shorten the step")
        body.fmu.freeFMUstate(saved)
        spring.fmu.doStep(k * h, h)
    return iterations / steps
