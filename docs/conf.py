"""How Sphinx builds the site: `make docs`.  Nothing is fetched, neither by the build nor by its pages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent
ALIASES = ("forces", "reductions", "earth", "air", "shapes", "reference", "affine", "rotations")
"""Public modules, which live elsewhere in the package than where users find them."""

project = "Polhode"
author = "The Polhode developers"
copyright = "The Polhode developers"
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_copybutton",
    "sphinx_design",
    "bibliography",
    "interactive",
    "mathml",
]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = True

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": "Exception", "member-order": "bysource"}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
nb_execution_mode = "force"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "Polhode"
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "Polhode"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}
html_sidebars = {"index": [], "tutorial": [], "changelog": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def escape_bars(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """In docstrings |q| is a length, not a substitution."""
    in_example = False
    for i, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = line.split("`")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[i] = "`".join(parts)


def quiet_kernels(folder: Path) -> None:
    """Jupyter kernels write warnings about themselves, which are no business of the site."""
    profile = folder / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text("c.Application.log_level = 40\n", encoding="utf-8")
    os.environ |= {"IPYTHONDIR": str(folder / "ipython"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def setup(app: Sphinx) -> None:
    import polhode

    app.config.version = app.config.release = polhode.__version__
    for name in ALIASES:
        shown = getattr(polhode, name)
        sys.modules[f"polhode.{name}"] = getattr(shown, "__wrapped__", shown)  # its submodules are found, too
    quiet_kernels(Path(app.outdir).parent)
    app.connect("autodoc-process-docstring", escape_bars, priority=400)


sys.path.insert(0, str(HERE / "_ext"))
