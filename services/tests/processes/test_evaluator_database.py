"""An evaluator that cannot write is not ready, and says nothing of its database to callers."""

import asyncio
import resource
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from scaar.core.errors import BackendUnavailable
from scaar.database.database import open_database
from scaar.evaluator.store.database.schema import SCHEMA
from scaar.runtime.channels import open_channel
from scaar.testing.conformance.evaluator import QUESTIONS, REQUEST, sent
from scaar.testing.processes import running_service
from scaar.wire.evaluator import SERVICE_NAME, RemoteEvaluator

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


async def until_status(channel: grpc.aio.Channel, status: int) -> None:
    request = health_pb2.HealthCheckRequest(service=SERVICE_NAME)
    async with asyncio.timeout(60):
        async for reported in health_pb2_grpc.HealthStub(channel).Watch(request):
            if reported.status == status:
                return


async def test_an_evaluator_whose_disk_is_full_is_not_ready_until_there_is_room(
    tmp_path: Path,
) -> None:
    nowhere = {"SCAAR_EVALUATOR_ORCHESTRATOR_TARGET": "dns:///127.0.0.1:1"}
    with running_service("evaluator", tmp_path / "home", **nowhere) as service:
        async with open_channel(service.target) as channel:
            await until_status(channel, SERVING)
            # No file may grow beyond this: what a full disk is to one that is written.
            pid = service.process.pid
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            evaluator = RemoteEvaluator(channel, service.target)
            with pytest.raises(BackendUnavailable) as caught:
                await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
            assert caught.value.message == "the database of evaluations is not available"
            assert caught.value.metadata == {}
            await until_status(channel, NOT_SERVING)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, UNLIMITED)
            await until_status(channel, SERVING)
            created = await evaluator.create_evaluation(REQUEST, sent(QUESTIONS))
            assert created.total == 30
        # The log has it all.
        assert any(f"{tmp_path}/home/evaluations.sqlite" in line for line in service.output_lines())


async def test_a_database_whose_file_is_gone_cannot_be_written(tmp_path: Path) -> None:
    async with open_database(f"sqlite:///{tmp_path}/gone.sqlite", SCHEMA) as database:
        # Open: SQLite would write on, to a file that nobody finds again.
        async with database.reading():
            pass
        (tmp_path / "gone.sqlite").unlink()
        with pytest.raises(BackendUnavailable, match="is not available") as caught:
            await database.check_writable()
    assert str(tmp_path) not in caught.value.message
    assert str(tmp_path) in caught.value.detail
