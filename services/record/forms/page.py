"""The page of the experiment, made from its stored drafts and contributions."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from record.forms.detection import (
    KEYS,
    UNWEIGHTED,
    FilmSamples,
    FormDetection,
    aurocs,
    found_shares,
    read_detections,
)
from record.forms.effects import finding, gain, is_main_with_free_words, mean_over, slope
from record.forms.plan import ARMS, CONSTANT, RIVALS, SCORER, TRIGGERS
from scaar.core.errors import NotFound
from scaar.evaluator.report.cells import estimated, number, text
from scaar.evaluator.report.markdown import item_to_markdown
from scaar.evaluator.report.model import Column, Table
from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.store.files import make_folder, write_whole

NAME = "sentence-forms-results.md"
_HEAD = """\
<!-- Made by make forms from stored drafts. -->
# Results on sentence forms

Every number is computed from stored drafts.
[Sentence forms](sentence-forms.md) has the plan of the experiment, which was committed before it \
was run."""


def write_page(root: Path, docs: Path) -> Path:
    """Write the results over earlier ones; return the path of the page.

    Raises:
        NotFound: nothing was run.
        ScaarError: a file cannot be written.
    """
    detections = read_detections(root)
    if not detections:
        raise NotFound(f"{root}: has no contributions; run the experiment first", path=str(root))
    samples = FilmSamples(detections)
    make_folder(docs)
    written = docs / NAME
    parts = [_HEAD, *_sentences(detections, samples)]
    tables = (
        _slopes(detections, samples),
        _arms(detections, samples),
        _forms(detections, samples),
    )
    parts += (item_to_markdown(each, figures="") for each in tables)
    write_whole(written, ("\n\n".join(parts) + "\n").encode())
    return written


def _sentences(detections: Sequence[FormDetection], samples: FilmSamples) -> Iterator[str]:
    drafted = sum(each.drafted for each in detections)
    read = sum(len(each.wrong) for each in detections)
    wrong = sum(int(each.wrong.sum()) for each in detections)
    models = ", ".join(f"`{name}`" for name in dict.fromkeys(each.model for each in detections))
    yield (
        f"{drafted:,} drafts of {models}: {read:,} are sentences of the world, "
        f"and {wrong:,} of these are wrong."
    )
    chosen = [each for each in detections if is_main_with_free_words(each)]
    main = [each for each in detections if not each.form.padded]
    lines = []
    for trigger in TRIGGERS:
        rising = _signed(slope(main, samples, trigger, SCORER).estimate)
        over = ", ".join(
            f"`{rival}` by "
            + _signed(gain(chosen, samples, ((trigger, SCORER), (trigger, rival))).estimate)
            for rival in RIVALS
        )
        lines += [
            f"- `{trigger}`: the gain of `{SCORER}` over `{CONSTANT}` rises by {rising} AUROC from "
            "no free words to all.",
            f"- `{trigger}`, forms with free words: `{SCORER}` differs in AUROC from {over}: "
            f"{finding(chosen, samples, trigger)}.",
        ]
    yield "\n".join(lines)


def _signed(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return "an undefined amount"
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def _slopes(detections: Sequence[FormDetection], samples: FilmSamples) -> Table:
    main = [each for each in detections if not each.form.padded]
    padded = [each for each in detections if each.form.padded]
    rows = []
    for trigger in TRIGGERS:
        for arm in ARMS:
            if arm == CONSTANT:
                continue
            found = slope(main, samples, trigger, arm)
            after = slope(padded, samples, trigger, arm)
            rows.append(
                (
                    text(trigger),
                    text(arm),
                    estimated(found.estimate),
                    number(found.estimate.p),
                    number(found.detectable),
                    estimated(after.estimate),
                )
            )
    return Table(
        "slopes",
        "Slope of the gain in AUROC over the constant, from no free words to all",
        (
            Column("trigger", "trigger"),
            Column("arm", "weights"),
            Column("slope", "slope", 3, signed=True),
            Column("p", "p", 3),
            Column("detectable", "detectable", 3),
            Column("padded", "slope, padded", 3, signed=True),
        ),
        tuple(rows),
        note='"Detectable" is the smallest effect that 80% of such experiments would find.',
    )


def _arms(detections: Sequence[FormDetection], samples: FilmSamples) -> Table:
    chosen = [each for each in detections if is_main_with_free_words(each)]
    rows = []
    for trigger, arm in KEYS:
        against = (trigger, CONSTANT) if arm else (UNWEIGHTED, "")
        same = (trigger, arm) == against
        area = mean_over(chosen, samples, (trigger, arm), aurocs)
        over = gain(chosen, samples, ((trigger, arm), against))
        share = mean_over(chosen, samples, (trigger, arm), found_shares)
        shares = gain(chosen, samples, ((trigger, arm), against), found_shares)
        rows.append(
            (
                text(trigger),
                text(arm or "-"),
                estimated(estimate(area)),
                number(None, missing="-") if same else estimated(over.estimate),
                number(None, missing="-") if same else number(over.detectable),
                estimated(estimate(share)),
                number(None, missing="-") if same else estimated(shares.estimate),
            )
        )
    return Table(
        "arms",
        "Detection of wrong drafts in forms with free words, mean over forms",
        (
            Column("trigger", "trigger"),
            Column("arm", "weights"),
            Column("auroc", "AUROC", 3),
            Column("gain", "gain", 3, signed=True),
            Column("detectable", "detectable", 3),
            Column("found", "share found", 3),
            Column("found_gain", "gain", 3, signed=True),
        ),
        tuple(rows),
        note=(
            "Gains are over the constant with the same trigger, and those of scores without "
            'weights over flare. "Share found" is that of wrong drafts if as many drafts are '
            "retrieved for as are wrong."
        ),
    )


def _forms(detections: Sequence[FormDetection], samples: FilmSamples) -> Table:
    primary = TRIGGERS[0]
    rows = []
    for each in detections:
        found = {
            key: samples.of(each, key, aurocs)
            for key in (
                (UNWEIGHTED, ""),
                ("value_surprisal", ""),
                (primary, CONSTANT),
                (primary, SCORER),
                (primary, "oracle_mask"),
            )
        }
        over = found[primary, SCORER] - found[primary, CONSTANT]
        rows.append(
            (
                text(each.model),
                text(each.form.name),
                number(len(each.wrong)),
                number(float(each.wrong.mean()) if len(each.wrong) else None),
                number(each.length_kept),
                number(each.style_share),
                *(number(_value(series[0])) for series in found.values()),
                estimated(estimate(over)),
            )
        )
    return Table(
        "forms",
        "AUROC by form",
        (
            Column("model", "model"),
            Column("form", "form"),
            Column("drafts", "drafts"),
            Column("wrong", "wrong", 2),
            Column("length", "length kept", 2),
            Column("style", "style", 2),
            Column("flare", "flare", 3),
            Column("values", "value_surprisal", 3),
            Column("constant", "constant", 3),
            Column("scorer", "scorer", 3),
            Column("oracle", "oracle_mask", 3),
            Column("gain", "scorer over constant", 3, signed=True),
        ),
        tuple(rows),
        note='"Style" is the mean share of free words in the surprisal of a draft.',
    )


def _value(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
