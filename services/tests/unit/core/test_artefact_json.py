"""Policy artefacts as JSON: the round trip, the digest, and errors that name the field."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from scaar.core.errors import DataCorrupt
from scaar.core.policies.artefact_json import (
    artefact_from_json,
    artefact_to_json,
    digest_of,
    with_digest,
)
from scaar.core.types import (
    LatencyFigures,
    PolicyArtefact,
    PolicyOverrides,
    RiskFigures,
    Truncation,
    TuningConditions,
    UnitTime,
    WordOrder,
)
from scaar.testing.artefacts import LEARNED, artefact_of

Json = dict[str, Any]
SETTINGS = PolicyOverrides(
    theta=0.9,
    truncate=Truncation.TOKEN,
    query="pfq",
    alpha=30.0,
    include_question=False,
    word_order=WordOrder.CONTRIBUTION,
    top_k=4,
)
TUNED_ON = TuningConditions(
    "lab-lm", "c0ffee", "lab-cross-encoder", "beef", "lab", "bm25s", "1edb", analysis="english-1"
)
RISK = RiskFigures(max_risk=0.05, delta=0.1, answers=600, risk=0.03, caught=0.96)


def with_risk() -> PolicyArtefact:
    made = artefact_of(policy="scaar", settings=SETTINGS, tuned_on=TUNED_ON)
    return with_digest(replace(made, risk=RISK))


def with_learned() -> PolicyArtefact:
    return artefact_of(settings=PolicyOverrides(trigger="learned", theta=0.5), learned=LEARNED)


def with_harm() -> PolicyArtefact:
    compared = replace(LEARNED, label="benefit", harm_coefficients=(0.5,), harm_intercept=-3.0)
    return with_digest(replace(with_learned(), learned=compared))


def with_latency() -> PolicyArtefact:
    figures = LatencyFigures(0.5, 0.32, (UnitTime("searches", 9.3), UnitTime("llm_calls", 0.0)))
    return with_digest(replace(artefact_of(), latency=figures))


@pytest.mark.parametrize(
    "artefact", [artefact_of(), with_risk(), with_learned(), with_harm(), with_latency()]
)
def test_an_artefact_survives_its_file(artefact: PolicyArtefact) -> None:
    content = artefact_to_json(artefact)
    assert artefact_from_json(content, "policy.json") == artefact
    assert json.loads(content)["format"] == 1


def test_the_digest_covers_every_field_and_not_the_spelling_of_numbers() -> None:
    one, other = artefact_of(settings=PolicyOverrides(theta=1)), artefact_of()
    assert one.digest == artefact_of(settings=PolicyOverrides(theta=1.0)).digest
    assert one.digest != other.digest
    assert other.digest != digest_of(replace(other, name="another"))
    assert other.digest == digest_of(replace(other, digest="wrong"))
    read = artefact_from_json(artefact_to_json(one), "policy.json")
    assert (read.settings.theta, read.digest) == (1.0, one.digest)


def change(path: str, value: object) -> Callable[[Json], None]:
    def apply(document: Json) -> None:
        *outer, last = path.split(".")
        for each in outer:
            document = document[each]
        document[last] = value

    return apply


def drop(path: str) -> Callable[[Json], None]:
    def apply(document: Json) -> None:
        *outer, last = path.split(".")
        for each in outer:
            document = document[each]
        del document[last]

    return apply


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (drop("format"), "has no format"),
        (change("format", 2), "format: is 2; this scaar reads 1"),
        (drop("policy"), "policy: is missing"),
        (drop("tuned_on.model"), "tuned_on.model: is missing"),
        (change("tuned_on.model", ""), "tuned_on.model: must not be empty"),
        (change("tuned_on", []), r"tuned_on: must be a JSON object, not \[\]"),
        (change("colour", "red"), "colour: is not a field of this format"),
        (change("settings.colour", 1), "settings.colour: is not a field of this format"),
        (change("settings.theta", "0.4"), "settings.theta: must be a number, not '0.4'"),
        (change("settings.theta", True), "settings.theta: must be a number, not True"),
        (change("settings.theta", 7), r"settings.theta: must be in \(0, 1\] for policy flare"),
        (change("settings.top_k", 1.5), "settings.top_k: must be a whole number, not 1.5"),
        (change("settings.truncate", "word"), "settings.truncate: must be one of sentence, token"),
        (change("settings.alpha", 20), "settings.alpha: has no effect with query"),
        (change("settings.trigger", "guess"), "settings.trigger: there is no trigger 'guess'"),
        (change("policy", "guess"), "policy: there is no policy 'guess'"),
        (change("name", "flare"), "name: is that of a published policy: flare"),
        (change("name", "My Policy"), "name: must be lower-case letters"),
        (change("name", "a" * 65), "at most 64 characters"),
        (change("label_kind", "guess"), "label_kind: must be one of exact, counterfactual, none"),
        (change("development.questions", 0), "development.questions: must be at least 1, not 0"),
        (change("development.quality.low", 0.99), "development.quality: must be within"),
        (change("expected.trigger_rate", 1.2), r"expected.trigger_rate: must be in \[0, 1\]"),
        (change("expected.searches_per_answer", -1), "searches_per_answer: must be at least 0"),
        (change("learned", {"signal_names": [1]}), r"learned.signal_names\[0\]: must be a string"),
        (change("expected.trigger_rate", 0.26), "digest: is '.*the file was changed; tune again"),
        (change("digest", ""), "digest: is ''"),
    ],
)
def test_an_invalid_file_is_refused_naming_its_field(
    edit: Callable[[Json], None], problem: str
) -> None:
    document = json.loads(artefact_to_json(artefact_of()))
    edit(document)
    with pytest.raises(DataCorrupt, match=f"^policy.json: .*{problem}"):
        artefact_from_json(json.dumps(document).encode(), "policy.json")


def test_a_negative_time_of_a_unit_is_refused() -> None:
    document = json.loads(artefact_to_json(with_latency()))
    change("latency.unit_times_ms", [{"unit": "searches", "ms": -1}])(document)
    with pytest.raises(DataCorrupt, match=r"latency.unit_times_ms\[0\].ms: must be at least 0"):
        artefact_from_json(json.dumps(document).encode(), "policy.json")


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (drop("learned"), "settings.trigger: learned needs the parameters of a tuned policy"),
        (drop("learned.scales"), "learned.scales: is missing"),
        (change("learned.scales", [0.0]), "learned.scales: must be above 0"),
        (change("learned.means", []), "learned.means: must have 1 numbers, one for each signal"),
        (change("learned.signal_names", ["guess"]), "learned.signal_names: there is no signal"),
        (change("learned.intercept", 1.0), "digest: is '.*the file was changed; tune again"),
        (change("settings", {"theta": 0.5}), "learned: needs the trigger learned"),
    ],
)
def test_invalid_parameters_of_a_learned_trigger_are_refused(
    edit: Callable[[Json], None], problem: str
) -> None:
    document = json.loads(artefact_to_json(with_learned()))
    edit(document)
    with pytest.raises(DataCorrupt, match=f"^policy.json: {problem}"):
        artefact_from_json(json.dumps(document).encode(), "policy.json")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "must be a JSON object"),
        (b'"\xff"', "is not JSON"),
    ],
)
def test_a_file_that_is_no_object_is_refused(content: bytes, problem: str) -> None:
    with pytest.raises(DataCorrupt, match=f"policy.json: {problem}"):
        artefact_from_json(content, "policy.json")


def test_numbers_must_be_finite() -> None:
    content = artefact_to_json(artefact_of()).replace(b"0.42", b"NaN")
    with pytest.raises(DataCorrupt, match="settings.theta: must be finite"):
        artefact_from_json(content, "policy.json")


def test_an_invalid_artefact_is_not_written() -> None:
    with pytest.raises(DataCorrupt, match="name: is that of a published policy"):
        artefact_of("scaar")
