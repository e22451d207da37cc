"""glTF files against the Khronos validator, trimesh, and the motion that they were made from."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation, Slerp

import polhode as ph
from polhode.errors import FileError, InputError
from polhode.massprops.appearance import appearance_of
from polhode.version import __version__

# The laws as they stand give the same bits as compiled ones, and need no compilation.
pytestmark = pytest.mark.filterwarnings("ignore:engine='python'")
FRONT = Path(__file__).parents[2] / "front"
PLAIN = {"engine": "python", "method": "exact"}
BOX = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
SPIN = ph.State(position=(1, 2, 3), velocity=(0.5, 0, -1), angular_velocity_body=(0.1, 5.0, 0.1), time=2.0)
ICE = ph.Body.from_mesh(trimesh.creation.icosphere(2, radius=0.2), density=900.0)
MEMBERS = ph.State(position=np.arange(15.0).reshape(5, 3), angular_velocity_body=(1.0, 2.0, np.pi))


@ph.event
def ground(t, state, body, params):
    return state.position[2]


def thrown():
    up = ph.State(position=(0, 0, 1), velocity=[(0, 0, 1.0), (0, 0, 2.0)])
    events = [ground(action="stop")]
    return ph.ensemble(
        ph.particle(1.0), up, [ph.forces.gravity()], events=events, duration=1.0, output_step=0.1, rtol=1e-6,
        method="dop853", engine="python",
    )  # fmt: skip


MOTIONS = {
    "one body.glb": lambda: ph.simulate(BOX, SPIN, duration=3.0, name="a spin & more", **PLAIN),
    "one body.gltf": lambda: ph.simulate(BOX, SPIN, duration=3.0, output_step=0.1, **PLAIN),
    "system.glb": lambda: ph.simulate(
        [BOX, ph.particle(1.0), BOX], [SPIN, SPIN.replace(position=(0, 0, 0)), SPIN], duration=3.0, **PLAIN
    ),
    "ensemble.glb": lambda: ph.ensemble(BOX, MEMBERS, duration=1.0, output_step=0.1, **PLAIN),
    "unlike members.glb": lambda: ph.ensemble(
        ph.shapes.sphere([1.0, 2.0, 1.0], mass=1.0), SPIN, duration=1.0, output_step=0.1, **PLAIN
    ),
    "mesh.glb": lambda: ph.simulate(ICE, SPIN, duration=3.0, output_step=0.1, **PLAIN),
    "sheet.glb": lambda: ph.simulate(
        ph.shapes.thin_sheet((1, 2), mass=1.0), SPIN, duration=3.0, output_step=0.1, **PLAIN
    ),
    "still.glb": lambda: ph.simulate(BOX, SPIN, duration=3.0, output_times=[4.0], **PLAIN),
    "at rest.glb": lambda: ph.simulate(BOX, duration=3.0, **PLAIN),
    "far.glb": lambda: ph.simulate(BOX, SPIN.replace(position=(1e7, 2e6, -3e6)), duration=3.0, **PLAIN),
    "fast.glb": lambda: ph.simulate(
        BOX, SPIN.replace(angular_velocity_body=(0, 0, 200.0)), duration=1.0, output_step=0.1, **PLAIN
    ),
    "stopped.glb": thrown,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All motions, and the folder of their files."""
    folder = tmp_path_factory.mktemp("gltf")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="engine='python'")
        motions = {name: make() for name, make in MOTIONS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, motion in motions.items():
            motion.export_gltf(folder / name)
    return motions, folder


def validated(paths):
    """What the validator says about files."""
    node = shutil.which("node")
    if node is None:
        pytest.fail("the glTF validator needs Node.js 20 or newer, which is not installed: `make test` sets it up")
    if not (FRONT / "node_modules" / "gltf-validator").is_dir():
        pytest.fail("the glTF validator is not installed: run `make test`, or `npm ci` in the folder front")
    done = subprocess.run(
        [node, FRONT / "validate-gltf.mjs", *paths], cwd=FRONT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def verdicts(written):
    return validated([written[1] / name for name in MOTIONS])


@pytest.mark.parametrize("name", MOTIONS)
def test_the_validator_finds_nothing(name, written, verdicts):
    verdict = verdicts[str(written[1] / name)]
    assert (verdict["errors"], verdict["warnings"], verdict["truncated"]) == ([], [], False)
    assert verdict["triangles"] > 0


def test_the_validator_finds_a_wrong_bound(written, tmp_path):
    text = (written[1] / "one body.gltf").read_text()
    broken = json.loads(text)
    broken["accessors"][0]["max"][0] += 1
    (tmp_path / "broken.gltf").write_text(json.dumps(broken))
    (verdict,) = validated([tmp_path / "broken.gltf"]).values()
    assert any("ACCESSOR_MAX_MISMATCH" in error for error in verdict["errors"])


# By hand ------------------------------------------------------------------------------------------------------------
def opened(path):
    """The document, and a function that gives the array of an accessor."""
    content = path.read_bytes()
    if path.suffix == ".glb":
        magic, version, total, length, kind = struct.unpack("<4sIII4s", content[:20])
        assert (magic, version, total, kind) == (b"glTF", 2, len(content), b"JSON")
        document, rest = json.loads(content[20 : 20 + length]), content[20 + length :]
        assert struct.unpack("<I4s", rest[:8]) == (len(rest) - 8, b"BIN\0")
        buffer = rest[8:]
    else:
        document = json.loads(content)
        buffer = base64.b64decode(document["buffers"][0]["uri"].split(",")[1])

    def array(number):
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        dtype = {5126: "<f4", 5125: "<u4", 5123: "<u2"}[accessor["componentType"]]
        numbers = np.frombuffer(buffer[view["byteOffset"] : view["byteOffset"] + view["byteLength"]], dtype)
        found = numbers.reshape(accessor["count"], {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]])
        if "min" in accessor:
            assert (accessor["min"], accessor["max"]) == (found.min(axis=0).tolist(), found.max(axis=0).tolist())
        return found.astype(float)

    return document, array


def keys_of(document, array, node, path):
    (animation,) = document["animations"]
    for channel in animation["channels"]:
        if channel["target"] == {"node": node, "path": path}:
            sampler = animation["samplers"][channel["sampler"]]
            return array(sampler["input"])[:, 0], array(sampler["output"])
    return None


def mesh_of(document, array, node):
    """Its vertices, normals, and the triangles of both tones."""
    parts = document["meshes"][document["nodes"][node]["mesh"]]["primitives"]
    (place, normal) = {(p["attributes"]["POSITION"], p["attributes"]["NORMAL"]) for p in parts}.pop()
    return array(place), array(normal), [array(p["indices"]).astype(int).reshape(-1, 3) for p in parts]


@pytest.mark.parametrize("name", ["one body.glb", "one body.gltf", "system.glb", "ensemble.glb", "mesh.glb", "far.glb"])
def test_the_keys_are_the_motions_own(name, written):
    motion = written[0][name]
    document, array = opened(written[1] / name)
    origin = np.array(document["scenes"][0]["extras"]["origin_m"])
    count = len(motion.times)
    places, turns = motion.position.reshape(count, -1, 3), motion.quaternion_wxyz.reshape(count, -1, 4)
    assert len(document["nodes"]) == places.shape[1] + 1
    for i in range(places.shape[1]):
        moved = keys_of(document, array, i + 1, "translation")
        if moved is None:
            assert np.ptp(places[:, i], axis=0).max() == 0
        else:
            assert np.allclose(moved[0], motion.times - motion.times[0], rtol=1e-7, atol=0)
            assert np.allclose(moved[1] + origin, places[:, i], rtol=0, atol=1e-6)
        turned = keys_of(document, array, i + 1, "rotation")
        if turned is None:
            assert motion.scenario.bodies[i].is_particle
        else:
            wxyz = turned[1][:, [3, 0, 1, 2]]
            signs = np.sign((wxyz * turns[:, i]).sum(axis=1, keepdims=True))
            assert np.allclose(signs * wxyz, turns[:, i], rtol=0, atol=1e-6)
            assert ((wxyz[1:] * wxyz[:-1]).sum(axis=1) > 0).all()


@pytest.mark.parametrize("name", ["one body.glb", "mesh.glb", "sheet.glb", "unlike members.glb"])
def test_the_mesh_is_the_bodys_own_surface(name, written):
    motion = written[0][name]
    document, array = opened(written[1] / name)
    look = appearance_of(motion.scenario.take(0).body if motion.axis == "member" else motion.scenario.body)
    own = look.surface.vertices[look.surface.faces]
    vertices, normals, tones = mesh_of(document, array, 1)
    drawn = vertices[np.concatenate(tones)]
    used = look.surface.vertices[np.unique(look.surface.faces)]
    assert (np.abs(used[:, None] - vertices).max(axis=2).min(axis=1) < 1e-6 * look.size).all()
    areas = [trimesh.triangles.area(triangles).sum() for triangles in (drawn, own)]
    volumes = [np.linalg.det(triangles).sum() / 6 for triangles in (drawn, own)]
    assert abs(areas[0] / areas[1] - 1) < 1e-6
    assert abs(volumes[0] - volumes[1]) < 1e-6 * look.size**3
    assert np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)


def test_an_edge_of_a_box_is_sharp_and_a_ball_is_smooth(written):
    _, normals, _ = mesh_of(*opened(written[1] / "one body.glb"), 1)
    assert np.allclose(np.sort(np.abs(normals), axis=1), [0, 0, 1], atol=1e-6)
    vertices, normals, _ = mesh_of(*opened(written[1] / "mesh.glb"), 1)
    outwards = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    assert (outwards * normals).sum(axis=1).min() > np.cos(np.radians(6))


@pytest.mark.parametrize("name", ["one body.glb", "mesh.glb", "sheet.glb"])
def test_two_tones_alternate_by_octants(name, written):
    document, array = opened(written[1] / name)
    vertices, _, tones = mesh_of(document, array, 1)
    for odd, faces in enumerate(tones):
        corners = vertices[faces]
        lowest, highest = corners.min(axis=1), corners.max(axis=1)
        assert (np.minimum(highest, -lowest) < 1e-7).all()
        assert (((corners.mean(axis=1) < 0).sum(axis=1) % 2) == odd).all()
    assert len({p["material"] for p in document["meshes"][0]["primitives"]}) == 2


def test_z_points_up_by_trimesh(written):
    motion = written[0]["still.glb"]
    scene = trimesh.load(written[1] / "still.glb")
    shown = scene.to_geometry().vertices
    own = motion.points(appearance_of(BOX).surface.vertices)[0]
    turned = own[:, [0, 2, 1]] * (1, 1, -1)
    assert np.abs(turned[:, None] - shown).max(axis=2).min(axis=1).max() < 1e-6


def test_a_still_has_no_animation(written):
    for name in ("still.glb", "at rest.glb"):
        document, _ = opened(written[1] / name)
        assert "animations" not in document


def test_it_says_who_wrote_it_and_in_which_units(written):
    document, _ = opened(written[1] / "one body.glb")
    assert document["asset"] == {"version": "2.0", "generator": f"polhode {__version__}"}
    extras = document["scenes"][0]["extras"]
    assert extras["units"] == {"length": "m", "time": "s"}
    assert (extras["name"], extras["start_time_s"]) == ("a spin & more", 2.0)
    assert document["nodes"][1]["name"] == "a spin & more"
    assert "shape that the body was made from" in document["nodes"][1]["extras"]["drawn"]


def test_far_from_the_origin_places_are_counted_from_the_motions_middle(written):
    document, array = opened(written[1] / "far.glb")
    x, y, z = document["scenes"][0]["extras"]["origin_m"]
    assert document["nodes"][0]["translation"] == [x, z, -y]
    assert np.abs(keys_of(document, array, 1, "translation")[1]).max() < 2


def test_those_who_look_the_same_share_a_mesh(written):
    count = {name: len(opened(written[1] / name)[0]["meshes"]) for name in ("ensemble.glb", "unlike members.glb")}
    assert count == {"ensemble.glb": 1, "unlike members.glb": 2}
    document, _ = opened(written[1] / "system.glb")
    assert [node.get("mesh") for node in document["nodes"]] == [None, 0, 1, 2]
    places = [mesh["primitives"][0]["attributes"]["POSITION"] for mesh in document["meshes"]]
    assert places[0] == places[2] != places[1]
    assert len({mesh["primitives"][1]["material"] for mesh in document["meshes"]}) == 3


def test_a_particle_is_a_ball_half_as_large_as_the_smallest_solid(written):
    vertices, _, _ = mesh_of(*opened(written[1] / "system.glb"), 2)
    assert np.allclose(np.linalg.norm(vertices, axis=1), appearance_of(BOX).size / 2, rtol=1e-6)


def test_a_member_that_an_event_stopped_stays_where_it_was_last_seen(written):
    motion = written[0]["stopped.glb"]
    document, array = opened(written[1] / "stopped.glb")
    for i in range(2):
        times, places = keys_of(document, array, i + 1, "translation")
        seen = np.isfinite(motion.position[:, i]).all(axis=1)
        assert 2 < len(times) == seen.sum() < len(motion.times)
        assert np.allclose(places, motion.position[seen, i], atol=1e-6)


# Fast spins ---------------------------------------------------------------------------------------------------------
def test_between_the_keys_of_a_fast_exact_spin_the_closed_form_is_met(written):
    motion = written[0]["fast.glb"]  # 3.2 turns from output to output
    times, turns = keys_of(*opened(written[1] / "fast.glb"), 1, "rotation")
    assert len(times) > 4 * 3.2 * 10
    assert np.abs(np.subtract.outer(motion.times - 2.0, times)).min(axis=1).max() < 1e-6
    viewer = Slerp(times, Rotation.from_quat(turns))
    for t in np.linspace(0, 1, 50):
        q = motion.at(2.0 + t).quaternion_wxyz
        assert (viewer(t).inv() * Rotation.from_quat(q, scalar_first=True)).magnitude() < 1e-4


def test_a_fast_spin_by_steps_warns_and_names_the_step_that_helps(tmp_path):
    def spun(every):
        start = ph.State(angular_velocity_body=(0, 0, 50.0))
        return ph.simulate(BOX, start, duration=0.4, step=0.005, method="rk4", engine="python", output_step=every)

    with pytest.warns(UserWarning, match=r"rotates by 1.59 turns: a viewer .* simulate with output_step=0.031 \(s\)$"):
        spun(0.2).export_gltf(tmp_path / "fast.glb")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="engine='python'")
        slower = spun(0.031)
        warnings.simplefilter("error")
        slower.export_gltf(tmp_path / "slower.glb")


def test_too_many_turns_for_a_file_raise_a_warning(tmp_path):
    motion = ph.simulate(BOX, ph.State(angular_velocity_body=(0, 0, 1e9)), duration=1.0, output_step=0.5, **PLAIN)
    with pytest.warns(UserWarning, match="for a shorter time"):
        motion.export_gltf(tmp_path / "fast.glb")


# What cannot be shown -----------------------------------------------------------------------------------------------
def test_members_that_failed_are_left_out_with_a_warning(tmp_path):
    motion = MOTIONS["ensemble.glb"]()
    motion.run_result.samples[3:, 2] = np.nan
    with pytest.warns(UserWarning, match="member 2 has failed and is left out"):
        motion.export_gltf(tmp_path / "rest.glb")
    names = [node["name"] for node in opened(tmp_path / "rest.glb")[0]["nodes"]]
    assert names == ["z up", "member 0", "member 1", "member 3", "member 4"]
    motion.run_result.samples[3:] = np.nan
    with pytest.raises(InputError, match="there is nothing to export"):
        motion.export_gltf(tmp_path / "none.glb")


def test_times_that_32_bits_cannot_tell_apart_are_left_out_with_a_warning(tmp_path):
    times = [2.0, 3.0, 3.0 + 1e-12, 4.0]
    motion = ph.simulate(BOX, SPIN, duration=3.0, output_times=times, **PLAIN)
    with pytest.warns(UserWarning, match="1 of .* outputs are left out: as 32-bit floats"):
        motion.export_gltf(tmp_path / "near.glb")
    (verdict,) = validated([tmp_path / "near.glb"]).values()
    assert verdict["errors"] == verdict["warnings"] == []


def test_numbers_that_32_bits_cannot_hold_are_rejected(tmp_path):
    motion = ph.simulate(BOX, ph.State(velocity=(1e39, 0, 0)), duration=1.0, output_step=0.5, **PLAIN)
    with pytest.raises(InputError, match="more than the 32-bit floats of glTF can hold"):
        motion.export_gltf(tmp_path / "huge.glb")


# Accidents ----------------------------------------------------------------------------------------------------------
def test_a_wrong_ending_and_a_folder_that_is_none_are_errors(tmp_path):
    motion = MOTIONS["still.glb"]()
    with pytest.raises(FileError, match=r"spin.stl: its name must end with .glb or .gltf"):
        motion.export_gltf(tmp_path / "spin.stl")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        motion.export_gltf(tmp_path / "file" / "spin.glb")


def test_an_interrupted_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "new folder" / "spin.glb"
    motion = MOTIONS["still.glb"]()
    motion.export_gltf(str(path))
    old = path.read_bytes()

    def interrupted(self, target):
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(FileError, match="the disk is full"):
        MOTIONS["at rest.glb"]().export_gltf(path)
    assert path.read_bytes() == old
    assert [p.name for p in path.parent.iterdir()] == ["spin.glb"]
