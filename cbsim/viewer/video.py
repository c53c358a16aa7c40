"""Films without a screen: pictures of a session at even times, into a file by ffmpeg."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError
from cbsim.viewer.picture import picture, pixels_of
from cbsim.viewer.session import Session

__all__ = ["RATE", "film", "length_of"]

RATE = 30  # [1/s] pictures


def film(
    session: Session,
    size: tuple[int, int],
    path: str | Path,
    duration: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Film a session from the time it shows on.

    Parameters
    ----------
    session : Session
        Its speed is that of the film.
    size : tuple of int
        Width and height [pixels]; odd ones lose a pixel, which films cannot have.
    path : path
        Where to write it.
    duration : float, optional
        How much of the source's time is shown [s]; by default all there is.
    progress : callable, optional
        Told how much has been [s].

    Returns
    -------
    int
        Number of pictures.

    Raises
    ------
    UsageError
        If imageio-ffmpeg is not installed, or the file cannot be written.
    """
    width, height = size[0] // 2 * 2, size[1] // 2 * 2
    start, length, points = session.time, length_of(session, duration), session.points
    writer = _writer(Path(path), (width, height))
    count = math.floor(length * RATE / session.speed + 1e-9) + 1
    try:
        for number in range(count):
            wanted = start + number * session.speed / RATE
            session.time = min(wanted, max(session.source.reach(wanted), start))
            writer.send(pixels_of(picture(session, (width, height), points)).tobytes())
            if progress is not None:
                progress(session.time - start)
    except OSError as reason:
        raise UsageError(f"cannot write '{path}': {_last_line(reason)}") from None
    finally:
        writer.close()
    return count


def length_of(session: Session, duration: float | None) -> float:
    """How much of a source's time a film shows [s]: a duration, as far as there is so much.

    Raises
    ------
    UsageError
        If the duration is no time, or neither it nor the source says when the film ends.
    """
    if duration is not None and not duration >= 0.0:
        raise UsageError(f"a film of {duration:g} s cannot be made")
    length = session.end - session.time if duration is None else min(duration, session.end - session.time)
    if not math.isfinite(length):
        raise UsageError("a film of this has no end: --duration says how long it is")
    return max(length, 0.0)


def _writer(path: Path, size: tuple[int, int]) -> Any:
    """Start ffmpeg."""
    try:
        ffmpeg: Any = importlib.import_module("imageio_ffmpeg")
    except ImportError:
        raise UsageError("films need imageio-ffmpeg: pip install 'cbsim[video]'") from None
    if not path.parent.is_dir():
        raise UsageError(f"cannot write '{path}': no such folder")
    writer = ffmpeg.write_frames(
        str(path), size, fps=RATE, codec="libx264", quality=8, macro_block_size=2, ffmpeg_log_level="error"
    )
    writer.send(None)
    return writer


def _last_line(reason: OSError) -> str:
    lines = [line.strip() for line in str(reason).splitlines() if line.strip()]
    return lines[-1] if lines else "ffmpeg failed"
