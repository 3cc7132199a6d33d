"""Whether a text is a question: its end, and the question words of five languages."""

import re

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
_QUOTES = "\"'“”‘’«»„‚()（）「」『』 "


def is_question(text: str) -> bool:
    """Return whether a text ends with a question mark or begins with a question word.

    In Chinese and Japanese, a question word or particle at the end counts too.
    """
    bare = text.strip(_QUOTES)
    if bare.startswith("¿") or bare.endswith(_END_MARKS):
        return True
    words = re.findall(r"\w+", bare.casefold())
    if words and words[0] in _QUESTION_WORDS:
        return True
    return _SPACELESS.fullmatch(bare.rstrip("。.！! ")) is not None
