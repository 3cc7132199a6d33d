"""The setting ``mask_below``: what counts as uncertain in queries, whatever the trigger."""

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import QueryBuilt, SentenceJudged

from .scripted import UNSURE_OF_PARIS, asking, only, parts


@pytest.mark.parametrize("trigger", ["perplexity", "surprisal_sum", "msp"])
@pytest.mark.parametrize(
    ("below", "expected"),
    [(None, "Ada was born in Paris."), (0.5, "Ada was born in"), (0.1, "Ada was born in Paris.")],
)
async def test_a_trigger_of_whole_sentences_masks_words_below_it(
    trigger: str, below: float | None, expected: str
) -> None:
    request = asking("perplexity", trigger=trigger, theta=1.0, mask_below=below)
    if trigger == "msp":
        request = asking("perplexity", trigger=trigger, theta=0.1, mask_below=below)
    events = await parts(UNSURE_OF_PARIS).events(request)
    (built,) = only(QueryBuilt, events)
    assert built.query.text == expected
    judged = only(SentenceJudged, events)[0]
    assert not any(word.uncertain for word in judged.words)


async def test_it_replaces_the_words_that_the_trigger_finds_uncertain() -> None:
    events = await parts(UNSURE_OF_PARIS).events(asking("flare", mask_below=0.05))
    (built,) = only(QueryBuilt, events)
    assert built.query.text == "Ada was born in Paris."
    assert [word.text for word in only(SentenceJudged, events)[0].words if word.uncertain] == [
        "Paris."
    ]


@pytest.mark.parametrize("value", [0.0, 1.5])
async def test_it_is_a_probability(value: float) -> None:
    with pytest.raises(InvalidRequest, match=r"policy.mask_below: must be in \(0, 1\]"):
        await parts(UNSURE_OF_PARIS).events(asking("flare", mask_below=value))


async def test_it_has_no_effect_with_queries_that_keep_uncertain_words() -> None:
    with pytest.raises(
        InvalidRequest, match="policy.mask_below: has no effect with query question"
    ):
        await parts(UNSURE_OF_PARIS).events(asking("flare", query="question", mask_below=0.5))
