"""The orchestrators of an evaluation: one with the scorer itself, and one for each control."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scaar.compose import EMBEDDED
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation


@dataclass(frozen=True, slots=True)
class Addresses:
    """gRPC addresses: of the orchestrator with the scorer itself, and with each scorer control.

    An embedded loop has every control, and ``controls`` is empty.
    """

    itself: str = EMBEDDED
    controls: Mapping[Control, str] = field(default_factory=dict)


def check_addresses(addresses: Addresses, controls: Sequence[Control]) -> None:
    """Check that every requested control has an address.

    Raises:
        InvalidRequest: names every control without an address, and every address without use.
    """
    if addresses.itself == EMBEDDED:
        if addresses.controls:
            names = ", ".join(addresses.controls)
            text = f"is given for {names} only: give the orchestrator with the scorer itself too"
            raise InvalidRequest([_wrong(text)])
        return
    wrong = [
        _wrong(f"{each} has no orchestrator: give --address {each}=HOST:PORT")
        for each in controls
        if each not in addresses.controls
    ]
    wrong += [
        _wrong(f"{each} has an address, but no setting uses it")
        for each in addresses.controls
        if each not in controls
    ]
    if wrong:
        raise InvalidRequest(wrong)


def _wrong(description: str) -> Violation:
    return Violation("addresses", description)
