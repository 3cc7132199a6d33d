"""Opens evaluators: remote ones, those of a folder, and the hosted one of a service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from scaar.compose.answerers import open_answerers, tuned_policies_of
from scaar.compose.databases import evaluator_broker, evaluator_database
from scaar.compose.indexes import ensure_lab_index, indexes_are_local, lab_index_name
from scaar.compose.targets import EMBEDDED, open_service_channel
from scaar.core.calls.breakers import NO_BREAKERS, Breakers
from scaar.core.errors import InvalidRequest
from scaar.core.ports import Evaluator
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.wire import evaluator

if TYPE_CHECKING:
    from scaar.evaluator.service.evaluator import HostedEvaluator
    from scaar.evaluator.service.setup import EvaluationHooks
    from scaar.evaluator.settings import EvaluatorSettings

FOLDER = "embedded:"
"""Prefix of the target of an evaluator over a folder in this process, ``embedded:DIR``."""


def check_folder_target(target: str, *, field: str = "target") -> None:
    """Check that a target ``embedded:DIR`` names a folder.

    Raises:
        InvalidRequest: it does not; names the ``field``.
    """
    folder = target.removeprefix(FOLDER)
    if not folder.strip() or "\0" in folder:
        raise InvalidRequest.of(field, f"must name a folder, {FOLDER}DIR, unlike {target!r}")


@asynccontextmanager
async def open_evaluator(target: str, *, run: bool = False) -> AsyncIterator[Evaluator]:
    """Open the remote evaluator at a target, or for ``embedded:DIR`` one in this process.

    The evaluator of a folder has the database ``DIR/evaluations.sqlite``. With ``run``, it runs
    the unfinished evaluations while it is open, in one process at a time, and creates the folder;
    without it, evaluations can be read and cancelled from any number of processes.

    Raises:
        InvalidRequest: another process runs the evaluations of the folder, or none is named.
        NotFound: the folder has no evaluations to read.
    """
    if not target.startswith(FOLDER):
        async with open_service_channel(target, evaluator.SERVICE_NAME) as channel:
            yield evaluator.RemoteEvaluator(channel, target)
        return
    check_folder_target(target)
    from scaar.evaluator.service.folder import open_folder
    from scaar.evaluator.settings import EvaluatorSettings

    with open_folder(Path(target.removeprefix(FOLDER)), EvaluatorSettings.read(), run) as settings:
        if run:
            async with open_hosted_evaluator(settings, exclusive=True) as hosted:
                yield hosted
        else:
            from scaar.evaluator.service.setup import open_stored_evaluations

            url = evaluator_database(settings)
            async with open_stored_evaluations(settings, url, lab_index_name) as stored:
                yield stored


@asynccontextmanager
async def open_hosted_evaluator(
    settings: "EvaluatorSettings",
    *,
    breakers: Breakers = NO_BREAKERS,
    hooks: "EvaluationHooks | None" = None,
    exclusive: bool = False,
) -> AsyncIterator["HostedEvaluator"]:
    """Open an evaluator in this process, with its database and its answerer.

    ``exclusive`` says that no other process runs evaluations of the database.
    """
    from scaar.evaluator.service.setup import NO_HOOKS
    from scaar.evaluator.service.setup import open_evaluator as open_service

    # Report a missing setting before a model is loaded. A broker that is not used may stay set.
    database_url = evaluator_database(settings)
    broker_url = evaluator_broker(settings) if settings.executor == "celery" else ""
    async with (
        open_answerers(
            settings.orchestrator_target, settings.scorer_targets or {}, breakers=breakers
        ) as (answerers, cached),
        open_service(
            settings,
            answerers.answerer,
            database_url=database_url,
            broker_url=broker_url,
            lab_index=lab_index_name,
            hooks=hooks or NO_HOOKS,
            controls=answerers.controls,
            cached=cached,
            exclusive=exclusive,
            # Callers of a service must not fill its disk with indexes.
            ensure_lab_index=ensure_lab_index if exclusive and _answers_alone(settings) else None,
            tuned_policies=partial(tuned_policies_of, settings.orchestrator_target),
        ) as hosted,
    ):
        yield hosted


def _answers_alone(settings: "EvaluatorSettings") -> bool:
    """Return whether the evaluator answers with the indexes of this machine."""
    embedded = settings.orchestrator_target == EMBEDDED
    return (
        embedded
        and OrchestratorSettings.read().retriever_target == EMBEDDED
        and indexes_are_local()
    )
