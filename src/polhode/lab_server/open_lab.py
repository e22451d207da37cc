"""The lab from Python: `ph.lab`."""

from __future__ import annotations

import html
import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polhode.errors import InputError, PolhodeError, nearest
from polhode.gallery import MODELS, Model, model_name

if TYPE_CHECKING:
    import uvicorn

    from polhode.lab_server.registry import LabModels

START_LIMIT_S = 20.0
"""Longest wait for the server to listen."""
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:* vscode-webview:"
"""Pages that may show the lab in a frame, if it was opened from a notebook: those of this machine."""
FRAME_HEIGHT_PX = 860

_running: dict[tuple[str, int | None], RunningLab] = {}


class RunningLab:
    """A lab that serves its page from a thread of this process.  In a notebook it displays itself."""

    def __init__(self, server: uvicorn.Server, listener: socket.socket, base: str, models: LabModels) -> None:
        self._server, self._listener, self.models = server, listener, models
        self.base = base
        """Address of the gallery."""
        self.url = base
        """Address of the model that was opened last."""
        self._thread = threading.Thread(target=server.run, args=([listener],), name="polhode-lab-server", daemon=True)
        self._thread.start()
        give_up = time.monotonic() + START_LIMIT_S
        while not server.started and self._thread.is_alive() and time.monotonic() < give_up:
            time.sleep(0.01)
        if not server.started:
            raise PolhodeError("the server of the lab did not start: the terminal may say why")

    @property
    def is_running(self) -> bool:
        """Whether the page can be opened."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Stop the server; pages that are open keep what they show."""
        self._server.should_exit = True
        self._thread.join(5.0)
        self._listener.close()
        for key, lab in list(_running.items()):
            if lab is self:
                del _running[key]

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            while self.is_running:
                self._thread.join(0.5)
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()

    def __repr__(self) -> str:
        return f"<lab at {self.url}>" if self.is_running else "<lab, stopped>"

    def _repr_html_(self) -> str:
        if not self.is_running:
            return "<p>This lab was stopped.</p>"
        style = f"width:100%;height:{FRAME_HEIGHT_PX}px;border:0"
        return f'<iframe src="{html.escape(self.url)}" style="{style}" title="Polhode lab" allowfullscreen></iframe>'


def lab(
    *models: Model | str | Path,
    port: int | None = None,
    host: str = "127.0.0.1",
    browser: bool | None = None,
    wait: bool | None = None,
) -> RunningLab:
    """Open the interactive page with models of your own beside the gallery.

    In a notebook the result displays itself, and `stop()` ends it.  Calling `ph.lab` again offers more models at the
    same address; a model with the name of an earlier one replaces it.

    Parameters
    ----------
    *models : Model or str or Path
        Made by `@ph.model`; or scenario files with knobs, folders of such files, and names of the gallery.  The page
        opens with the first.  Files are read again when they change.
    port : int, optional
        By default 8321, or the next free one.
    host : str, optional
        By default only this machine can open the page; any other address requires a token, which the URL contains.
    browser : bool, optional
        Whether to open a browser; by default, unless in a notebook.
    wait : bool, optional
        Whether to serve until Ctrl-C; by default in a script, which would otherwise end with the server.

    Examples
    --------
    >>> import polhode as ph
    >>> @ph.model
    ... def spinning_box(spin=ph.Knob(5.0, 1.0, 20.0, "rad/s", "about the intermediate axis")):
    ...     box = ph.shapes.box((0.1, 0.4, 0.9), mass=10.0)
    ...     return ph.Scenario(box, ph.State(angular_velocity_body=(0.1, spin, 0.1)), duration=9.0)
    >>> lab = ph.lab(spinning_box, browser=False, wait=False)
    >>> lab.url
    'http://127.0.0.1:.../spinning-box'
    >>> lab.stop()
    """
    own = [one for one in models if isinstance(one, Model) and MODELS.get(one.name) is not one]
    paths = [Path(one) for one in models if not isinstance(one, Model) and _is_path(one)]
    running = _running.get((host, port))
    if running is None or not running.is_running:
        running = _running[host, port] = _start(own, paths, host, port)
    else:
        running.models.add(own, paths)
    first = _name_of_first(models, running.models)
    head, mark, query = running.base.partition("?")
    running.url = f"{head}{first}{mark}{query}"
    if _is_interactive() if wait is None else not wait:
        if not _is_notebook() if browser is None else browser:
            _open(running.url)
        return running
    print(f"{running.url}  Press Ctrl-C to stop")
    if browser is not False:
        _open(running.url)
    running.wait()
    return running


def _start(own: Sequence[Model], paths: Sequence[Path], host: str, port: int | None) -> RunningLab:
    from polhode.lab_server import address, lifecycle, security
    from polhode.lab_server.registry import LabModels
    from polhode.lab_server.server import Lab
    from polhode.web import html_page

    html_page.content_security_policy(live=True)  # raises an error if the page was not built
    models = LabModels(own, paths)
    listener = address.open_listener(host, port)
    bound = listener.getsockname()[0]
    token = security.required_token(bound, None)
    served = Lab((bound, host), token, models=models, frame_ancestors=NOTEBOOKS if _is_notebook() else "'none'")
    base = address.page_url(host, listener, "", {}, token)
    return RunningLab(lifecycle.make_server(served), listener, base, models)


def _name_of_first(models: Sequence[Model | str | Path], offered: LabModels) -> str:
    if not models:
        return ""
    first = models[0]
    if isinstance(first, Model):
        return offered.name_of(first)
    return offered.name_of(Path(first)) if _is_path(first) else model_name(str(first))


def _is_path(one: object) -> bool:
    """Whether it is a file or folder; a string may also name a model of the gallery."""
    if isinstance(one, Path):
        return True
    if isinstance(one, Model):
        return False
    if not isinstance(one, str):
        raise InputError(
            f"ph.lab opens models, scenario files and names of the gallery, not {one!r}: decorate a function with "
            "@ph.model; a motion has motion.show()"
        )
    if one.endswith(".toml") or os.sep in one or (Path(one).exists() and model_name(one) not in MODELS):
        return True
    if model_name(one) not in MODELS:
        raise InputError(f"there is no file or model {one!r}: {nearest(model_name(one), MODELS)}")
    return False


def _is_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _is_interactive() -> bool:
    ipython = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or (ipython is not None and bool(ipython.get_ipython()))


def _open(url: str) -> None:
    from polhode.lab_server.lifecycle import open_browser

    open_browser(url, lambda sentence: print(f"{sentence}: {url}", file=sys.stderr))
