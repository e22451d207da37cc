"""FMUs run in FMPy: one wrapper for both versions of FMI, with vectors by their names."""

from __future__ import annotations

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave


class Fmu:
    """An unpacked FMU, from which instances are made."""

    def __init__(self, path, folder):
        self.description = read_model_description(str(path))
        self.folder = extract(str(path), str(folder))
        self.is_fmi3 = self.description.fmiVersion == "3.0"
        self.references = {v.name: v.valueReference for v in self.description.modelVariables}
        self.sizes = {}
        for v in self.description.modelVariables:
            name = v.name.partition("[")[0]
            self.sizes[name] = v.dimensions[0].start if self.is_fmi3 and v.dimensions else self.sizes.get(name, 0) + 1

    def instance(self, start=0.0, stop=None, **values):
        """An initialized instance; with values of parameters and inputs."""
        made = FmuInstance(self)
        made.instantiate()
        made.set(**values)
        made.initialize(start, stop)
        return made


class FmuInstance:
    def __init__(self, fmu):
        self.fmu, self.time = fmu, 0.0
        kind = FMU3Slave if fmu.is_fmi3 else FMU2Slave
        token = fmu.description.instantiationToken if fmu.is_fmi3 else fmu.description.guid
        identifier = fmu.description.coSimulation.modelIdentifier
        self.raw = kind(guid=token, unzipDirectory=fmu.folder, modelIdentifier=identifier, instanceName="body")

    def instantiate(self):
        self.raw.instantiate()

    def initialize(self, start=0.0, stop=None):
        self.time = start
        if self.fmu.is_fmi3:
            self.raw.enterInitializationMode(startTime=start, stopTime=stop)
        else:
            self.raw.setupExperiment(startTime=start, stopTime=stop)
            self.raw.enterInitializationMode()
        self.raw.exitInitializationMode()

    def _references(self, name):
        size = self.fmu.sizes[name]
        if self.fmu.is_fmi3 or name in self.fmu.references:
            return [self.fmu.references[name]], size
        return [self.fmu.references[f"{name}[{i + 1}]"] for i in range(size)], size

    def set(self, **values):
        for name, value in values.items():
            self.put(name, value)

    def put(self, name, value):
        references, size = self._references(name)
        numbers = np.ravel(value).astype(float).tolist()
        assert len(numbers) == size
        (self.raw.setFloat64 if self.fmu.is_fmi3 else self.raw.setReal)(references, numbers)

    def get(self, name):
        references, size = self._references(name)
        numbers = self.raw.getFloat64(references, size) if self.fmu.is_fmi3 else self.raw.getReal(references)
        return np.array(numbers) if size > 1 else numbers[0]

    def step(self, length):
        self.raw.doStep(self.time, length)
        self.time = self.time + length

    def step_to(self, t):
        self.step(t - self.time)
        self.time = t

    def save(self):
        return (self.time, self.raw.getFMUState() if self.fmu.is_fmi3 else self.raw.getFMUstate())

    def restore(self, saved):
        self.time = saved[0]
        (self.raw.setFMUState if self.fmu.is_fmi3 else self.raw.setFMUstate)(saved[1])

    def serialize(self, saved):
        return (saved[0], (self.raw.serializeFMUState if self.fmu.is_fmi3 else self.raw.serializeFMUstate)(saved[1]))

    def deserialize(self, given):
        make = self.raw.deserializeFMUState if self.fmu.is_fmi3 else self.raw.deSerializeFMUstate
        return (given[0], make(given[1]))

    def free(self):
        self.raw.terminate()
        self.raw.freeInstance()
