import pytest

from scaar.core.errors import PromptTooLong
from scaar.generator.validation import MAX_WEIGHTS, check_weights


@pytest.mark.parametrize(
    ("prompt_tokens", "tokens"), [(0, 1), (0, 1_731), (8_191, 8_192), (8_000, 8_184)]
)
def test_an_attention_that_fits_an_answer_passes(prompt_tokens: int, tokens: int) -> None:
    check_weights(prompt_tokens, tokens)


@pytest.mark.parametrize(("prompt_tokens", "tokens"), [(0, 1_732), (0, 8_192), (8_000, 8_186)])
def test_an_attention_that_fits_no_answer_is_refused_with_the_limit(
    prompt_tokens: int, tokens: int
) -> None:
    with pytest.raises(PromptTooLong, match=f"text: must have at most {MAX_WEIGHTS:,} weights"):
        check_weights(prompt_tokens, tokens)
