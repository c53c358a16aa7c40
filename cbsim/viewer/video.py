"""Videos without a display: frames of a session, encoded by ffmpeg."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cbsim.errors import UsageError
from cbsim.viewer.screenshot import pixels_of, render
from cbsim.viewer.session import Session

__all__ = ["RATE", "render_video", "video_duration"]

RATE = 30  # [1/s] frame rate


def render_video(
    session: Session,
    size: tuple[int, int],
    path: str | Path,
    duration: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> int:
    """Write a video of a session, starting at its current time.

    Parameters
    ----------
    session : Session
        Its `speed` is the playback speed of the video.
    size : tuple of int
        Width and height [pixels], rounded down to even numbers as the codec requires.
    path : path
        Output file.
    duration : float, optional
        Simulated time to show [s]; by default up to the end.
    progress : callable, optional
        Called with the simulated time written so far [s].

    Returns
    -------
    int
        Number of frames.

    Raises
    ------
    UsageError
        If imageio-ffmpeg is not installed, or the file cannot be written.
    """
    width, height = size[0] // 2 * 2, size[1] // 2 * 2
    start, length, points = session.time, video_duration(session, duration), session.points
    writer = _writer(Path(path), (width, height))
    count = math.floor(length * RATE / session.speed + 1e-9) + 1
    try:
        for number in range(count):
            wanted = start + number * session.speed / RATE
            session.time = min(wanted, max(session.source.advance_to(wanted), start))
            writer.send(pixels_of(render(session, (width, height), points)).tobytes())
            if progress is not None:
                progress(session.time - start)
    except OSError as reason:
        raise UsageError(f"cannot write '{path}': {_last_line(reason)}") from None
    finally:
        writer.close()
    return count


def video_duration(session: Session, duration: float | None) -> float:
    """Return the simulated time that a video shows [s], limited by the source's end.

    Raises
    ------
    UsageError
        If the duration is negative or nan, or neither it nor the source is finite.
    """
    if duration is not None and not duration >= 0.0:
        raise UsageError(f"a video cannot last {duration:g} s, expected a duration of 0 s or more")
    length = session.end - session.time if duration is None else min(duration, session.end - session.time)
    if not math.isfinite(length):
        raise UsageError("the source has no end: limit the video with --duration")
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
