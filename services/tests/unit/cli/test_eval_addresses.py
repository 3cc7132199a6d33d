import pytest

from scaar.cli.eval.fields import parse_addresses
from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest
from scaar.evaluation.addresses import Addresses, check_addresses

HERE, THERE = "dns:///127.0.0.1:1", "dns:///127.0.0.1:2"


def test_an_address_is_of_the_scorer_itself_and_named_ones_are_of_its_controls() -> None:
    assert parse_addresses(()) == Addresses("embedded")
    assert parse_addresses((f"idf={THERE}", HERE)) == Addresses(HERE, {Control.IDF: THERE})
    assert parse_addresses(("dns:///host=1:2",)) == Addresses("dns:///host=1:2")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((HERE, THERE), f"--address: is given twice: {HERE}, {THERE}"),
        ((f"idf={HERE}", f"idf={THERE}"), "--address: idf is given twice"),
        ((f"rare={HERE}",), "there is no control 'rare' of the scorer; known: permuted, "),
    ],
)
def test_duplicate_addresses_and_unknown_controls_are_refused(
    given: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_addresses(given)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("addresses", "controls", "message"),
    [
        (
            Addresses(HERE, {Control.IDF: THERE}),
            (Control.IDF, Control.PERMUTED),
            "permuted has no orchestrator: give --address permuted=HOST:PORT",
        ),
        (Addresses(HERE, {Control.IDF: THERE}), (), "idf has an address, but no setting uses it"),
        (Addresses(controls={Control.IDF: THERE}), (Control.IDF,), "is given for idf only"),
    ],
)
def test_every_control_needs_an_address_and_every_address_a_control(
    addresses: Addresses, controls: tuple[Control, ...], message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        check_addresses(addresses, controls)
    assert message in str(caught.value)


def test_an_embedded_loop_has_every_control() -> None:
    check_addresses(Addresses(), tuple(Control))
    check_addresses(Addresses(HERE, dict.fromkeys(Control, THERE)), tuple(Control))
