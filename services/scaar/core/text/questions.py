"""Questions in texts: whether a text is one, and what a long message asks."""

import re

from scaar.core.text.sentences import split_sentences

MAX_SEARCHED_WORDS = 128
MAX_SEARCHED_CHARACTERS = 1_024
"""Words and characters of a question that is searched for as it is."""

_QUESTION_WORDS = frozenset(
    # English; a verb that begins a text makes it a question.
    "who whom whose what which when where why how is are was were do does did has can could will "
    "would should "
    # German
    "wer wen wem wessen was welche welcher welches welchen welchem wann wo woher wohin warum "
    "weshalb wieso wie wieviel ist sind war waren hat haben wird kann "
    # Spanish, with the accents that tell question words from others
    "qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde adónde cómo".split()
)
_CHINESE_AND_JAPANESE = (
    "谁|誰|什么|什麼|为什么|為什麼|哪|何|几|幾|多少|怎|"
    "どこ|どの|どれ|どう|どんな|どちら|いつ|なぜ|なに|だれ|いくつ|いくら"
)
_SPACELESS = re.compile(
    rf"(?:{_CHINESE_AND_JAPANESE}).*|.*(?:{_CHINESE_AND_JAPANESE}|吗|嗎|呢|か)", re.DOTALL
)
_END_MARKS = ("?", "？")
_CONTEXT_END = "</context>"
_MAX_LINE = 32_768
_QUOTES = "\"'“”‘’«»„‚()（）「」『』 "


def is_question(text: str) -> bool:
    """Return whether a text ends with a question mark or begins with a question word.

    The question words are those of five languages.

    In Chinese and Japanese, a question word or particle at the end counts too.
    """
    bare = text.strip(_QUOTES)
    if bare.startswith("¿") or bare.endswith(_END_MARKS):
        return True
    words = re.findall(r"\w+", bare.casefold())
    if words and words[0] in _QUESTION_WORDS:
        return True
    return _SPACELESS.fullmatch(bare.rstrip("。.！! ")) is not None


def is_long(text: str) -> bool:
    """Return whether a message is more than a question to search for, such as a pasted text."""
    return len(text) > MAX_SEARCHED_CHARACTERS or len(text.split()) > MAX_SEARCHED_WORDS


def searched_question(text: str) -> str:
    """Return what a message asks, for searches: the message itself unless it is long.

    Of a long one, the questions in its first and its last line, of the part after the tag
    ``</context>``, with which chat pages end the text of a file. Without a question, or if these
    are long too, the beginning and the end of that part.
    """
    if not is_long(text):
        return text
    asked = text.rpartition(_CONTEXT_END)[2].strip() or text
    lines = [line for line in asked.splitlines() if line.strip()]
    sentences = (
        sentence.strip() for line in (lines[0], lines[-1]) for sentence in _sentences(line)
    )
    questions = " ".join(dict.fromkeys(filter(is_question, sentences)))
    return _ends(questions or asked)


def _sentences(line: str) -> tuple[str, ...]:
    return split_sentences(line) if len(line) <= _MAX_LINE else split_sentences(_ends(line))


def _ends(text: str) -> str:
    """Return the beginning and the end of a long text."""
    if not is_long(text):
        return " ".join(text.split())
    words, half = text.split(), MAX_SEARCHED_WORDS // 2
    if len(words) > MAX_SEARCHED_WORDS:
        words = words[:half] + words[-half:]
    joined, half = " ".join(words), MAX_SEARCHED_CHARACTERS // 2
    return joined if len(joined) <= 2 * half else f"{joined[:half]} {joined[-half + 1 :]}"
