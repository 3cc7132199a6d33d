"""``python -m record.forms run``: the experiment on sentence forms. ``page``: its results."""

import argparse
import sys
from pathlib import Path

from record.forms.arms import write_contributions
from record.forms.drafts import write_drafts
from record.forms.page import write_page
from record.forms.plan import DRAFTS, MODELS, SEED
from scaar.core.errors import NotFound, ScaarError
from scaar.lab.models import LAB_MEANING_ENCODER, model_folder
from scaar.lab.sentences import FORMS
from scaar.lab.world import build_world


def main() -> int:
    """Run the experiment, or write its results from what was stored."""
    parser = argparse.ArgumentParser(prog="python -m record.forms", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="draft and score; the same command resumes")
    run.add_argument("--out", type=Path, required=True, help="folder of drafts and contributions")
    run.add_argument("--drafts", type=int, default=DRAFTS, help="drafts of every form and model")
    page = verbs.add_parser("page", help="write the results")
    page.add_argument("folder", type=Path, metavar="DIR", help="folder of drafts and contributions")
    page.add_argument("--docs", type=Path, required=True, help="folder of the documentation")
    options = parser.parse_args()
    try:
        if options.verb == "page":
            print(write_page(options.folder, options.docs))
        else:
            _run(options.out, options.drafts)
    except ScaarError as error:
        print(f"record.forms: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command resumes", file=sys.stderr)
        return 130
    return 0


def _run(out: Path, drafts: int) -> None:
    trained = [model for model in MODELS if _is_trained(model)]
    for missing, model in (
        (not trained, MODELS[0]),
        (not _is_trained(LAB_MEANING_ENCODER), LAB_MEANING_ENCODER),
    ):
        if missing:
            text = f"{model} is not trained: run make lab-models MODEL={model} first"
            raise NotFound(text, model=model)
    world = build_world(SEED)
    for model in trained:
        for stage, steps in (
            ("drafts", write_drafts(out, model, world, count=drafts)),
            ("contributions", write_contributions(out, model)),
        ):
            for form in steps:
                print(f"{model}, {stage}: {form.name} ({FORMS.index(form) + 1}/{len(FORMS)})")


def _is_trained(model: str) -> bool:
    return (model_folder(model) / "model.onnx").exists()


if __name__ == "__main__":
    sys.exit(main())
