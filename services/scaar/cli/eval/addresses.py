"""The values of ``--address`` of an evaluation."""

from collections.abc import Sequence

from scaar.cli.addresses import check_address
from scaar.compose import EMBEDDED
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.evaluation.addresses import Addresses


def parse_addresses(given: Sequence[str]) -> Addresses:
    """Parse texts such as ``HOST:PORT`` and ``CONTROL=HOST:PORT``; the default is embedded.

    Raises:
        InvalidRequest: names every duplicate, and every name that is not a control.
    """
    itself: list[str] = []
    controls: dict[Control, str] = {}
    wrong: list[Violation] = []
    for text in given:
        name, equals, target = text.partition("=")
        if not equals or "/" in name:
            itself.append(text)
        elif name not in list(Control):
            known = ", ".join(Control)
            wrong.append(_wrong(f"there is no control {name!r} of the scorer; known: {known}"))
        elif Control(name) in controls:
            wrong.append(_wrong(f"{name} is given twice"))
        else:
            controls[Control(name)] = target
    if len(itself) > 1:
        wrong.append(_wrong(f"is given twice: {', '.join(itself)}"))
    for target in (*itself[:1], *controls.values()):
        try:
            check_address(target)
        except InvalidRequest as error:
            wrong += error.violations
    if wrong:
        raise InvalidRequest(wrong)
    return Addresses(itself[0] if itself else EMBEDDED, controls)


def _wrong(description: str) -> Violation:
    return Violation("--address", description)
