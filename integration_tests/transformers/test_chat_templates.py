"""A chat template gives what transformers makes of it."""

import pytest
from transformers import AutoTokenizer

from scaar.generator.engines.chat_templates.renderer import STAND_IN, rendered
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.chat_templates import FAMILIES, Family


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("roles", [("user",), ("user", "assistant", "user")])
def test_a_chat_is_rendered_as_in_transformers(family: Family, roles: tuple[str, ...]) -> None:
    tokenizer = AutoTokenizer.from_pretrained(model_folder(LAB_LM))
    chat = [{"role": role, "content": STAND_IN} for role in roles]
    expected = tokenizer.apply_chat_template(
        chat, chat_template=family.template, tokenize=False, add_generation_prompt=True
    )
    tokens = tokenizer.special_tokens_map
    assert rendered(family.template, chat, tokens) == expected
