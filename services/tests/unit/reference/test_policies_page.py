"""docs/policies.md describes every policy with its settings and their defaults."""

import re
from dataclasses import fields

import pytest

from reference.__main__ import ROOT
from scaar.core.policies import PRESETS
from scaar.core.policies.settings import RECOMMENDED, adjustable
from scaar.core.queries import FORMULATIONS
from scaar.core.triggers import TRIGGERS
from scaar.core.types import Moment, OnFailure, PolicyOverrides

PAGE = (ROOT / "docs" / "policies.md").read_text()
SETTINGS = {
    name: cells
    for name, *cells in re.findall(
        r"^\| `(\w+)` \| .* \| (.*) \| (.*) \| (.*) \| .*\|$", PAGE, re.MULTILINE
    )
}


def test_every_policy_has_its_section() -> None:
    assert set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)) == set(PRESETS)


def test_the_readme_has_a_row_for_every_policy() -> None:
    table = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\| (`[\w`, ]+`) \| .* \| .* \|$", table, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(PRESETS)


def test_every_setting_has_its_row() -> None:
    assert set(SETTINGS) == {field.name for field in fields(PolicyOverrides)}


def test_the_page_names_the_settings_that_a_model_may_recommend() -> None:
    *first, last = RECOMMENDED
    assert f"the model's recommendation for the policy ({', '.join(first)} and {last})" in PAGE


@pytest.mark.parametrize("policy", PRESETS)
def test_a_policy_accepts_the_settings_that_the_page_lists(policy: str) -> None:
    judges = Moment.UNCERTAIN_DRAFT in PRESETS[policy].moments
    taken = {
        name
        for name, (*_, takers) in SETTINGS.items()
        if f"`{policy}`" in takers or (judges and "the policies that judge" in takers)
    }
    assert taken == adjustable(PRESETS[policy])


@pytest.mark.parametrize("name", ["top_k", "window_tokens", "max_passages"])
def test_defaults_are_those_of_the_page(name: str) -> None:
    _, unset, takers = SETTINGS[name]
    own = {policy: float(value) for value, policy in re.findall(r"(\d+) for `(\w+)`", unset)}
    for policy in re.findall(r"`(\w+)`", takers):
        others = re.match(r"(?:.*, )?(\d+)(?: for the others)?$", unset)
        value = own[policy] if policy in own or others is None else float(others[1])
        assert getattr(PRESETS[policy], name) == value


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_trigger_has_the_thresholds_of_the_page(trigger: str) -> None:
    found = re.search(rf"^\| `{trigger}` \| .* \| (.*) \| (.*) \|$", PAGE, re.MULTILINE)
    assert found, trigger
    limit = TRIGGERS[trigger].theta
    assert float(found[2]) == limit.default
    assert f"{limit}".replace("1e+06", "1000000") == found[1]


def test_every_choice_has_its_row() -> None:
    for choice in (*FORMULATIONS, *TRIGGERS, *OnFailure):
        assert f"\n| `{choice}` | " in PAGE
