"""``cbsim view``: viewer window, screenshots and videos."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cbsim.cli.options import file_named, number, option_file, pairs
from cbsim.cli.output import announce_compilation, print_problems, print_result, print_warnings, progress
from cbsim.cli.recordings import exit_if_damaged, report_ending
from cbsim.errors import Problems, UsageError, did_you_mean
from cbsim.paths import is_regular

if TYPE_CHECKING:
    from cbsim.viewer.progress_window import Progress
    from cbsim.viewer.scene.source import Source
    from cbsim.viewer.session import Session
    from cbsim.world.world import World

    Prepared = tuple[World | Source, World | Source | None]

__all__ = ["picture_points", "picture_size", "view"]

LARGEST = 16384  # [pixels] greatest side of a picture
CLOSE = 1e4  # [pixels per metre] greatest zoom
SMALLEST = 1e-6  # least speed and zoom
FAST = 1e4  # greatest ratio to real time

FORMER_LAYERS = {"thoughts": "annotations", "danger": "ttc", "marks": "events"}
"""Former key of a layer → its key."""


def view(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A scenario, network, object file, model or recording.")],
    other: Annotated[str | None, typer.Argument(metavar="FILE2", help="A recording to overlay.")] = None,
    rndf: Annotated[str | None, typer.Option(help="Road network of an object file.")] = None,
    mdf: Annotated[str | None, typer.Option(help="Mission.")] = None,
    planner: Annotated[list[str] | None, typer.Option(help="[NAME=]module:Class of a planner; repeatable.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value: setting of the scenario or model.")
    ] = None,
    screenshot: Annotated[str | None, typer.Option(metavar="PNG", help="Write a picture; needs no screen.")] = None,
    video: Annotated[str | None, typer.Option(metavar="MP4", help="Write a video; needs no display.")] = None,
    at: Annotated[float, typer.Option(help="Start time [s].")] = 0.0,
    duration: Annotated[float | None, typer.Option(help="Simulated time that the video shows [s].")] = None,
    speed: Annotated[float, typer.Option(help="Multiple of real time.")] = 1.0,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the picture [pixels].")] = "1280x800",
    follow: Annotated[str | None, typer.Option(metavar="NAME", help="Object to select and follow.")] = None,
    zoom: Annotated[
        float | None, typer.Option(help="Pixels per metre; by default the surroundings of the ego, else everything.")
    ] = None,
    look: Annotated[str, typer.Option(help="Direction: above, east or south.")] = "above",
    show: Annotated[list[str] | None, typer.Option(metavar="LAYER", help="Show a layer; repeatable.")] = None,
    hide: Annotated[list[str] | None, typer.Option(metavar="LAYER", help="Hide a layer; repeatable.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """View a scenario, network, model or recording from above; press '?' in the window for the keys."""
    width, height = picture_size(size)
    _check_numbers(at, duration, speed, zoom)
    shown = screenshot is None and video is None
    if shown:
        from cbsim.viewer.screen import require_screen

        require_screen()  # before anything is read
    file, rndf, mdf = file_named(file), option_file(rndf, "rndf"), option_file(mdf, "mdf")
    problems = Problems()
    seats, settings = pairs(planner or [], "--planner", default=""), pairs(set_ or [], "--set")
    options: dict[str, Any] = {"rndf": rndf, "mdf": mdf, "planner": seats, "settings": settings}
    prepare = partial(_prepare, file, other, problems=problems, quiet=quiet, **options)
    with ExitStack() as exits:
        try:
            # a missing file is reported before a window is opened
            prepared = _in_window(prepare, file, (width, height), exits) if shown and is_regular(file) else prepare()
        finally:
            print_warnings(problems, quiet=quiet)
        source, second = _started(prepared, exits)
        session = _session(source, second, (width, height), transport=shown)
        _configure(session, at, speed, look, show or [], hide or [])
        _point_camera(session, follow, zoom)
        _save_or_show(session, (width, height), screenshot, video, duration, quiet=quiet)
    _report_endings([(file, source), (other or "", second)], quiet=quiet)


def _prepare(
    file: str, other: str | None, progress: Progress | None = None, *, problems: Problems, quiet: bool, **options: Any
) -> Prepared:
    """Read the file and the overlay; for a window, compile the kernels it needs, too."""
    announce_compilation(quiet=quiet)
    from cbsim.simulation.rehearsal import counting, rehearse
    from cbsim.viewer.loading import prepare
    from cbsim.world.world import World

    with nullcontext() if progress is None else counting(progress.count):
        first = prepare(file, problems=problems, **options)
        second = None if other is None else prepare(other, problems=problems)
        for one in (first, second):
            if progress is not None and isinstance(one, World):
                rehearse(one, progress.enter)
    return first, second


def _in_window(prepare: Callable[[Progress], Prepared], file: str, size: tuple[int, int], exits: ExitStack) -> Prepared:
    """Prepare while a window shows the progress; closing it ends the command."""
    import pygame

    from cbsim.viewer.progress_window import WindowClosedError, run_in_progress_window

    try:
        prepared = run_in_progress_window(prepare, Path(file).name, size)
    except WindowClosedError:
        raise typer.Exit from None
    exits.callback(pygame.display.quit)
    return prepared


def _started(prepared: Prepared, exits: ExitStack) -> tuple[Source, Source | None]:
    """Start live sources, with their planners."""
    from cbsim.viewer.loading import begin

    first, second = prepared
    return begin(first, exits), None if second is None else begin(second, exits)


def _session(source: Source, second: Source | None, size: tuple[int, int], *, transport: bool) -> Session:
    """Create a session for pictures of a size [pixels]."""
    from cbsim.viewer.session import Session

    session = Session(source, second, points=picture_points(size[1]), transport=transport)
    session.camera = session.camera.resized(size)
    return session


def _report_endings(sources: list[tuple[str, Source | None]], *, quiet: bool) -> None:
    """Report incomplete recordings; exit with the code of an unacceptable file if one is damaged."""
    from cbsim.viewer.scene.source import RecordingSource

    problems = Problems()
    for path, source in sources:
        if isinstance(source, RecordingSource):
            report_ending(path, source.recording, problems)
    print_problems(problems, quiet=quiet)
    exit_if_damaged(problems)


def _save_or_show(
    session: Session,
    size: tuple[int, int],
    screenshot: str | None,
    video: str | None,
    duration: float | None,
    *,
    quiet: bool,
) -> None:
    """Write the requested screenshot and video, or open a window if neither is requested."""
    if screenshot is not None:
        from cbsim.viewer.screenshot import render, save

        save(render(session, size, picture_points(size[1])), screenshot)
        if not quiet:
            print_result(screenshot)
    if video is not None:
        from cbsim.viewer.video import render_video, video_duration

        with progress("filming", video_duration(session, duration), quiet=quiet) as update:
            render_video(session, size, video, duration, update)
        if not quiet:
            print_result(video)
    if screenshot is None and video is None:
        from cbsim.viewer.window import show

        show(session, f"{session.source.stage.name} - cbsim", size)


def _check_numbers(at: float, duration: float | None, speed: float, zoom: float | None) -> None:
    """Refuse numbers out of range before anything is read."""
    number(at, "--at", "a time from 0 s on")
    number(speed, "--speed", f"a number above 0, up to {FAST:g}", SMALLEST, FAST)
    if duration is not None:
        number(duration, "--duration", "a time from 0 s on")
    if zoom is not None:
        number(zoom, "--zoom", f"pixels per metre above 0, up to {CLOSE:g}", SMALLEST, CLOSE)


def picture_size(text: str) -> tuple[int, int]:
    """Read the size of a picture, ``1280x800`` [pixels]."""
    match = re.fullmatch(r"(\d{2,5})[x×](\d{2,5})", text)
    width, height = (int(part) for part in match.groups()) if match else (0, 0)
    if not (64 <= width <= LARGEST and 64 <= height <= LARGEST):
        raise UsageError(f"size '{text}' is not of the form 1280x800, with sides from 64 to {LARGEST}")
    return width, height


def picture_points(height: int) -> float:
    """Pixels per point, proportional to the height, so that text scales with the picture."""
    from cbsim.viewer.drawing.canvas import points_for

    return points_for(height)


def _configure(session: Session, at: float, speed: float, look: str, show: list[str], hide: list[str]) -> None:
    """Set time, speed, direction and layers."""
    from cbsim.viewer.drawing.camera import PROJECTIONS
    from cbsim.viewer.layers import LAYERS

    directions = {one.name.rpartition(" ")[2]: one for one in PROJECTIONS}
    session.projection = directions[_known(look, list(directions), "direction to look from")]
    keys = [layer.key for layer in LAYERS]
    for key, on in [*((key, True) for key in show), *((key, False) for key in hide)]:
        session.options.shown[_known(FORMER_LAYERS.get(key, key), keys, "layer")] = on
    session.speed = speed
    session.source.advance_to(at)
    session.time = min(max(at, session.source.timeline.first), session.source.timeline.last)


def _point_camera(session: Session, follow: str | None, zoom: float | None) -> None:
    """Point the camera."""
    session.look_at_start()
    if follow is not None:
        stage = session.source.stage
        names = dict.fromkeys([*stage.models, *(body.name for body in stage.bodies)])
        session.options.selected = stage.rows_of(_known(follow, list(names), "object"))[0]
        session.following = True
    if zoom is not None:
        session.camera = session.camera.zoomed(zoom / session.camera.scale)


def _known(word: str, words: list[str], what: str) -> str:
    """Return a word if it is one of several."""
    if word not in words:
        hint = did_you_mean(word, words)
        listed = ", ".join(words[:40])
        raise UsageError(f"no {what} '{word}'; there is {listed}" + (f" ({hint})" if hint else ""))
    return word
