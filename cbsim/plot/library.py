"""matplotlib, which is an extra: imported here alone, when it is needed, and kept from its user's settings.

Text stays text, in the fonts that matplotlib ships; nothing in a file depends on the day or on chance.
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

__all__ = ["FORMATS", "figure", "format_of", "plain", "saved", "settings"]

FORMATS: dict[str, dict[str, Any]] = {  # suffix → what its file would say of the day and the software, left out
    "svg": {"Date": None, "Creator": "cbsim"},
    "pdf": {"CreationDate": None, "Creator": "cbsim", "Producer": None},
    "png": {"Software": None},
}
MILLIMETRES = 25.4  # in an inch
DPI = 300
LOOKS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "cbsim",  # else names of clips are made by chance
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a name may have a $ in it
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
        It is not installed; the message says what is to be done.
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
    """Draw as papers want it, whatever the user's own settings of matplotlib are."""
    library = matplotlib()
    with library.rc_context():
        library.rcdefaults()
        library.rcParams.update(LOOKS)
        yield


def figure(size: tuple[float, float]) -> Any:
    """Make an empty figure of a size [mm], without a window."""
    matplotlib()
    made = importlib.import_module("matplotlib.figure")
    width, height = (side / MILLIMETRES for side in size)
    return made.Figure(figsize=(width, height), layout="constrained")


def format_of(path: str | Path) -> str:
    """Tell the format of a file by its suffix.

    Raises
    ------
    UsageError
        None of `FORMATS`.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        hint = did_you_mean(suffix, FORMATS)
        listed = ", ".join(f".{one}" for one in FORMATS)
        raise UsageError(f"'{path}': a plot's file ends in {listed}" + (f" ({hint})" if hint else ""))
    return suffix


def saved(drawn: Any, kind: str) -> bytes:
    """Write a figure as one of `FORMATS`; the same figure gives the same bytes.

    Raises
    ------
    UsageError
        If the figure is too small for what is written on it.
    """
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+")  # a name in letters that the font lacks is drawn as boxes
        warnings.filterwarnings("error", "constrained_layout not applied")
        try:
            drawn.savefig(held, format=kind, dpi=DPI, metadata=FORMATS[kind])
        except UserWarning:
            width, height = (round(MILLIMETRES * side) for side in drawn.get_size_inches())
            raise UsageError(f"{width} x {height} mm are too small for the figure's labels and legend") from None
    return held.getvalue()


def plain(text: str) -> str:
    """Keep what can be printed of a text: control characters have no place in XML."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
