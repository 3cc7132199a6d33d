"""The loop, live, for people: every drafted word with its probability against its threshold.

Nothing is told by colour alone: an uncertain word carries a mark and stands against ``<``.
"""

import textwrap

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    ContinuationKind,
    EffectivePolicy,
    Formulation,
    GateJudged,
    JudgedWord,
    LogprobKind,
    PassagesRetrieved,
    Provenance,
    QueryBuilt,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    SettingSource,
    TokenDrafted,
    Usage,
    When,
)

LABEL_WIDTH = 11
MARK = "▲"
PASSAGE_CHARACTERS = 240
"""How much of a passage is shown."""


class TracePrinter:
    """Prints the events of one answer as they come; with ``contributions`` those too."""

    def __init__(self, console: Console, *, contributions: bool = False) -> None:
        self._console = console
        self._contributions = contributions
        self._drafting = -1
        self._as_a_whole = False

    def show(self, event: AnswerEvent) -> None:
        """Prints one event."""
        if not isinstance(event, TokenDrafted):
            self._end_draft()
        match event:
            case AnswerStarted():
                self._started(event)
            case TokenDrafted():
                self._token(event)
            case GateJudged():
                self._gate(event)
            case SentenceJudged():
                self._judged(event)
            case QueryBuilt():
                fell_back = " (nothing to ask: the question)" if event.query.fell_back else ""
                self._labelled("query", f"[cyan]{escape(event.query.text)}[/]{fell_back}")
            case PassagesRetrieved():
                self._passages(event.passages)
            case SentenceRegenerated():
                self._labelled("again", f"[green]{escape(event.text.strip())}[/]")
            case SentenceAccepted():
                self._accepted(event)
            case AnswerFinished():
                self._finished(event.answer)

    def _started(self, event: AnswerStarted) -> None:
        made = event.provenance
        trigger = made.policy.trigger
        self._as_a_whole = trigger is not None and not TRIGGERS[trigger].by_word
        parts = [f"model {made.model}"]
        if made.scorer:
            parts.append(f"scorer {made.scorer}")
        if made.index:
            parts.append(f"index {made.index}")
        self._labelled("policy", f"[bold]{escape(_policy_text(made.policy))}[/]")
        self._labelled("with", f"[dim]{escape(', '.join(parts))}[/]")
        if noted := _notes(made):
            self._labelled("note", f"[yellow]{noted}[/]")

    def _token(self, event: TokenDrafted) -> None:
        text = event.token.text
        if self._drafting != event.sentence:
            self._drafting = event.sentence
            self._console.print()
            self._console.print(_label(f"draft {event.sentence + 1}"), end="")
            text = text.lstrip()
        self._console.print(Text(text, style="italic"), end="", soft_wrap=True)

    def _end_draft(self) -> None:
        if self._drafting >= 0:
            self._console.print()
            self._drafting = -1

    def _gate(self, event: GateJudged) -> None:
        probability, threshold = _apart(event.probability, event.threshold)
        held = "at least its" if event.long_tail else "below its"
        kind = "long-tail" if event.long_tail else "common"
        then = "the policy may retrieve" if event.long_tail else "nothing is retrieved"
        self._labelled(
            "gate",
            f"[bold]{kind}[/], {probability} being {held} threshold {threshold}: {then} "
            f"[dim](words' frequency {event.average_frequency:.2g}, the rarest's "
            f"{event.rarest_frequency:.2g}, draft's confidence {event.confidence:.2f})[/]",
        )

    def _judged(self, event: SentenceJudged) -> None:
        width = self._console.width - LABEL_WIDTH
        for line in _word_rows(event.words, width, contributions=self._contributions):
            self._console.print(Text.assemble(" " * LABEL_WIDTH, line))
        if event.trigger is None:
            sure = "sure enough as a whole" if self._as_a_whole else "every word is sure enough"
            self._labelled("", f"[dim]{sure}: accepted[/]")
            return
        word = event.words[event.trigger]
        then = "retrieve" if event.retrieving else "but nothing is left to spend on it: accepted"
        self._labelled(
            f"{MARK} trigger",
            f"[bold red]{escape(word.text)}[/] {_reason(word)}: {then}",
        )

    def _passages(self, passages: tuple[RetrievedPassage, ...]) -> None:
        if not passages:
            self._labelled("passages", "[dim]none found[/]")
        for passage in passages:
            label = "passages" if passage.rank == 1 else ""
            text = textwrap.shorten(passage.text, PASSAGE_CHARACTERS, placeholder=" …")
            head = f"[{passage.rank}] [bold]{escape(passage.title or passage.id)}[/]"
            self._labelled(label, f"{head}  [dim]{escape(text)}[/]")

    def _accepted(self, event: SentenceAccepted) -> None:
        if (degraded := event.accepted.degraded) is not None:
            told = f"{degraded.reason} {degraded.stage}: {degraded.message}"
            self._labelled("! degraded", f"[bold yellow]{escape(told)}[/]; the draft stands")

    def _finished(self, answer: Answer) -> None:
        self._console.print()
        self._labelled("answer", f"[bold]{escape(answer.answer) or '(none)'}[/]")
        self._labelled("bill", bill_text(answer.usage))

    def _labelled(self, label: str, markup: str) -> None:
        body = Text.from_markup(markup)
        lines = body.wrap(self._console, max(20, self._console.width - LABEL_WIDTH))
        for number, line in enumerate(lines):
            self._console.print(Text.assemble(_label(label if number == 0 else ""), line))


def bill_text(usage: Usage) -> str:
    """What an answer cost, in one line."""
    return (
        f"{_count(usage.retrievals, 'retrieval')}, {_count(usage.llm_calls, 'model call')}, "
        f"{_count(usage.generated_tokens, 'generated token')}, "
        f"{_count(usage.prompt_tokens, 'prompt token')}, {usage.latency_ms:.0f} ms"
    )


def _notes(made: Provenance) -> str:
    """Where the model is not asked, or does not tell, as it would by itself; mostly nothing."""
    notes = []
    if made.continuation is ContinuationKind.RESTATED:
        notes.append("the model goes on from restated text")
    if made.logprob_kind is LogprobKind.PROCESSED:
        notes.append("log-probabilities are processed, not the model's own")
    return "; ".join(notes)


def _policy_text(policy: EffectivePolicy) -> str:
    text = _ungated_text(policy)
    return text if policy.gate is None else f"{text}, gate {policy.gate}"


def _ungated_text(policy: EffectivePolicy) -> str:
    sources = dict(policy.sources)
    names = {
        SettingSource.MODEL: " (the model's)",
        SettingSource.REQUEST: " (asked for)",
        SettingSource.GATE: " (the gate's)",
    }

    def said(name: str, value: str) -> str:
        return f"{name} {value}{names.get(sources.get(name, SettingSource.PAPER), '')}"

    match policy.when:
        case When.NEVER:
            return policy.name
        case When.ONCE:
            return f"{policy.name}: {said('top_k', str(policy.top_k))}"
        case When.EVERY_SENTENCE | When.EVERY_WINDOW:
            parts = [said("query", policy.query.formulation), said("top_k", str(policy.top_k))]
            if policy.window_tokens:
                parts.insert(0, said("window_tokens", str(policy.window_tokens)))
            if policy.max_passages:
                parts.append(said("max_passages", str(policy.max_passages)))
            return f"{policy.name}: {', '.join(parts)}"
        case When.UNCERTAIN_DRAFT:
            parts = [
                said("trigger", str(policy.trigger)),
                said("theta", f"{policy.theta:g}"),
                said("query", policy.query.formulation),
            ]
            if policy.query.formulation is Formulation.PFQ:
                parts.append(said("alpha", f"{policy.query.alpha:g}"))
            return f"{policy.name}: {', '.join([*parts, said('top_k', str(policy.top_k))])}"


def _label(text: str) -> Text:
    return Text(text.rjust(LABEL_WIDTH - 2) + "  ", style="bold blue" if text else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _reason(word: JudgedWord) -> str:
    """Why the word had its sentence looked up for."""
    if word.value is None:
        return _comparison(word)
    value, threshold = _apart(word.value, word.threshold)
    if not word.uncertain:
        return f"weighs most in a sentence of {value}, above its threshold {threshold}"
    made = []
    if word.entropy is not None:
        made.append(f"entropy {word.entropy:.2f}")
    if word.attention is not None:
        made.append(f"attention {word.attention:.2f}")
    of = f" ({', '.join(made)})" if made else ""
    return f"has {value}{of}, above its threshold {threshold}"


def _comparison(word: JudgedWord) -> str:
    if word.probability is None:
        return "has no known probability, which counts as 0"
    if word.capped and word.threshold >= 1:
        return f"has probability {word.probability:.2f}, but its threshold was raised beyond 1"
    probability, threshold = _apart(word.probability, word.threshold)
    capped = ", the cap" if word.capped else ""
    return f"has probability {probability}, below its threshold {threshold}{capped}"


def _apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers, with as many decimals as tell them apart."""
    for decimals in (2, 4, 6):
        texts = f"{one:.{decimals}f}", f"{other:.{decimals}f}"
        if texts[0] != texts[1]:
            break
    return texts


def _word_rows(
    words: tuple[JudgedWord, ...], width: int, *, contributions: bool = False
) -> list[Text]:
    """The words in columns, each over its probability and its threshold, wrapped to the width."""
    contributions = contributions and any(word.contribution is not None for word in words)
    rows: list[Text] = []
    line: list[tuple[JudgedWord, int]] = []
    used = 0
    for word in words:
        column = max(len(word.text) + 2 * word.uncertain, len("≥ 0.00")) + 2
        if line and used + column > width:
            rows += _columns(line, contributions=contributions)
            line, used = [], 0
        line.append((word, column))
        used += column
    return rows + (_columns(line, contributions=contributions) if line else [])


def _columns(line: list[tuple[JudgedWord, int]], *, contributions: bool) -> list[Text]:
    texts, probabilities, thresholds, contributed = Text(), Text(), Text(), Text()
    for word, width in line:
        style = "bold red" if word.uncertain else ""
        held = word.probability if word.value is None else word.value
        above, below = (">", "≤") if word.value is not None else ("<", "≥")
        # Of a sentence that is uncertain as a whole, no word is marked.
        over = word.uncertain or (word.value is not None and word.value > word.threshold)
        sign = above if over else below
        mark = f" {MARK}" if word.uncertain else ""
        probability = "?" if held is None else f"{held:.2f}"
        texts.append(f"{word.text}{mark}".ljust(width), style=style or "bold")
        probabilities.append(f"  {probability}".ljust(width), style=style or "green")
        thresholds.append(f"{sign} {word.threshold:.2f}".ljust(width), style=style or "dim")
        contribution = "?" if word.contribution is None else f"{word.contribution:.2f}"
        contributed.append(f"r {contribution}".ljust(width), style="dim")
    return [texts, probabilities, thresholds, *([contributed] if contributions else [])]
