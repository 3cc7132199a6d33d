"""The text of an answer as a client reads it, with its citations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from scaar.core.text.passage_source import source_text
from scaar.core.types import AcceptedSentence, AcceptedToken, Passage, RetrievedPassage
from scaar.gateway.passages import passage_path
from scaar.gateway.token_logprobs import TokenQueue

AnyPassage = Passage | RetrievedPassage
Span = tuple[int, int]
"""Start and end of a part of the text."""
# Characters of URLs that Markdown leaves as they are; it ends a link at a bracket.
_URL = ":/?#@!$&'*+,;=%~[]"


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that supports a part of the text; ``start`` and ``end`` are offsets."""

    start: int
    end: int
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Link:
    """Returns the URL of a passage: its metadata field, else its page at ``gateway``."""

    index: str
    field: str
    gateway: str

    def of(self, passage: AnyPassage) -> str:
        """Return the first http or https URL of the field, else that of the passage itself."""
        for each in passage.metadata:
            if each.name == self.field:
                for value in each.values:
                    if value.startswith(("https://", "http://")):
                        return value
        return f"{self.gateway}{passage_path(self.index, passage.id)}"


class Content:
    """The text so far: accepted sentences, without leading white space, up to a stop sequence.

    Text that may be the start of a stop sequence is held back until the next sentence, by whole
    tokens if the sentences have tokens.
    """

    def __init__(self, link: Callable[[AnyPassage], str], stop: Sequence[str] = ()) -> None:
        self._link = link
        self._stop = stop
        self._passages: dict[str, AnyPassage] = {}
        self._urls: dict[str, str] = {}
        """The URLs of the places of documents that are cited."""
        self._held = ""
        self._held_tokens = TokenQueue()
        self.text = ""
        self.tokens: list[AcceptedToken] = []
        """The tokens of the text, if the sentences have tokens."""
        self.citations: list[Citation] = []
        self.unsupported: list[Span] = []
        """The sentences that were written from passages of which none supports them."""
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
        passages = (self._passages.get(name) for name in sentence.supporting_passage_ids)
        cited = (
            Citation(start, end, *self._source_of(passage))
            for passage in passages
            if start < end and passage is not None
        )
        # Passages of one place of a document are one source.
        citations = tuple(dict.fromkeys(cited))
        self.citations += citations
        if sentence.lacks_support and start < end:
            self.unsupported.append((start, end))
        return added, citations

    def finish(self, *, with_sources: bool) -> str:
        """Return the text that was held back, with the list of sources after it.

        Sentences that no passage supports follow the list.
        """
        held, self._held = self._held, ""
        if held:
            self.tokens += self._held_tokens.take(len(held))
        self.text += held
        notes = self._sources() + self._doubts() if with_sources else ""
        if notes and self.tokens:
            self.tokens.append(AcceptedToken(notes))
        self.text += notes
        return held + notes

    def _source_of(self, passage: AnyPassage) -> tuple[str, str]:
        """Return title and URL of the source of a passage."""
        place, url = source_text(passage), self._link(passage)
        if not place:
            return passage.title, url
        return place, self._urls.setdefault(place, url)

    def _sources(self) -> str:
        """Return the cited passages as a list in Markdown, each once; empty without citations."""
        titles = {each.url: each.title for each in self.citations}
        lines = [
            f"{number}. [{_escaped(title or url)}]({quote(url, safe=_URL)})"
            for number, (url, title) in enumerate(titles.items(), 1)
        ]
        return "\n\nSources:\n\n" + "\n".join(lines) if lines else ""

    def _doubts(self) -> str:
        """Return the sentences that no passage supports as a list in Markdown."""
        lines = [f"- {_escaped(self.text[start:end])}" for start, end in self.unsupported]
        return "\n\nNo passage seems to support:\n\n" + "\n".join(lines) if lines else ""

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
