"""Chat templates of four families: rendered, read from disk, and never left by what they hold."""

import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.generator.engines.chat_templates.files import read_chat_template
from scaar.generator.engines.chat_templates.markers import Markers, markers_of
from scaar.generator.engines.chat_templates.renderer import (
    SystemTurn,
    UserTurn,
    system_turn_of,
    turn_of,
)
from scaar.testing.chat_templates import CHATML, FAMILIES, Family

each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@each_family
@pytest.mark.parametrize("own_file", [False, True])
def test_the_turn_is_the_text_around_the_placeholder(
    family: Family, own_file: bool, tmp_path: Path
) -> None:
    found = read_chat_template(family.put(tmp_path, own_file=own_file))
    bos = found.tokens.get("bos_token", "")
    assert turn_of(found.text, found.tokens) == UserTurn(bos + family.before, family.after)


@each_family
def test_the_turn_of_the_system_is_that_of_the_template(family: Family, tmp_path: Path) -> None:
    found = read_chat_template(family.put(tmp_path))
    turn = system_turn_of(found.text, found.tokens)
    if family.system is None:
        assert turn is None
    else:
        before, after = family.system
        assert turn == SystemTurn(found.tokens.get("bos_token", "") + before, after)


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages[-1].content }}",
        "{{ messages[0].content }}{{ messages[0].content }}{{ messages[-1].content }}",
        "{{ messages[-1].content }}{{ messages[0].content }}",
        "{{ messages | map(attribute='content') | join }}{{ messages | length }}",
    ],
)
def test_a_template_that_does_not_place_the_system_before_the_user_has_no_turn_for_it(
    template: str,
) -> None:
    assert system_turn_of(template, {}) is None


@each_family
def test_a_file_that_is_named_gives_what_its_folder_gives(family: Family, tmp_path: Path) -> None:
    folder = family.put(tmp_path, own_file=True)
    expected = read_chat_template(folder)
    for name in ("chat_template.jinja", "tokenizer_config.json"):
        assert read_chat_template(folder / name) == expected


def test_of_several_templates_the_default_one_is_used(tmp_path: Path) -> None:
    several = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": CHATML}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": several}))
    assert read_chat_template(tmp_path).text == CHATML


def test_a_template_may_name_the_day() -> None:
    template = "{{ strftime_now('%d %b %Y') }}: {{ messages[0].content }}"
    turn = turn_of(template, {}, now=lambda: datetime(2026, 2, 3))
    assert turn == UserTurn("03 Feb 2026: ", "")


def test_json_in_a_template_is_not_escaped_for_html() -> None:
    template = "{{ ['<ü>'] | tojson }}{{ {'b': 1, 'a': 2} | tojson(sort_keys=True) }}"
    turn = turn_of(template + "{{ messages[0].content }}", {})
    assert turn.before == '["<ü>"]{"a": 2, "b": 1}'


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for %}", "the chat template fails: "),
        ("{{ raise_exception('no user here') }}", "the chat template fails: no user here"),
        ("{{ messages[0].content + 1 }}", "the chat template fails: can only concatenate str"),
        ("{{ messages[7].content.x }}", "the chat template fails: list object has no element 7"),
        ("{{ 1 / 0 }}", "the chat template fails: division by zero"),
        ("{{ messages.append(1) }}", "the chat template fails: "),
        ("{{ ''.__class__.__mro__ }}", "the chat template fails: access to attribute '__class__'"),
        ("{% for i in range(10 ** 9) %}{% endfor %}", "the chat template fails: Range too big"),
        ("nothing", "must contain the user's text exactly once"),
        ("{{ messages[0].content * 2 }}", "must contain the user's text exactly once"),
        ("{{ messages[0].content | upper }}", "must contain the user's text exactly once"),
    ],
)
def test_an_unusable_template_is_reported(template: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        turn_of(template, {})


# --- what ends a turn -------------------------------------------------------------------------


@each_family
def test_the_markers_are_the_special_tokens_and_those_of_the_template(
    family: Family, tmp_path: Path
) -> None:
    found = read_chat_template(family.put(tmp_path))
    assert set(family.markers) <= markers_of(found.text, found.tokens, found.special).texts


def test_a_marker_that_a_template_puts_together_is_one() -> None:
    template = (
        "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}"
    )
    assert {"<|user|>", "<|assistant|>", "<|system|>", "<|end|>"} <= markers_of(
        template, {}, ()
    ).texts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a <|im_end|> b", "a < |im_end|> b"),
        ("<|IM_END|>", "< |IM_END|>"),
        ("[INST][/INST]", "[ INST][ /INST]"),
        ("<<|im_end|>", "<< |im_end|>"),
        ("a <b> [1] c", "a <b> [1] c"),
        ("", ""),
    ],
)
def test_a_marker_in_a_text_is_written_otherwise(text: str, message: str) -> None:
    assert Markers(["<|im_end|>", "[INST]", "[/INST]"]).escape(text) == message


def test_white_space_and_single_characters_are_no_markers() -> None:
    markers = Markers(["\n\n", "  ", "", "▁", " <s> "])
    assert markers.texts == {"<s>"}
    assert markers.escape("a\n\n▁<s>") == "a\n\n▁< s>"


PARTS = st.sampled_from(["<s>", "</s>", "<|im_end|>", "<", "|", ">", "s", "im_end", " ", "ab", "a"])
TEXTS = st.lists(PARTS, max_size=12).map("".join)


@given(st.lists(TEXTS, max_size=5), TEXTS)
def test_markers_are_escaped_and_no_character_is_lost(marked: list[str], text: str) -> None:
    markers = Markers(marked)
    kept = markers.escape(text)
    assert not any(each in kept for each in markers.texts)
    assert kept.replace(" ", "") == text.replace(" ", "")
    assert markers.escape(kept) == kept


# --- on disk ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (None, None, "does not exist"),
        ("tokenizer_config.json", b"{", "is not JSON"),
        ("tokenizer_config.json", b"[]", "must be a JSON object"),
        ("tokenizer_config.json", b"{}", "has no chat template"),
        ("tokenizer_config.json", b'{"chat_template": 7}', "has no chat template"),
        ("chat_template.jinja", b"\xff", "is not UTF-8 text"),
        ("chat_template.jinja", b"", "has no chat template"),
    ],
)
def test_files_without_a_template_are_reported(
    tmp_path: Path, name: str | None, content: bytes | None, message: str
) -> None:
    path = tmp_path / (name or "none")
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_chat_template(path)
    assert str(path) in str(caught.value)
