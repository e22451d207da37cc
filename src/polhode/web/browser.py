"""Opens URLs for `motion.show()`, `polhode lab` and `polhode view`."""

from __future__ import annotations

import os
import sys
import webbrowser


def open_url(url: str) -> bool:
    """Open a URL in the browser and return whether that worked; without a display nothing is tried."""
    has_no_display = sys.platform.startswith("linux") and not any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    )
    return not has_no_display and webbrowser.open(url)
