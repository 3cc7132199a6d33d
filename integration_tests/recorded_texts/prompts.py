"""The prompts of the recorded texts: what users request, and what ends badly."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_TOPICS = (
    "the planets of the solar system",
    "bread",
    "the Roman Empire",
    "electric cars",
    "football",
    "the human heart",
    "Python dictionaries",
    "the city of Vienna",
    "tea",
    "the films of Alfred Hitchcock",
    "climate change",
    "the Nobel Prize",
    "sleep",
    "elephants",
    "the French Revolution",
    "chess",
    "the moon landing",
    "vaccines",
    "volcanoes",
    "the Olympic Games",
    "glass",
    "the river Nile",
    "Shakespeare",
    "databases",
    "honey bees",
)

_REQUESTS: Mapping[str, str] = MappingProxyType(
    {
        "list": "Write a bulleted list of ten facts about {topic}.",
        "numbered": "Write a numbered list of ten short facts about {topic}.",
        "nested": "Write a nested Markdown list with headings about {topic}.",
        "table": "Write a Markdown table with twelve rows and three columns about {topic}.",
        "code": "Write a Python program of about 40 lines about {topic}. Only code.",
        "explained_code": "Explain {topic} with two short code blocks in different languages.",
        "data": "Describe {topic} as JSON with nested objects and arrays. Only JSON.",
        "german": "Beschreibe auf Deutsch in fünf Sätzen: {topic}.",
        "chinese": "用中文写五句话介绍: {topic}。",
        "japanese": "日本語で三文で説明してください: {topic}。",
        "arabic": "اكتب ثلاث جمل بالعربية عن: {topic}.",
        "emoji": "Describe {topic} with many emoji and exclamation marks.",
        "long_sentence": "Describe {topic} in one single sentence of at least 150 words.",
        "no_spaces": "Describe {topic} WithoutAnySpacesBetweenTheWordsLikeThis.",
        "mathematics": "Write three formulas in LaTeX that have to do with {topic}.",
        "quotes": "Write a dialogue about {topic} with quotation marks and abbreviations.",
        "question": "Question: What is special about {topic}? Answer in two sentences.",
        "addresses": "List five web addresses and e-mail addresses about {topic}.",
        "short": "Answer with one word: what is {topic}?",
        "empty": "Reply with nothing at all. Do not write about {topic}.",
    }
)
"""Requests by kind; 20 kinds of 25 topics are 500 prompts."""

_LONG = "Write an essay of 2,000 words about {topic}, without paragraphs."
"""Replaces one request of every topic that is a multiple of five."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to a model. ``raw`` is one that is not put into the model's chat template."""

    number: int
    kind: str
    text: str
    max_tokens: int
    raw: bool


def prompts() -> Iterator[Prompt]:
    """Yield the 500 prompts, so that every run of them has all kinds."""
    number = 0
    for at, topic in enumerate(_TOPICS):
        for kind, request in _REQUESTS.items():
            long = kind == "long_sentence" and at % 5 == 0
            text = (_LONG if long else request).format(topic=topic)
            # Every fourth topic is asked as a base model is: without a template.
            raw = at % 4 == 3
            yield Prompt(
                number,
                "essay" if long else kind,
                f"Question: {text}\nAnswer:" if raw else text,
                700 if long else 120 + 20 * (at % 5),
                raw,
            )
            number += 1
