"""Requests of a wrong form to the lab's servers are rejected by name."""

import pytest

from scaar.generator.engines.openai_server.dialects import DIALECTS
from scaar.lab_servers import openai_wire, tgi_wire

FIELDS = [
    ("temperature", "hot"),
    ("stop", 5),
    ("stop", [5]),
    ("stop", [""]),
    ("stop", ["half \ud800"]),
    ("seed", "x"),
]


def openai_error(*, chat: bool = False, **fields: object) -> str:
    payload = {"model": "lab-lm", "temperature": 0, "prompt": "Who?", **fields}
    with pytest.raises(openai_wire.Rejected) as caught:
        openai_wire.parse_request(payload, DIALECTS["vllm"], model="lab-lm", chat=chat)
    assert caught.value.status == 400
    return caught.value.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *FIELDS,
        ("prompt", "half \ud800"),
        ("max_tokens", "x"),
        ("logprobs", "x"),
        ("stream_options", 5),
        ("chat_template_kwargs", 5),
    ],
)
def test_a_field_of_a_wrong_type_is_named_by_the_openai_server(field: str, value: object) -> None:
    assert openai_error(**{field: value}).startswith(f"{field} must ")


@pytest.mark.parametrize("messages", ["x", ["x"], [{"role": "user", "content": "\ud800"}]])
def test_messages_of_a_wrong_form_are_rejected(messages: object) -> None:
    assert "must " in openai_error(chat=True, messages=messages)


def test_a_temperature_without_the_whole_vocabulary_names_what_to_set() -> None:
    assert openai_error(temperature=1).endswith(
        ": set top_p 1, top_k -1, min_p 0, or temperature 0"
    )


@pytest.mark.parametrize(
    ("field", "value"), [*FIELDS, ("max_new_tokens", "x"), ("top_n_tokens", "x")]
)
def test_a_field_of_a_wrong_type_is_named_by_the_tgi_server(field: str, value: object) -> None:
    with pytest.raises(tgi_wire.Rejected, match=f"Input validation error: {field} must "):
        tgi_wire.parse_request({"inputs": "Who?", "parameters": {field: value}})


@pytest.mark.parametrize(
    "payload", [{"inputs": "half \ud800"}, {"inputs": "Who?", "parameters": 5}]
)
def test_a_request_of_a_wrong_form_is_rejected_by_the_tgi_server(payload: object) -> None:
    with pytest.raises(tgi_wire.Rejected, match="Input validation error: (inputs|parameters) must"):
        tgi_wire.parse_request(payload)
