"""``cbsim edit``: editor of object files, and of the events of scenarios."""

from __future__ import annotations

from typing import Annotated

import typer

from cbsim.cli.options import option_file, pairs
from cbsim.cli.output import print_result, print_warnings
from cbsim.cli.view import picture_points, picture_size
from cbsim.errors import Problems, UsageError

__all__ = ["edit"]


def edit(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Object file, v1 or v2, created if missing; or a scenario, for its events."
        ),
    ],
    rndf: Annotated[str | None, typer.Option(help="Road network: a file, or the name of a shipped one.")] = None,
    mdf: Annotated[str | None, typer.Option(help="Mission, for runs from the editor.")] = None,
    planner: Annotated[list[str] | None, typer.Option(help="[NAME=]module:Class of a planner; repeatable.")] = None,
    version: Annotated[
        int | None, typer.Option(help="Version of a new file: 1 or 2; by default .obj is 1, others 2.")
    ] = None,
    screenshot: Annotated[str | None, typer.Option(metavar="PNG", help="Write a picture; needs no screen.")] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Size of the window or picture [pixels].")] = "1280x800",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
) -> None:
    """Edit objects and their goals, or the events of a scenario; press '?' in the window for the keys."""
    from cbsim.editor.loading import open_session
    from cbsim.editor.session import RunSettings

    if version not in (None, 1, 2):
        raise UsageError(f"version is {version}, expected 1 or 2")
    pixels, problems = picture_size(size), Problems()
    if screenshot is None:
        from cbsim.editor.window import INSTEAD
        from cbsim.viewer.screen import require_screen

        require_screen(INSTEAD)
    run = RunSettings(
        option_file(rndf, "rndf"), option_file(mdf, "mdf"), tuple(pairs(planner or [], "--planner", default="").items())
    )
    try:
        session = open_session(file, run, version=version, points=picture_points(pixels[1]), problems=problems)
    finally:
        print_warnings(problems, quiet=quiet)
    if screenshot is None:
        from cbsim.editor.window import show

        show(session, pixels)
        return
    from cbsim.editor.window import render
    from cbsim.viewer.screenshot import save

    save(render(session, pixels), screenshot)
    if not quiet:
        print_result(screenshot)
