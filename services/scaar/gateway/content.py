"""The text of an answer as a client reads it, with its citations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from scaar.core.types import AcceptedSentence, AcceptedToken, Passage, RetrievedPassage
from scaar.gateway.token_logprobs import TokenQueue

AnyPassage = Passage | RetrievedPassage
# Characters of URLs that Markdown leaves as they are; it ends a link at a bracket.
_URL = ":/?#@!$&'*+,;=%~[]"


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that a part of the text was written from; ``start`` and ``end`` are offsets."""

    start: int
    end: int
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Link:
    """Returns the URL of a passage: its metadata field, else ``scaar:INDEX/ID``."""

    index: str
    field: str

    def of(self, passage: AnyPassage) -> str:
        """Return the first http or https URL of the field, else a name of the passage."""
        for each in passage.metadata:
            if each.name == self.field:
                for value in each.values:
                    if value.startswith(("https://", "http://")):
                        return value
        return f"scaar:{quote(self.index)}/{quote(passage.id)}"


class Content:
    """The text so far: accepted sentences, without leading white space, up to a stop sequence.

    Text that may be the start of a stop sequence is held back until the next sentence, by whole
    tokens if the sentences have tokens.
    """

    def __init__(self, link: Callable[[AnyPassage], str], stop: Sequence[str] = ()) -> None:
        self._link = link
        self._stop = stop
        self._passages: dict[str, AnyPassage] = {}
        self._held = ""
        self._held_tokens = TokenQueue()
        self.text = ""
        self.tokens: list[AcceptedToken] = []
        """The tokens of the text, if the sentences have tokens."""
        self.citations: list[Citation] = []
        self.stopped = False
        """Whether a stop sequence has ended the text."""

    def add_passages(self, passages: Iterable[AnyPassage]) -> None:
        """Make passages known that later sentences cite."""
        self._passages.update((each.id, each) for each in passages)

    def add(self, sentence: AcceptedSentence) -> tuple[str, tuple[Citation, ...]]:
        """Add a sentence; return the new text and its citations."""
        if self.stopped:
            return "", ()
        text = sentence.text if self.text or self._held else sentence.text.lstrip()
        self._held_tokens.extend(sentence.tokens, skipped=len(sentence.text) - len(text))
        start = len(self.text) + len(self._held) + len(text) - len(text.lstrip())
        added = self._release(self._held + text)
        end = min(len(self.text) + len(self._held), start + len(text.strip()))
        cited = (
            Citation(start, end, passage.title, self._link(passage))
            for each in sentence.passage_ids
            if start < end and (passage := self._passages.get(each)) is not None
        )
        # Passages of one section of a document have the same title and URL.
        found = tuple(dict.fromkeys(cited))
        self.citations += found
        return added, found

    def finish(self, *, with_sources: bool) -> str:
        """Return the text that was held back, with the list of sources after it."""
        held, self._held = self._held, ""
        if held:
            self.tokens += self._held_tokens.take(len(held))
        sources = self._sources() if with_sources else ""
        if sources and self.tokens:
            self.tokens.append(AcceptedToken(sources))
        self.text += held + sources
        return held + sources

    def _sources(self) -> str:
        """Return the cited passages as a list in Markdown, each once; empty without citations."""
        titles = {each.url: each.title for each in self.citations}
        lines = [
            f"{number}. [{_escaped(title or url)}]({quote(url, safe=_URL)})"
            for number, (url, title) in enumerate(titles.items(), 1)
        ]
        return "\n\nSources:\n\n" + "\n".join(lines) if lines else ""

    def _release(self, text: str) -> str:
        """Append the part of ``text`` that no stop sequence can still change; return that part."""
        found = [at for each in self._stop if (at := text.find(each)) >= 0]
        if found:
            self.stopped, self._held = True, ""
            text = text[: min(found)]
        else:
            kept = max((_overlap(text, each) for each in self._stop), default=0)
            released = self._held_tokens.whole(len(text) - kept)
            self._held, text = text[released:], text[:released]
        self.text += text
        self.tokens += self._held_tokens.take(len(text))
        return text


def _overlap(text: str, stop: str) -> int:
    """Return the length of the longest end of the text with which ``stop`` begins."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)


def _escaped(text: str) -> str:
    line = " ".join(text.split())
    return "".join(f"\\{each}" if each in "\\[]<>`*_" else each for each in line)
