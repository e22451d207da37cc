"""The one way to a browser: of `motion.show()`, `polhode lab` and `polhode view`."""

from __future__ import annotations

import os
import sys
import webbrowser


def open_url(address: str) -> bool:
    """Open an address in the browser; whether that could be done.  Without a screen nothing is tried."""
    is_blind = sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    return not is_blind and webbrowser.open(address)
