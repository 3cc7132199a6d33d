"""The steps of the record of free words."""

from collections import Counter

from record.evaluations import command_of
from record.free.plan import FULL, WORLDS, plan
from record.plan import WORLDS as RESULTS_WORLDS
from record.tuning.plan import CAREFUL_SEEDS
from record.tuning.plan import WORLDS as TUNING_WORLDS
from scaar.lab.models import FREE_MODELS
from scaar.lab.sentences.forms import RATES


def test_every_step_has_its_folder_and_command() -> None:
    steps = plan()
    assert not [name for name, count in Counter(each.name for each in steps).items() if count > 1]
    commands = [command_of(each, ".free-words") for each in steps]
    assert len(set(commands)) == len(commands)


def test_each_model_is_compared_with_oracles_on_worlds_of_its_own() -> None:
    names = {each.name for each in plan()}
    for model in FREE_MODELS:
        for seed in WORLDS:
            assert {
                f"{model}/{kind}-{seed}" for kind in ("frontiers", "deployed", "oracles")
            } <= names
    assert not set(WORLDS) & {11, 12, *CAREFUL_SEEDS, *TUNING_WORLDS, *RESULTS_WORLDS}


def test_the_rate_of_free_words_is_swept_and_full_elsewhere() -> None:
    swept = [each for each in plan() if each.name.startswith("sweep-")]
    assert [each.parameters for each in swept] == [{"freedom": rate} for rate in RATES]
    assert all(each.parameters == FULL for each in plan() if each not in swept)


def test_the_command_names_the_scorer_and_the_rate() -> None:
    (first, *_) = plan()
    assert command_of(first, ".free-words") == (
        "SCAAR_GENERATOR_MODEL=lab-lm-free "
        "SCAAR_SCORER_MODEL=services/scaar/lab/models/lab-meaning-encoder "
        "scaar eval run --dataset lab --seed 6101 --limit 300 --freedom 1 --policies no_retrieval,"
        "single_round,fixed_length,flare,dragin,etc,mean_entropy,perplexity,scaar --grid 6 "
        "--cache-generations --skip-unserved --out .free-words/lab-lm-free/frontiers-6101"
    )
