"""CONTRIBUTING.md shows a valid policy, and names the conformance suite of every port."""

import re
import textwrap

from reference.__main__ import ROOT
from scaar.core.policies.preset import Preset
from scaar.core.types import Moment

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SUITES = ROOT / "services" / "scaar" / "testing" / "conformance"


def test_the_policy_of_the_page_is_valid() -> None:
    (shown,) = re.findall(r"( +\"\"\"Retrieve for every.*?)\n +```", PAGE, re.DOTALL)
    made: dict[str, object] = {}
    exec(textwrap.dedent(shown), made)
    policy = made["GROWING"]
    assert isinstance(policy, Preset)
    assert (policy.moments, policy.query.formulation) == (
        (Moment.BEFORE_SENTENCE,),
        "full_context",
    )


def test_every_suite_is_named() -> None:
    suites = [
        name
        for path in SUITES.glob("[a-z]*.py")
        for name in re.findall(r"^class (\w+Conformance)", path.read_text(), re.MULTILINE)
    ]
    assert suites
    assert all(f"`{name}`" in PAGE for name in suites)
