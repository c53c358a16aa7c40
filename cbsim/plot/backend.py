"""matplotlib backend: lazy import of the optional dependency, isolated from the user's settings.

Text stays text in matplotlib's bundled fonts; files contain no dates or random identifiers.
"""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError, did_you_mean

__all__ = ["FORMATS", "figure", "format_of", "printable", "render", "settings"]

FORMATS: dict[str, dict[str, Any]] = {  # suffix → metadata fields that would vary with date or software
    "svg": {"Date": None, "Creator": "cbsim"},
    "pdf": {"CreationDate": None, "Creator": "cbsim", "Producer": None},
    "png": {"Software": None},
}
MILLIMETRES = 25.4  # in an inch
DPI = 300
RC_PARAMS: dict[str, Any] = {
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "cbsim",  # deterministic identifiers of clip paths
    "pdf.fonttype": 42,
    "text.parse_math": False,  # names may contain $
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "#d3d7d0",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
}


def matplotlib() -> Any:
    """Import matplotlib.

    Raises
    ------
    UsageError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module("matplotlib")
    except ModuleNotFoundError as missing:
        raise UsageError(
            f"plots need the extra 'report' ({missing.name} is missing): pip install 'cbsim[report]'; "
            "'cbsim report' makes a page with plots without it"
        ) from None


@contextmanager
def settings() -> Iterator[None]:
    """Apply the plot settings, ignoring the user's matplotlib configuration."""
    library = matplotlib()
    with library.rc_context():
        library.rcdefaults()
        library.rcParams.update(RC_PARAMS)
        yield


def figure(size: tuple[float, float]) -> Any:
    """Create an empty figure of a size [mm], without a window."""
    matplotlib()
    made = importlib.import_module("matplotlib.figure")
    width, height = (side / MILLIMETRES for side in size)
    return made.Figure(figsize=(width, height), layout="constrained")


def format_of(path: str | Path) -> str:
    """Return the format given by a file's suffix.

    Raises
    ------
    UsageError
        If the suffix is not in `FORMATS`.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        hint = did_you_mean(suffix, FORMATS)
        listed = ", ".join(f".{one}" for one in FORMATS)
        raise UsageError(f"'{path}': a plot's file ends in {listed}" + (f" ({hint})" if hint else ""))
    return suffix


def render(drawn: Any, kind: str) -> bytes:
    """Render a figure in one of `FORMATS`; equal figures yield equal bytes.

    Raises
    ------
    UsageError
        If the figure is too small for its labels and legend.
    """
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+")  # glyphs missing from the font are drawn as boxes
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            drawn.savefig(held, format=kind, dpi=DPI, metadata=FORMATS[kind])
        except UserWarning:
            width, height = (round(MILLIMETRES * side) for side in drawn.get_size_inches())
            raise UsageError(f"{width} x {height} mm are too small for the figure's labels and legend") from None
    return held.getvalue()


def printable(text: str) -> str:
    """Replace characters that cannot be printed: XML forbids control characters."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
