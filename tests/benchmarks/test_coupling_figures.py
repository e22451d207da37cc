"""The benchmarks of nodes, files and steppers measure what they say; timings are not asserted."""

import pytest
from benchmarks.environment import format_environment, measure_environment
from benchmarks.latency import format_latency
from benchmarks.mesh_files import measure_files, measure_nodes
from benchmarks.stepper import measure_stepper


def test_environments_are_measured_alone_and_as_a_vector():
    pytest.importorskip("gymnasium")
    found = measure_environment(64, 128, 1)
    for row in found.values():
        assert min(row[name] for name in ("beyond", "vector", "vector_with_reward", "vector_of_mixed_clocks")) > 0
        assert row["times_faster"] == pytest.approx(row["one_by_one"] / row["vector"])
    assert "64 environments" in "\n".join(format_environment(found))


def test_nodes_and_files_are_measured():
    nodes = measure_nodes(1000, 1)
    assert nodes["positions_in_copies"] == nodes["positions"] / nodes["copy"]
    files = measure_files(2, 3, 1)
    assert (files["faces"], files["outputs"]) == (320, 3)
    assert all(files[name] > 0 for name in ("export_paraview", "export_xdmf", "export_exodus", "raw_bytes"))


def test_a_stepper_is_measured_alone_and_with_new_loads():
    found = measure_stepper(200, 1)
    row = found["rk4"]
    assert row["with_loads_beyond"] > 0
    assert min(row["save"], row["restore"]) > 0
    machine = {"processor": "any", "cores": 1}
    landings = {"stones": 1, "seconds": 1.0, "microseconds_per_stone": 1.0, "times_faster": 1.0, "same_bits": True}
    said = format_latency(
        {
            "repeats": 1,
            "machine": machine,
            "first_runs": {},
            "landings": landings,
            "stepper": found,
            "environment": None,
        }
    )
    assert "with new loads" in said
