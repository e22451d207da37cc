"""A body's mass properties in the formats of other programs: URDF, SDF, MJCF, TOML, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InertiaError
from polhode.massprops.body_table import body_to_table
from polhode.massprops.mass_report import build_mass_report, refuse_ensemble_body, symmetrize_tensor
from polhode.massprops.principal_axes import ROUNDING
from polhode.validation import check_text, check_word

if TYPE_CHECKING:
    from polhode.massprops.body import Body
    from polhode.validation import Array

MUJOCO_TRIANGLE_MARGIN = 64 * sys.float_info.epsilon
"""MuJoCo requires A + B >= C to the last bit, which rounding violates for two in five flat bodies: keep this margin."""
MUJOCO_MIN_MOMENT = 1e-14
"""In kg m2: MuJoCo rejects a full tensor with a smaller principal moment, whatever the size of the model."""
MUJOCO_MIN_MASS = 1e-15
"""In kg: MuJoCo rejects lighter moving bodies."""
URDF_ENTRIES = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}


def format_block(body: Body, form: str, name: str = "body", comments: Iterable[str] = ()) -> str:
    """A body's mass, center of mass and inertia as text for another program.

    Every number reads back to the same float.  The tensor is about the center of mass, along the body axes; its
    products are the tensor's entries, -integral of rho x y, the convention of all these formats.  For MuJoCo a flat
    body's largest moment is reduced by a relative 1.4e-14, and a comment says so.

    Parameters
    ----------
    body : Body
        A single body, not an ensemble.
    form : str
        "urdf", "sdf" or "mjcf": the `<inertial>` element of a link or body; "toml": the `[body]` table of a scenario
        file; "json": all known mass properties.
    name : str, optional
        Name of the body, for a comment.
    comments : iterable of str, optional
        Comments to add (`notes` in JSON).

    Examples
    --------
    >>> import polhode as ph
    >>> from polhode.massprops.inertial_blocks import format_block
    >>> print(format_block(ph.shapes.box((1.0, 2.0, 3.0), density=1.0), "mjcf", "brick"))
    <!-- brick: kg, m, kg m2; tensor about the center of mass, products with their minus sign -->
    <inertial pos="0.0 0.0 0.0" mass="6.0" fullinertia="6.5 5.0 2.5 0.0 0.0 0.0"/>
    """
    check_text(name, "the name of a body", InertiaError)
    check_word(form, "body format", BLOCK_FORMATS, InertiaError)
    refuse_ensemble_body(body)
    return BLOCK_FORMATS[form](body, name, list(comments))


def _format_urdf(body: Body, name: str, comments: list[str]) -> str:
    tensor, cautions = adapt_inertia_for_mujoco(body)
    return _join_with_xml_comments(
        name,
        [*comments, *cautions],
        "<inertial>",
        f'  <origin xyz="{_format_numbers(body.center_of_mass)}" rpy="0 0 0"/>',
        f'  <mass value="{body.mass!r}"/>',
        "  <inertia " + " ".join(f'{entry}="{float(tensor[at])!r}"' for entry, at in URDF_ENTRIES.items()) + "/>",
        "</inertial>",
    )


def _format_sdf(body: Body, name: str, comments: list[str]) -> str:
    tensor = symmetrize_tensor(body.inertia_body)
    return _join_with_xml_comments(
        name,
        comments,
        "<inertial>",
        f"  <pose>{_format_numbers(body.center_of_mass)} 0 0 0</pose>",
        f"  <mass>{body.mass!r}</mass>",
        "  <inertia>",
        *(f"    <{entry}>{float(tensor[at])!r}</{entry}>" for entry, at in URDF_ENTRIES.items()),
        "  </inertia>",
        "</inertial>",
    )


def _format_mjcf(body: Body, name: str, comments: list[str]) -> str:
    tensor, cautions = adapt_inertia_for_mujoco(body)
    entries = _format_numbers([tensor[URDF_ENTRIES[entry]] for entry in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")])
    return _join_with_xml_comments(
        name,
        [*comments, *cautions],
        f'<inertial pos="{_format_numbers(body.center_of_mass)}" mass="{body.mass!r}" fullinertia="{entries}"/>',
    )


def _format_toml(body: Body, name: str, comments: list[str]) -> str:
    import tomli_w

    if body.is_line:
        comments = [*comments, "A line has no moment about its axis and cannot be simulated: give the rod a radius."]
    texts = [f"{name}: kg, m, kg m2; about the center of mass, products with their minus sign", *comments]
    lines = [f"# {line}" for text in texts for line in _strip_unprintable(text).splitlines()]
    return "\n".join([*lines, tomli_w.dumps({"body": body_to_table(body)}).rstrip()])


def _format_json(body: Body, name: str, comments: list[str]) -> str:
    found = build_mass_report(body, name)
    found["notes"] = [*found["notes"], *(text for text in comments if text not in found["notes"])]
    return json.dumps(found, indent=2, allow_nan=False)


BLOCK_FORMATS: dict[str, Callable[[Body, str, list[str]], str]] = {
    "urdf": _format_urdf,
    "sdf": _format_sdf,
    "mjcf": _format_mjcf,
    "toml": _format_toml,
    "json": _format_json,
}


def adapt_inertia_for_mujoco(body: Body) -> tuple[Array, list[str]]:
    """The tensor as MuJoCo accepts it, and comments on what was changed."""
    tensor, moments = symmetrize_tensor(body.inertia_body), body.principal_moments
    if body.mass < MUJOCO_MIN_MASS or moments.min() < MUJOCO_MIN_MOMENT:
        return tensor, [
            f"MuJoCo rejects this: it requires at least {MUJOCO_MIN_MASS:g} kg, and {MUJOCO_MIN_MOMENT:g} kg m2 about "
            f"every axis; this has {body.mass:.3g} kg and {moments.min():.3g} kg m2. "
            + ("Use smaller units in its model, such as mm and g." if moments.min() > 0 else "Give it an extent.")
        ]
    largest = int(moments.argmax())
    others = float(np.delete(moments, largest).sum())
    too_much = float(moments[largest]) - others * (1 - MUJOCO_TRIANGLE_MARGIN)
    if too_much <= 0:
        return tensor, []
    if too_much > 2 * ROUNDING * others:
        return tensor, ["MuJoCo rejects this: the largest principal moment exceeds the sum of the others."]
    normal = body.principal_axes.as_matrix()[:, largest]
    return tensor - too_much * np.outer(normal, normal), [
        f"A flat body: its largest moment is reduced by a relative {too_much / others:.1e}, "
        "because MuJoCo's test A + B >= C leaves no room for rounding."
    ]


def _format_numbers(numbers: Any) -> str:
    """Numbers that read back to the same floats."""
    return " ".join(repr(float(number)) for number in numbers)


def _join_with_xml_comments(name: str, comments: list[str], *lines: str) -> str:
    about = "kg, m, kg m2; tensor about the center of mass, products with their minus sign"
    return "\n".join([*(f"<!-- {_escape_xml_comment(text)} -->" for text in (f"{name}: {about}", *comments)), *lines])


def _escape_xml_comment(text: str) -> str:
    """Text that is valid in an XML comment: one line, no double hyphen."""
    text = " ".join(_strip_unprintable(text).split())
    while "--" in text:
        text = text.replace("--", "- -")
    return text


def _strip_unprintable(text: str) -> str:
    """Text without control characters and lone surrogates, which neither XML nor TOML allows."""
    kept = "".join(c if c.isprintable() or c in "\t\n" else "?" for c in text)
    return kept.encode("utf-8", "replace").decode("utf-8")
