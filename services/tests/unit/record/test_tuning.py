"""A tuned policy beside the published ones, on simulated answers."""

from collections import Counter
from dataclasses import replace

import pytest

from record.ceiling import DEPLOYED
from record.evaluations import command_of
from record.pool import TUNED, Pool, pool_of
from record.tuning.comparison import comparison_sentences, comparison_table
from record.tuning.plan import MODELS, WORLDS, plan
from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.evaluator.records import Setting

from .test_pool import results, row, setting

PUBLISHED = results(
    {
        setting("no_retrieval"): (0, 0, 0),
        setting("flare"): (0, 1, 0),
        setting("scaar"): (1, 1, 1),
        setting("perplexity"): (0, 1, 2),
    }
)
NAMED = replace(setting("flare", theta=0.4).policy, artefact="tuned-x")
OWN = results(
    {
        setting("flare", theta=0.2, top_k=1): (0, 1, 0),
        setting("flare", theta=0.5, top_k=1): (1, 2, 2),
        Setting("tuned-x", NAMED): (0, 1, 2),
    }
)


@pytest.fixture(scope="module")
def pool() -> Pool:
    return pool_of({DEPLOYED: {"1": PUBLISHED, "2": PUBLISHED}, TUNED: {"1": OWN, "2": OWN}})


def test_a_tuned_policy_is_compared_at_its_searches_and_at_theirs(pool: Pool) -> None:
    table = comparison_table(pool)
    assert row(table, "tuned-x")["f1"].value == 1
    flare = row(table, "flare")
    assert flare["difference"].value == pytest.approx(1 - flare["f1"].value)  # type: ignore[operator]
    # At fewer searches than its own, the tuned policy is the same as flare.
    assert flare["matched"].value == pytest.approx(0)
    assert row(table, "perplexity")["difference"].value == 0
    assert row(table, "no_retrieval")["matched"].value is None


def test_the_verdict_names_the_policies_that_it_is_not_shown_to_equal(pool: Pool) -> None:
    own, matched = comparison_sentences(pool)
    assert own.startswith("tuned-x at its own setting is better than or non-inferior to all 4")
    assert matched.startswith("tuned-x at the searches of the published policy is")
    worse = results({Setting("tuned-x", NAMED): (0, 0, 0), setting("flare", theta=0.2): (0, 0, 0)})
    found = pool_of({DEPLOYED: {"1": PUBLISHED}, TUNED: {"1": worse}})
    assert "not shown to be non-inferior to" in comparison_sentences(found)[0]


def test_results_without_a_tuned_policy_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="must have one tuned policy"):
        comparison_table(pool_of({DEPLOYED: {"1": PUBLISHED}}))


def test_every_model_but_the_first_is_compared_on_every_world() -> None:
    entries = plan()
    assert len({each.name for each in entries}) == len(entries) == 2 * len(MODELS) * len(WORLDS)
    assert Counter(each.model for each in entries) == dict.fromkeys(MODELS, 2 * len(WORLDS))
    published = {each.policy.name for each in entries[0].settings()}
    left_out = {"dtr", "dtr_reference", "filco", "model_asks", "quco", "self_rag"}
    assert published == PRESETS.keys() - left_out
    tuned = entries[1].settings()[-1].policy
    assert (tuned.artefact, tuned.overrides.top_k) == ("tuned-1.4", 1)
    assert command_of(entries[1], ".tuning") == (
        "SCAAR_GENERATOR_MODEL=lab-lm-b scaar eval run --dataset lab --seed 4001 --limit 300 "
        "--policies perplexity,tuned-1.4 --set query=current_sentence --set top_k=1 "
        "--set mask_below=0.8 --grid 4 --cache-generations --skip-unserved "
        "--out .tuning/lab-lm-b/tuned-4001"
    )
