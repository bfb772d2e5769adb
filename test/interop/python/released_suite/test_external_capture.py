"""The package's own tests of external capture, with a proxy of ours in the place of its model server.

Nothing of them is repeated here: the functions are imported, and what they get to hold is ours (standins.py). Each one that cannot pass says why, and fails this run if
it does.
"""

import os
from types import SimpleNamespace

import pytest
from standins import EngineServer, ProxyApp, ProxyLedger, forget

from nemo_gym.base_responses_api_model import _reconstruct_streamed_response
from responses_api_models.vllm_model.tests import test_external_capture_streaming as streaming
from responses_api_models.vllm_model.tests import test_token_capture_integration as integration

ENGINE = EngineServer(int(os.environ["ENGINE_PORT"]))


test_external_capture_routes = streaming.test_external_capture_routes
test_two_call_continuation_from_served_sse = streaming.test_two_call_continuation_from_served_sse
test_external_staging_resolves_served_reasoning_history = integration.test_external_staging_resolves_served_reasoning_history
test_synthetic_completion_leaves_call_uncommitted = streaming.test_synthetic_completion_leaves_call_uncommitted
test_worker_completion_without_coordinates_still_fails_closed = (
    streaming.test_worker_completion_without_coordinates_still_fails_closed
)


class Finalize:
    """Stands for their handler's `finalize_response`: awaited once for each reply that was served."""

    def __init__(self, app):
        self._app = app

    @property
    def await_count(self):
        return self._app.served

    @property
    def await_args(self):
        return SimpleNamespace(args=[_reconstruct_streamed_response(self._app.last_body, "responses")])


class Worker(streaming._Worker):
    """Their engine. The capture context that it looks for lives in the server's process; the record is what it says."""

    async def create_chat_completion(self, **body):
        payload = await super().create_chat_completion(**body)
        self.context = SimpleNamespace(committed=True)
        return payload


@pytest.fixture(autouse=True)
def standins(monkeypatch):
    forget("r1", "reasoning-rollout")

    def model(client, **_):
        ENGINE.target = client
        return SimpleNamespace(setup_webserver=lambda: None)

    monkeypatch.setattr(integration, "_model", model)
    monkeypatch.setattr(integration, "_CaptureMiddleware", lambda *_, **__: ProxyApp())
    monkeypatch.setattr(integration, "FileLineageStore", ProxyLedger)


@pytest.fixture
def make_harness():
    def make(dialect="responses", evaluation=False, reasoning=False, backend="vllm_worker", **_):
        worker = Worker()
        worker.reasoning = reasoning
        ENGINE.target = worker
        app = ProxyApp()
        return SimpleNamespace(worker=worker, app=app, ledger=ProxyLedger(), finalize=Finalize(app))

    return make
