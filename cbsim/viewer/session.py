"""Viewer session without a window: handles events and draws frames."""

from __future__ import annotations

import pygame

from cbsim.viewer.actions import find_action
from cbsim.viewer.drawing.canvas import Canvas
from cbsim.viewer.keys import ACTIONS
from cbsim.viewer.mouse import Mouse
from cbsim.viewer.panels import Panels
from cbsim.viewer.session_state import SessionState
from cbsim.viewer.static_layers import StaticLayerCache

__all__ = ["Session"]


class Session(SessionState):
    """Session of a viewer: its state, with panels and mouse."""

    def __post_init__(self) -> None:
        self.static_layers = StaticLayerCache()
        self.panels = Panels(self)
        self.mouse = Mouse(self, self.panels)
        super().__post_init__()

    def covered(self) -> tuple[int, int]:
        """Widths of the strips at the left and at the bottom that panels cover [pixels]."""
        return round(self.panels.side * self.points), round(self.panels.bar * self.points)

    def draw(self, surface: pygame.Surface) -> None:
        """Draw a frame."""
        if surface.get_size() != self.camera.size:
            self.camera = self.camera.resized(surface.get_size())
        canvas = Canvas(surface, self.points)
        self._follow()
        view = self.view()
        self.panels.place(canvas, view)
        others = [] if self.other is None else [self.view(self.other, "B")]
        self.static_layers.draw(canvas, view, *others, draw_fully=self.draw_fully)
        self.panels.draw(canvas, view)

    def handle(self, event: pygame.event.Event) -> None:
        """Handle a window event."""
        if event.type == pygame.QUIT:
            self.running = False
        elif (
            event.type in {pygame.KEYDOWN, pygame.KEYUP}
            and self.source.controls
            and self.source.controls.handle_key(event)
        ):
            return
        elif event.type == pygame.JOYAXISMOTION and self.source.controls:
            self.source.controls.handle_joystick(event)
        elif event.type == pygame.KEYDOWN:
            action = find_action(ACTIONS, event)
            if action is not None:
                action.callback(self)
        else:
            self.mouse.handle(event)
