"""Commands that are imported when they are called: most need little of what the others import."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group


def lazy_group(places: Mapping[str, str]) -> type[TyperGroup]:
    """Return the class of a group that imports a command from its ``module:attribute`` to use it.

    An attribute is the function of a command, or a ``typer.Typer``. The help of the group imports
    all of them.
    """

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands: dict[str, Any] = dict.fromkeys(places)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if self.commands.get(cmd_name) is None and cmd_name in places:
                self.commands[cmd_name] = _import_command(cmd_name, places[cmd_name])
            return self.commands.get(cmd_name)

    return LazyGroup


def _import_command(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    defined = getattr(import_module(module), attribute)
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    if isinstance(defined, typer.Typer):
        app.add_typer(defined, name=name)
    else:
        app.command(name)(defined)
    return get_group(app).commands[name]
