"""Live trace of an answer: every drafted word with its probability and its threshold.

No information is in colour alone: an uncertain word has a mark and the sign ``<``.
"""

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.text import Text

from scaar.cli.ask.sources import AnswerSources
from scaar.core.plurals import counted
from scaar.core.queries import FORMULATIONS
from scaar.core.text.decimals import decimals_apart
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Abstention,
    AbstentionReason,
    Answer,
    AnswerDrafted,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    CandidatesScored,
    ContinuationKind,
    EffectivePolicy,
    ExcludeSeen,
    Fusion,
    GateJudged,
    JudgedWord,
    LogprobKind,
    Moment,
    PassagesFiltered,
    PassagesRetrieved,
    PromptRead,
    Provenance,
    QueryBuilt,
    QuestionRewritten,
    Rerank,
    RetrievalDecision,
    RetrievalWeighed,
    RetrievedPassage,
    RewriteOutcome,
    SearchMode,
    SearchRequested,
    SentenceAccepted,
    SentenceFilter,
    SentenceJudged,
    SentenceRegenerated,
    SettingSource,
    TokenDrafted,
    Usage,
)

LABEL_WIDTH = 11
MARK = "▲"
PASSAGE_CHARACTERS = 240
"""Characters of a passage that are shown."""


THOUGHT_CHARACTERS = 400
"""Characters that are shown of what the model writes before a request."""

SENTENCE_CHARACTERS = 80
"""Characters that are shown of a sentence that no passage supports."""


class TracePrinter:
    """Prints the events of one answer, with ``contributions`` also those of each word."""

    def __init__(self, console: Console, *, contributions: bool = False) -> None:
        self._console = console
        self._contributions = contributions
        self._reading: Status | None = None
        self._drafting = -1
        self._as_a_whole = False
        self._withholds = False
        self._sources = AnswerSources()

    def show(self, event: AnswerEvent) -> None:
        """Print one event."""
        if isinstance(event, PromptRead):
            self._read(event)
            return
        self.close()
        self._sources.add(event)
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
                fell_back = " (empty, replaced by the question)" if event.query.fell_back else ""
                self._labelled("query", f"[cyan]{escape(event.query.text)}[/]{fell_back}")
                if event.query.fused_with:
                    self._labelled("and", f"[cyan]{escape(event.query.fused_with)}[/]")
            case PassagesRetrieved():
                self._passages(event.passages)
                if event.excluded_ids:
                    count = _count(len(event.excluded_ids), "passage")
                    self._labelled("", f"[dim]without {count} read before[/]")
            case PassagesFiltered():
                self._filtered(event)
            case SentenceRegenerated():
                self._labelled("again", f"[green]{escape(event.text.strip())}[/]")
                if event.uncertain:
                    self._labelled("", "[dim]still uncertain: its passages are excluded[/]")
            case SentenceAccepted():
                self._accepted(event)
            case AnswerDrafted():
                self._labelled(
                    f"round {event.round}", "[dim]drafted: retrieve for it, write it again[/]"
                )
            case QuestionRewritten():
                self._rewritten(event)
            case SearchRequested():
                self._requested(event)
            case RetrievalWeighed():
                self._weighed(event)
            case CandidatesScored():
                self._scored(event)
            case AnswerFinished():
                self._finished(event.answer)

    def close(self) -> None:
        """Remove the line that shows that the model reads, if there is one."""
        if self._reading is not None:
            self._reading.stop()
            self._reading = None

    def _read(self, event: PromptRead) -> None:
        if not self._console.is_terminal:
            return
        text = f"reading {counted(event.unread_tokens, 'token')}"
        if self._reading is None:
            self._end_draft()
            self._reading = self._console.status(text)
            self._reading.start()
        else:
            self._reading.update(text)

    def _started(self, event: AnswerStarted) -> None:
        provenance = event.provenance
        trigger = provenance.policy.trigger
        self._as_a_whole = trigger is not None and not TRIGGERS[trigger].by_word
        self._withholds = trigger is not None and TRIGGERS[trigger].withholds
        parts = [f"model {provenance.model}"]
        if provenance.scorer:
            parts.append(f"scorer {provenance.scorer}")
        if provenance.index:
            parts.append(f"index {provenance.index}")
        self._labelled("policy", f"[bold]{escape(_policy_text(provenance.policy))}[/]")
        self._labelled("with", f"[dim]{escape(', '.join(parts))}[/]")
        if noted := _notes(provenance):
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
        probability, threshold = decimals_apart(event.probability, event.threshold)
        relation = "is at least the" if event.passed else "is below the"
        features = ", ".join(
            f"{name.replace('_', ' ')} {value:.2g}" for name, value in event.features.items()
        )
        policy = event.policy
        if event.top_k is not None:
            policy += f" with top_k {event.top_k}"
        self._labelled(
            "gate",
            f"[bold]{policy}[/] answers: judgement {probability} {relation} threshold "
            f"{threshold} [dim]({features})[/]"
            if event.threshold
            else f"[bold]{event.policy}[/] answers, chosen by {event.gate} [dim]({features})[/]",
        )

    def _judged(self, event: SentenceJudged) -> None:
        if self._withholds:
            self._verified(event)
            return
        width = self._console.width - LABEL_WIDTH
        for line in _word_rows(event.words, width, contributions=self._contributions):
            self._console.print(Text.assemble(" " * LABEL_WIDTH, line))
        if event.without_contributions:
            self._labelled(
                "! unscored",
                "[yellow]the scorer cannot read this draft: it is judged without contributions[/]",
            )
        if event.scorer_mismatch:
            text = "contributions, thresholds and decision are of a scorer that does not fit"
            self._labelled("! mismatch", f"[yellow]{text}[/]")
        if event.abstains:
            then = "retrieve" if event.retrieving else "but the budget is used up: accepted"
            self._labelled(f"{MARK} unknown", f"[bold red]the model does not know[/]: {then}")
            return
        if event.trigger is None:
            sure = "sentence" if self._as_a_whole else "every word"
            self._labelled("", f"[dim]{sure} is certain enough: accepted[/]")
            return
        word = event.words[event.trigger]
        then = "retrieve" if event.retrieving else "but the budget is used up: accepted"
        text = f"[bold red]{escape(word.text)}[/] {_reason(word)}: {then}"
        self._labelled(f"{MARK} trigger", text)

    def _verified(self, event: SentenceJudged) -> None:
        """Print which words of the answer no passage that was read has."""
        if event.abstains:
            reason = "[bold red]the model does not know[/]"
        elif event.trigger is not None:
            words = ", ".join(
                escape(word.text.strip(".,;:")) for word in event.words if word.uncertain
            )
            reason = f"not in the passages: [bold red]{words}[/]"
        else:
            self._labelled("verified", "[dim]the passages have the words of the answer[/]")
            return
        then = "look again" if event.retrieving else "no further search"
        self._labelled(f"{MARK} verify", f"{reason}: {then}")

    def _rewritten(self, event: QuestionRewritten) -> None:
        kept = event.outcome is not RewriteOutcome.REWRITTEN
        reason = f"not rewritten, {event.outcome.replace('_', ' ')}" if kept else "rewritten"
        number = event.dropped_messages
        dropped = f"; without the oldest {_count(number, 'message')}" if number else ""
        text = f"[bold]{escape(event.question)}[/] [dim]{reason}{dropped}[/]"
        self._labelled("question", text)

    def _requested(self, event: SearchRequested) -> None:
        thought = textwrap.shorten(event.text, THOUGHT_CHARACTERS, placeholder=" …")
        self._labelled("thinks", f"[italic]{escape(thought)}[/]")
        known = event.probability is not None
        probability = f", probability {event.probability:.2f}" if known else ""
        self._labelled(
            f"request {event.number}",
            f"[bold]{escape(event.query) or '(empty)'}[/] [dim]{event.decision}{probability}[/]",
        )

    def _weighed(self, event: RetrievalWeighed) -> None:
        probability, threshold = decimals_apart(event.probability, event.threshold)
        above = event.probability > event.threshold
        relation = "above the" if above else "not above the"
        reason = f"probability of retrieving {probability}, {relation} threshold {threshold}"
        if event.decision is RetrievalDecision.CONTINUE:
            reason = "the model prefers the last passage to another decision"
        self._console.print()
        self._labelled(f"segment {event.sentence + 1}", f"[bold]{event.decision}[/]: {reason}")

    def _scored(self, event: CandidatesScored) -> None:
        for number, each in enumerate(event.candidates):
            kept = number == event.kept
            text = escape(each.text.strip()) or "(empty)"
            mark = f"{MARK} {number + 1}" if kept else str(number + 1)
            scores = (
                f"score {each.score:.2f}: likelihood {each.likelihood:.2f}, "
                f"relevance {each.relevance:.2f}, support {each.support:.2f}, "
                f"utility {each.utility:.2f}"
            )
            self._labelled(mark, f"[bold green]{text}[/]  kept" if kept else f"[italic]{text}[/]")
            self._labelled("", f"[dim]{scores}, from {escape(each.passage_id)}[/]")

    def _passages(self, passages: tuple[RetrievedPassage, ...]) -> None:
        if not passages:
            self._labelled("passages", "[dim]none found[/]")
        for passage in passages:
            label = "passages" if passage.rank == 1 else ""
            text = textwrap.shorten(passage.text, PASSAGE_CHARACTERS, placeholder=" …")
            head = f"[{passage.rank}] [bold]{escape(passage.title or passage.id)}[/]"
            self._labelled(label, f"{head}  [dim]{escape(text)}[/]")

    def _filtered(self, event: PassagesFiltered) -> None:
        if event.fell_back:
            self._labelled("filter", "[dim]no useful sentence: the whole passages are used[/]")
            return
        kept = [each.text for passage in event.passages for each in passage.sentences if each.kept]
        count = sum(len(passage.sentences) for passage in event.passages)
        for number, text in enumerate(kept):
            label = "" if number else "filter"
            self._labelled(label, f"keeps [bold]{escape(text)}[/]")
        self._labelled("", f"[dim]{len(kept)} of {_count(count, 'sentence')} kept[/]")

    def _accepted(self, event: SentenceAccepted) -> None:
        if (degraded := event.accepted.degraded) is not None:
            failure = f"{degraded.reason} {degraded.stage}: {degraded.message}"
            self._labelled(
                "! degraded", f"[bold yellow]{escape(failure)}[/]; the draft is accepted"
            )

    def _finished(self, answer: Answer) -> None:
        self._console.print()
        abstained = answer.abstained
        withheld = abstained is not None and abstained.reason is AbstentionReason.UNSUPPORTED
        given = "" if withheld else answer.shown
        self._labelled("answer", f"[bold]{escape(given) or '(none)'}[/]")
        if abstained is not None:
            self._labelled("! abstain", f"[bold yellow]{_abstention_text(abstained)}[/]")
        elif unsupported := self._sources.unsupported():
            self._labelled("", f"[dim]{escape(_unsupported_text(unsupported, answer))}[/]")
        self._sources_of(answer)
        self._labelled("usage", usage_text(answer.usage))

    def _sources_of(self, answer: Answer) -> None:
        abstained = answer.abstained
        label, sources = "sources", self._sources.supporting()
        if abstained is not None and abstained.reason is not AbstentionReason.GATE:
            label, sources = "searched", self._sources.read()
        elif not sources and abstained is None:
            label, sources = "read", self._sources.read()
        for number, source in enumerate(sources):
            self._labelled("" if number else label, escape(source))

    def _labelled(self, label: str, markup: str) -> None:
        body = Text.from_markup(markup)
        lines = body.wrap(self._console, max(20, self._console.width - LABEL_WIDTH))
        for number, line in enumerate(lines):
            self._console.print(Text.assemble(_label(label if number == 0 else ""), line))


def _abstention_text(abstained: Abstention) -> str:
    if abstained.reason is AbstentionReason.NOT_IN_DOCUMENTS:
        return "not in the documents"
    if abstained.reason is AbstentionReason.UNSUPPORTED:
        return "not in the documents: no passage has what the model wrote"
    p_correct, limit = decimals_apart(abstained.p_correct, abstained.limit)
    return f"P(correct) {p_correct} is below {limit}"


def _unsupported_text(unsupported: Sequence[str], answer: Answer) -> str:
    """Return which sentences no passage supports."""
    if len(unsupported) == len(answer.sentences):
        return "no passage seems to support this answer"
    quoted = (textwrap.shorten(text, SENTENCE_CHARACTERS, placeholder=" …") for text in unsupported)
    return "\n".join(f"no passage seems to support “{text}”" for text in quoted)


def usage_text(usage: Usage) -> str:
    """Return the usage of an answer in one line."""
    thinking = _count(usage.thinking_tokens, "thinking token")
    prompt = _count(usage.prompt_tokens, "prompt token")
    if usage.uncounted_calls:
        prompt = f"at least {prompt}" if usage.prompt_tokens else "unknown prompt tokens"
    if 0 < usage.evaluated_prompt_tokens < usage.prompt_tokens:
        prompt = f"{prompt} ({usage.evaluated_prompt_tokens} read)"
    parts = [
        _count(usage.retrievals, "retrieval"),
        _count(usage.llm_calls, "model call"),
        _count(usage.generated_tokens, "generated token"),
        *([thinking] if usage.thinking_tokens else []),
        prompt,
        *(
            [f"{_count(usage.unscored_sentences, 'sentence')} unscored"]
            if usage.unscored_sentences
            else []
        ),
        f"{usage.latency_ms:.0f} ms",
    ]
    return ", ".join(parts)


def _notes(provenance: Provenance) -> str:
    """Describe processed prompts and log-probabilities, and mismatches of policy and scorer."""
    notes = []
    if provenance.continuation is ContinuationKind.RESTATED:
        notes.append("the model continues from restated text")
    if provenance.logprob_kind is LogprobKind.PROCESSED:
        notes.append("log-probabilities are processed, not the model's own")
    notes += provenance.artefact_mismatch
    if provenance.scorer_mismatch:
        notes.append(f"mismatch: {provenance.scorer_mismatch}")
    return "; ".join(notes)


def _policy_text(policy: EffectivePolicy) -> str:
    text = _ungated_text(policy)
    return text if policy.gate is None else f"{text}, gate {policy.gate}"


def _ungated_text(policy: EffectivePolicy) -> str:
    sources = dict(policy.sources)
    names = {
        SettingSource.MODEL: " (the model's)",
        SettingSource.REQUEST: " (requested)",
        SettingSource.GATE: " (the gate's)",
        SettingSource.ARTEFACT: " (tuned)",
    }

    def setting(name: str, value: str) -> str:
        return f"{name} {value}{names.get(sources.get(name, SettingSource.PAPER), '')}"

    parts = []
    if policy.window_tokens:
        parts.append(setting("window_tokens", str(policy.window_tokens)))
    if policy.trigger is not None:
        parts += [setting("trigger", str(policy.trigger)), setting("theta", f"{policy.theta:g}")]
    if "min_count" in sources:
        parts.append(setting("min_count", str(policy.min_count)))
    if not {Moment.BEFORE_ANSWER, Moment.ON_REQUEST}.issuperset(policy.moments):
        parts.append(setting("query", policy.query.formulation))
        rule = FORMULATIONS.get(policy.query.formulation)
        if rule is not None and "alpha" in rule.settings:
            parts.append(setting("alpha", f"{policy.query.alpha:g}"))
    if policy.mask_below is not None:
        parts.append(setting("mask_below", f"{policy.mask_below:g}"))
    if policy.moments:
        parts.append(setting("top_k", str(policy.top_k)))
    if policy.max_passages:
        parts.append(setting("max_passages", str(policy.max_passages)))
    if Moment.ON_REQUEST in policy.moments:
        parts.append(setting("dialect", policy.dialect))
        parts.append(setting("max_searches", str(policy.max_searches)))
    if Moment.ON_REFLECTION in policy.moments:
        parts.append(setting("retrieve_above", f"{policy.retrieve_above:g}"))
    if policy.skip_above is not None:
        parts.append(setting("skip_above", f"{policy.skip_above:g}"))
    if policy.rounds > 1:
        parts.append(setting("rounds", str(policy.rounds)))
    if policy.search_mode is not SearchMode.INDEX:
        parts.append(setting("search_mode", policy.search_mode))
    if policy.rerank is not Rerank.NONE:
        parts.append(setting("rerank", policy.rerank))
        parts.append(setting("rerank_depth", str(policy.rerank_depth)))
    if policy.fusion is not Fusion.RANK:
        parts.append(setting("fusion", policy.fusion))
    if policy.exclude_seen is not ExcludeSeen.NONE:
        parts.append(setting("exclude_seen", policy.exclude_seen))
    if policy.sentence_filter is not SentenceFilter.NONE:
        parts.append(setting("sentence_filter", policy.sentence_filter))
    return f"{policy.name}: {', '.join(parts)}" if parts else policy.name


def _label(text: str) -> Text:
    return Text(text.rjust(LABEL_WIDTH - 2) + "  ", style="bold blue" if text else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _reason(word: JudgedWord) -> str:
    """Explain why the word triggered retrieval."""
    if word.value is None:
        return _comparison(word)
    value, threshold = decimals_apart(word.value, word.threshold)
    if not word.uncertain:
        return f"weighs most in a sentence of {value}, above its threshold {threshold}"
    parts = []
    if word.entropy is not None:
        parts.append(f"entropy {word.entropy:.2f}")
    if word.attention is not None:
        parts.append(f"attention {word.attention:.2f}")
    of = f" ({', '.join(parts)})" if parts else ""
    return f"has {value}{of}, above its threshold {threshold}"


def _comparison(word: JudgedWord) -> str:
    if word.probability is None:
        return "has no known probability, which counts as 0"
    if word.capped and word.threshold >= 1:
        return f"has probability {word.probability:.2f}, but its threshold was raised beyond 1"
    probability, threshold = decimals_apart(word.probability, word.threshold)
    capped = ", the cap" if word.capped else ""
    return f"has probability {probability}, below its threshold {threshold}{capped}"


def _word_rows(
    words: tuple[JudgedWord, ...], width: int, *, contributions: bool = False
) -> list[Text]:
    """Lay out the words in columns, each above its probability and its threshold."""
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
        shown = word.probability if word.value is None else word.value
        above, below = (">", "≤") if word.value is not None else ("<", "≥")
        # A sentence that is uncertain as a whole has no marked word.
        over = word.uncertain or (word.value is not None and word.value > word.threshold)
        sign = above if over else below
        mark = f" {MARK}" if word.uncertain else ""
        probability = "?" if shown is None else f"{shown:.2f}"
        texts.append(f"{word.text}{mark}".ljust(width), style=style or "bold")
        probabilities.append(f"  {probability}".ljust(width), style=style or "green")
        thresholds.append(f"{sign} {word.threshold:.2f}".ljust(width), style=style or "dim")
        contribution = "?" if word.contribution is None else f"{word.contribution:.2f}"
        contributed.append(f"r {contribution}".ljust(width), style="dim")
    return [texts, probabilities, thresholds, *([contributed] if contributions else [])]
