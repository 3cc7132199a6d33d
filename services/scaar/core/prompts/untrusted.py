"""Untrusted text, made safe for a prompt.

A passage may contain any text, and must not end or steer the loop. Its text becomes one line, is
cut to ``MAX_PASSAGE_CHARACTERS``, and markers that would read as part of the prompt are replaced,
without a change of meaning:

    Question:  Answer:  Context:  Facts:   ->  Question -  Answer -  Context -  Facts -
    Documents:                             ->  Documents -
    [2]                                    ->  (2)
    the answer is                          ->  the answer - is
    <s>  </s>  <|end|>  [INST]             ->  < s>  < /s>  < |end| >  (INST)

Markers are replaced anywhere in the text; headings with a colon only if capitalised. Other text
stays unchanged.
"""

import re

MAX_PASSAGE_CHARACTERS = 2_000
"""A longer passage is cut at the last word that fits, before markers are replaced."""

# Zero-width and direction marks that hide a marker from a reader or from the patterns below.
# The joiners U+200C and U+200D stay: words of Persian and families of emoji need them.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+")

_CONTROL_TOKEN = re.compile(
    r"<(?=/?(?:s|pad|unk|bos|eos|mask|sep|cls|start_of_turn|end_of_turn|endoftext)>|\||<SYS>|</SYS>)",
    re.IGNORECASE,
)
_CONTROL_TOKEN_END = re.compile(r"\|(?=>)")
_INSTRUCTION = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_HEADING = re.compile(r"\b(Question|Answer|Context|Facts|Documents)\s?[:：]", re.IGNORECASE)
_NUMBER = re.compile(r"[\[［]\s?(\d+)\s?[\]］]")
_ROLE = re.compile(r"\b(User|Assistant|System|Standalone question)\s?[:：]", re.IGNORECASE)
_ANSWER_PHRASE = re.compile(r"\b(the answer)(?= is\b)", re.IGNORECASE)


def one_line(text: str) -> str:
    """Return the text with every run of white space and control characters as a single space.

    Invisible characters are removed, as are lone surrogates of UTF-16, which no encoder accepts.
    """
    return _BLANK.sub(" ", _INVISIBLE.sub("", text)).strip()


def without_control_tokens(text: str) -> str:
    """Return the text with markers replaced that a tokenizer may read as control tokens."""
    text = _CONTROL_TOKEN.sub("< ", text)
    text = _CONTROL_TOKEN_END.sub("| ", text)
    return _INSTRUCTION.sub(r"(\1)", text)


def safe_question(text: str) -> str:
    """Return a question for a prompt: one line, without control tokens."""
    return without_control_tokens(one_line(text))


def safe_lines(text: str) -> str:
    """Return a message for a prompt: its lines, without control tokens."""
    return "\n".join(map(safe_question, text.splitlines())).strip()


def safe_passage(text: str) -> str:
    """Return a passage for a prompt: one line, cut to length, without markers."""
    text = without_control_tokens(cut(one_line(text), MAX_PASSAGE_CHARACTERS))
    text = _HEADING.sub(_without_colon, text)
    text = _NUMBER.sub(r"(\1)", text)
    return _ANSWER_PHRASE.sub(r"\1 -", text)


def safe_turn(text: str) -> str:
    """Return a message of a conversation for a prompt: one line, cut, without markers and roles."""
    return _ROLE.sub(r"\1 -", safe_passage(text))


def safe_system(text: str) -> str:
    """Return the text of the system for a prompt: its lines, without markers and roles."""
    lines = (without_control_tokens(one_line(line)) for line in text.splitlines())
    kept = (_ROLE.sub(r"\1 -", _HEADING.sub(_without_colon, line)) for line in lines if line)
    return "\n".join(kept)


def cut(text: str, limit: int) -> str:
    """Return the text, cut to its longest prefix of whole words within the limit.

    A first word longer than the limit is cut.
    """
    if len(text) <= limit:
        return text
    end = text.rfind(" ", 0, limit + 1)
    return text[: end if end > 0 else limit]


def _without_colon(heading: re.Match[str]) -> str:
    word = heading[1]
    return f"{word} -" if word[0].isupper() else heading[0]
