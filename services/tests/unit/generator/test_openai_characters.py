"""Characters of several tokens: the log-probability of their last token is not that of the word.

The stream is that of llama.cpp with Qwen2.5-Coder-0.5B-Instruct (Q4_K_M), which was asked for
Chinese text and emoji. For a character of several tokens it reports the last one only.
"""

import json
from pathlib import Path

from openai.types import Completion

from scaar.core.text.words import split_words, word_probabilities
from scaar.core.types import GenerateRequest, Token
from scaar.generator.engines.openai_server.chunks import read_chunk
from scaar.generator.engines.openai_server.token_stream import OpenAiTokenStream

RECORDING = Path(__file__).parent / "fixtures" / "llama_cpp_characters.jsonl"
TEXT = " 🐈\u200d⬛ 你好 世界 😺🙀 龘 饕餮 → 🐈"


def recorded_tokens(*, top_tokens: int = 0) -> list[Token]:
    request = GenerateRequest("prompt", max_tokens=24)
    stream = OpenAiTokenStream(request, restated=False, echoed=False)
    return [
        token
        for line in RECORDING.read_text().splitlines()
        for token in stream.feed(
            read_chunk(Completion.construct(**json.loads(line)), top_tokens=top_tokens)
        )
    ]


def test_the_text_is_whole() -> None:
    assert "".join(token.text for token in recorded_tokens()) == TEXT


def test_characters_of_several_tokens_are_unknown_and_others_are_known() -> None:
    known = {token.text: token.logprob for token in recorded_tokens()}
    unknown = {text for text, logprob in known.items() if logprob is None}
    assert unknown == {" 🐈", "\u200d", " 😺", " 龘", " 饕"}
    assert known["世界"] is not None


def test_words_with_such_characters_have_no_probability() -> None:
    tokens, words = recorded_tokens(), split_words(TEXT)
    unknown = {
        word.text
        for word, probability in zip(words, word_probabilities(words, tokens), strict=True)
        if probability is None
    }
    assert unknown == {"🐈\u200d⬛", "😺🙀", "龘", "饕", "🐈"}


def test_the_most_likely_last_bytes_are_no_alternatives_to_the_character() -> None:
    tops = {token.text: token.top for token in recorded_tokens(top_tokens=2)}
    assert not tops[" 龘"]
    assert len(tops["世界"]) == 2
