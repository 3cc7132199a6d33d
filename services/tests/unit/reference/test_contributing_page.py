"""CONTRIBUTING.md shows a policy that is one, and names every suite of a port."""

import re
import textwrap

from reference.__main__ import ROOT
from scaar.core.policies.preset import Preset
from scaar.core.types import Formulation, When

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SUITES = ROOT / "services" / "scaar" / "testing" / "conformance"


def test_the_policy_of_the_page_is_one() -> None:
    (shown,) = re.findall(r"( +\"\"\"Retrieve for every.*?)\n +```", PAGE, re.DOTALL)
    made: dict[str, object] = {}
    exec(textwrap.dedent(shown), made)
    policy = made["GROWING"]
    assert isinstance(policy, Preset)
    assert (policy.when, policy.query.formulation) == (
        When.EVERY_SENTENCE,
        Formulation.FULL_CONTEXT,
    )


def test_every_suite_is_named() -> None:
    suites = [
        name
        for path in SUITES.glob("[a-z]*.py")
        for name in re.findall(r"^class (\w+Conformance)", path.read_text(), re.MULTILINE)
    ]
    assert suites
    assert all(f"`{name}`" in PAGE for name in suites)
