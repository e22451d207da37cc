"""A motion as an animated glTF 2.0 scene, for viewers, slides and Blender.

    root            rotates z up to glTF's y up, and translates to the motion if that is far from the origin
      body 0 ...    one node for each body or member: its mesh, and keyframes of its position and attitude

Numbers are 32-bit floats.  glTF orders quaternions (x, y, z, w).
"""

from __future__ import annotations

import base64
import json
import math
import struct
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.io.atomic_files import check_suffix, write_atomic
from polhode.io.exported_bodies import ExportedBody, select_exported_bodies
from polhode.io.gltf_buffer import ARRAY_BUFFER, GltfBuffer
from polhode.io.gltf_mesh import build_gltf_mesh
from polhode.io.keyframes import Keyframes, compute_keyframes
from polhode.plot.style import COLOR_CYCLE, COLORS
from polhode.validation import Array
from polhode.version import __version__

if TYPE_CHECKING:
    from polhode.results.trajectory import Trajectory

GLTF_SUFFIXES = (".glb", ".gltf")
RECENTER_DISTANCE = 10.0
"""Positions are relative to the motion's center if that is farther from the origin than this many times its size."""
Z_UP_TO_Y_UP = (-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
"""(x, y, z, w) of the rotation from z up to y up: (x, y, z) becomes (x, z, -y)."""
XYZW = (1, 2, 3, 0)


def write_gltf(motion: Trajectory, path: Path) -> None:
    """Write the scene: binary, or text with the numbers embedded in base64."""
    check_suffix(path, GLTF_SUFFIXES, "a glTF scene")
    shown = select_exported_bodies(motion)
    tracks = _drop_duplicate_times(compute_keyframes(motion, [one.number for one in shown]))
    document, content = _build_scene(motion, shown, tracks)
    write_atomic(
        path, _encode_glb(document, content) if path.suffix.lower() == ".glb" else _encode_gltf(document, content)
    )


def _build_scene(motion: Trajectory, shown: Sequence[ExportedBody], tracks: Keyframes) -> tuple[dict[str, Any], bytes]:
    """The document, and the buffer that it refers to."""
    buffer, origin = GltfBuffer(), _choose_origin(shown, tracks)
    meshes, materials, of_body = _build_meshes(buffer, shown, motion.axis)
    nodes: list[dict[str, Any]] = [_root_node(motion, origin, len(shown))]
    channels: list[dict[str, Any]] = []
    samplers: list[dict[str, Any]] = []
    clocks: dict[int, int] = {}
    for i, (one, mesh) in enumerate(zip(shown, of_body, strict=True)):
        places, turns = tracks.positions[:, i] - origin, tracks.quaternions_wxyz[:, i][:, XYZW]
        known = int(np.isfinite(places).all(axis=1).sum())  # fewer for a member that an event stopped
        node: dict[str, Any] = {"name": one.name, "mesh": mesh, "extras": {"drawn": one.appearance.sentence}}
        for what, keys in (("translation", places[:known]), ("rotation", turns[:known])):
            node[what] = np.asarray(keys[0], dtype=np.float32).tolist()
            if (keys == keys[0]).all():
                continue
            if known not in clocks:
                clocks[known] = buffer.floats(tracks.times[:known], "times", bounds=True)
            samplers.append({"input": clocks[known], "output": buffer.floats(keys, "positions")})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": len(nodes), "path": what}})
        nodes.append(node)
    name = motion.scenario.name or "motion"
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": f"polhode {__version__}"},
        "scene": 0,
        "scenes": [{"name": name, "nodes": [0], "extras": _extras(motion, origin)}],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials,
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.content)}],
    }
    if channels:
        document["animations"] = [{"name": name, "channels": channels, "samplers": samplers}]
    return document, buffer.content


def _extras(motion: Trajectory, origin: Array) -> dict[str, Any]:
    """Units and conventions, for readers of the file."""
    return {
        "name": motion.scenario.name,
        "units": {"length": "m", "time": "s"},
        "start_time_s": float(motion.times[0]),
        "method": motion.scenario.used_method.name,
        "origin_m": origin.tolist(),
        "about": "inside the root node z points up and positions are relative to origin_m; numbers are 32-bit floats",
    }


def _root_node(motion: Trajectory, origin: Array, count: int) -> dict[str, Any]:
    x, y, z = origin.tolist()
    root: dict[str, Any] = {"name": "z up", "rotation": list(Z_UP_TO_Y_UP), "children": list(range(1, count + 1))}
    return root if not origin.any() else {**root, "translation": [x, z, -y]}


def _choose_origin(shown: Sequence[ExportedBody], tracks: Keyframes) -> Array:
    """The origin of positions: that of the world, or the motion's center if far away."""
    places = tracks.positions[np.isfinite(tracks.positions).all(axis=-1)]
    low, high = places.min(axis=0), places.max(axis=0)
    size = float((high - low).max()) + max(float(np.abs(one.surface.vertices).max()) for one in shown)
    middle = low + (high - low) / 2
    return middle if np.abs(middle).max() > RECENTER_DISTANCE * size else np.zeros(3)


def _drop_duplicate_times(tracks: Keyframes) -> Keyframes:
    """Drop keyframes whose times are equal as 32-bit floats."""
    rounded = tracks.times.astype(np.float32)
    new = np.concatenate(([True], rounded[1:] > np.maximum.accumulate(rounded)[:-1]))
    if new.all():
        return tracks
    warnings.warn(
        f"{(~new).sum()} of {len(new)} outputs are left out: as 32-bit floats their times equal the preceding ones",
        stacklevel=4,
    )
    return Keyframes(*(array[new] for array in tracks))


# Meshes -------------------------------------------------------------------------------------------------------------
def _build_meshes(
    buffer: GltfBuffer, shown: Sequence[ExportedBody], axis: str | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[int]]:
    """Meshes, materials, and the mesh index of each body; equal appearances share a mesh, or at least its buffers."""
    meshes: list[dict[str, Any]] = []
    colors = [COLORS["body"]]
    parts: dict[int, list[dict[str, Any]]] = {}
    known: dict[tuple[int, str], int] = {}
    of_body = []
    for one in shown:
        key = id(one.surface)
        if key not in parts:
            parts[key] = _primitives(buffer, one)
        color = COLOR_CYCLE[one.number % len(COLOR_CYCLE)] if axis == "body" else COLOR_CYCLE[0]
        if color not in colors:
            colors.append(color)
        if (key, color) not in known:
            known[key, color] = len(meshes)
            tones = (0, colors.index(color))
            primitives = [{**part, "material": tones[part["material"]]} for part in parts[key]]
            meshes.append({"name": one.appearance.kind, "primitives": primitives})
        of_body.append(known[key, color])
    return meshes, [_material(color) for color in colors], of_body


def _primitives(buffer: GltfBuffer, one: ExportedBody) -> list[dict[str, Any]]:
    """The two tones of a surface, sharing vertices."""
    facets = build_gltf_mesh(one.surface)
    attributes = {
        "POSITION": buffer.floats(facets.positions, "sizes", ARRAY_BUFFER, bounds=True),
        "NORMAL": buffer.floats(facets.normals, "normals", ARRAY_BUFFER),
    }
    return [
        {"attributes": attributes, "indices": buffer.indices(faces, len(facets.positions)), "material": tone}
        for tone, faces in enumerate(facets.tones)
        if len(faces)
    ]


def _material(color: str) -> dict[str, Any]:
    """Matte; two-sided, for surfaces without thickness."""
    base = [*(_srgb_to_linear(int(color[k : k + 2], 16) / 255) for k in (1, 3, 5)), 1.0]
    surface = {"baseColorFactor": base, "metallicFactor": 0.0, "roughnessFactor": 0.7}
    return {"name": color, "pbrMetallicRoughness": surface, "doubleSided": True}


def _srgb_to_linear(c: float) -> float:
    """Linear intensity of an sRGB value.  [IEC 61966-2-1]"""
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


# Files --------------------------------------------------------------------------------------------------------------
def _encode_glb(document: dict[str, Any], content: bytes) -> bytes:
    """Header, document padded with spaces, and buffer: each a multiple of 4 bytes."""
    text = _encode_json(document)
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(content), b"BIN\0") + content
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _encode_gltf(document: dict[str, Any], content: bytes) -> bytes:
    inside = "data:application/octet-stream;base64," + base64.b64encode(content).decode()
    return _encode_json({**document, "buffers": [{"byteLength": len(content), "uri": inside}]})


def _encode_json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
