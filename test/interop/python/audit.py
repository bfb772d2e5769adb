"""The trainer's side of the published package: its control client, its strict models, its terminal selection, its verifier."""

import asyncio
import threading

from nemo_gym.server_utils import GlobalAIOHTTPAsyncClientConfig, set_global_aiohttp_client
from nemo_gym.token_id_capture.control_routes import RolloutControlClient
from nemo_gym.token_id_capture.fingerprint import assistant_fingerprint
from nemo_gym.token_id_capture.records import response_to_output_items
from nemo_gym.token_id_capture.staging import RolloutReceipt, resolve_terminal, select_terminal_call, verify_and_linearize

TIMEOUT_S = 30

# The package keeps one HTTP session per process, so all of its requests run in one event loop.
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


async def _open_session():
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())


asyncio.run_coroutine_threadsafe(_open_session(), loop).result(TIMEOUT_S)


def audit(request, sink):
    """Reads the manifest of `rollout_id` at `url` with `token` and rebuilds every chain that ends in a call without a child.

    With `response` (what the agent got last) and `declared` (a response id) the terminal is attributed, too.
    """
    client = RolloutControlClient(request["url"], auth_token=request["token"], request_timeout_s=TIMEOUT_S)
    manifest = asyncio.run_coroutine_threadsafe(client.manifest(request["rollout_id"]), loop).result(TIMEOUT_S)
    records = manifest.records
    parents = {record.parent_call_id for record in records}
    ends = [record.model_call_id for record in records if record.model_call_id not in parents]
    response = request.get("response")
    selection = select_terminal_call(records)
    attribution = resolve_terminal(records, response, declared_response_id=request.get("declared"))
    return {
        "records": [record.model_dump(mode="json") for record in records],
        "failures": [failure.model_dump(mode="json") for failure in manifest.failures],
        "staged": sink.keys(request["rollout_id"]),
        "rows": [rebuild(manifest, end, sink) for end in ends],
        "selected": {"call": selection.terminal_model_call_id, "reason": selection.reason},
        "attributed": {"call": attribution.model_call_id, "method": attribution.method, "reason": attribution.reason},
        "output_fingerprint": None if response is None else output_fingerprint(response),
    }


def output_fingerprint(response):
    """As the released server records it: None where the output cannot be fingerprinted."""
    try:
        return assistant_fingerprint(response_to_output_items(response)) or None
    except (TypeError, ValueError):
        return None


def rebuild(manifest, end, sink):
    """One chain from its root to `end`, verified from our records and the staged tokens."""
    receipt = RolloutReceipt(
        rollout_id=manifest.rollout_id, manifest=manifest.records, terminal_model_call_id=end, terminal_selection="declared"
    )
    row = verify_and_linearize(receipt, sink.fetch([record.staging_key for record in manifest.records]))
    return {"calls": row.model_call_ids, "token_ids": row.token_ids, "token_mask": row.token_mask, "logprobs": row.logprobs}
