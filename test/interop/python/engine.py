"""A toy inference engine whose capture is the published package's own: its admission model, its capture class, its engine adapters."""

import json
import threading
import zlib
from types import SimpleNamespace

from pydantic import ValidationError

from nemo_gym.token_id_capture.adapters.megatron import MegatronCaptureAdapter
from nemo_gym.token_id_capture.adapters.vllm import VLLMCaptureAdapter
from nemo_gym.token_id_capture.staging import CaptureAdmission, RolloutTokenCapture, StagedCallBaseSnapshot, StageResult

WEIGHT_VERSION = 7
LOGPROB = -0.25


class Refused(Exception):
    """A request that this engine cannot take: 400."""


class Sink:
    """Staged calls in memory: the sink of the capture class and the source of its verifier."""

    def __init__(self):
        self._lock = threading.Lock()
        self._records = {}
        self.full = False

    def stage(self, record, *, attachments=None):
        if attachments is not None or self.full:
            return StageResult(ok=False, error="not stored")
        with self._lock:
            self._records[record.staging_key] = record
        return StageResult(ok=True, staging_key=record.staging_key)

    def keys(self, rollout_id):
        with self._lock:
            return [key for key in self._records if key.startswith(f"{rollout_id}/")]

    def fetch(self, keys):
        with self._lock:
            records = [self._records[key] for key in keys]
        return [StagedCallBaseSnapshot.model_validate(record.model_dump(exclude={"extras"})) for record in records]


class Engine:
    def __init__(self, kind):
        self.kind = kind
        self.sink = Sink()
        self.calls = []
        adapter = MegatronCaptureAdapter() if kind == "megatron" else VLLMCaptureAdapter()
        self.capture = RolloutTokenCapture(sink=self.sink, weight_version_fn=lambda: WEIGHT_VERSION, adapter=adapter)
        self._lock = threading.Lock()
        self._script = []
        self._served = 0

    def script(self, body):
        with self._lock:
            self._script.extend(body["messages"])
        return {}

    def complete(self, body):
        message, number = self._next_message()
        fault = message.pop("fault", None)
        admission = self._admission(body)
        self.calls.append({"admission": admission and admission.model_dump(mode="json"), "fields": sorted(body)})
        generated = tokens(message)
        if admission is None:
            return self._payload(body, message, number, tokens(body["messages"]), generated)
        prefix = [token for key in admission.staging_chain for token in self._delta(key)]
        call = self.capture.begin_call(admission, prefix_token_ids=prefix, stream=body.get("stream", False))
        prompt = prefix + tokens(new_messages(body["messages"], continues=admission.parent_call_id is not None))
        payload = self._payload(body, message, number, prompt, generated)
        material = payload
        if self.kind == "megatron":
            material = SimpleNamespace(
                prompt_token_ids=prompt, generated_token_ids=generated, generated_log_probs=[LOGPROB] * len(generated)
            )
        self.sink.full = fault == "storing fails"
        coordinates = self.capture.complete_call_from_response(call, material).model_dump(mode="json")
        if fault == "engine error":
            raise Refused("a value that this engine does not like")
        if fault == "no acknowledgement":
            return payload
        if fault == "foreign acknowledgement":
            coordinates["rollout_id"] = "another"
        return {**payload, "ng_commit_coords": coordinates}

    def _next_message(self):
        with self._lock:
            self._served += 1
            message = self._script.pop(0) if self._script else {"content": f"answer {self._served}"}
        return {"role": "assistant", "content": None, **message}, self._served

    def _admission(self, body):
        """The admission in the place of this kind of engine, with all that has to go along with it."""
        megatron = self.kind == "megatron"
        place = body.get("offload_params") or {} if megatron else body
        if "ng_capture" not in place:
            return None
        try:
            admission = CaptureAdmission.model_validate(place["ng_capture"])
        except ValidationError as error:
            raise Refused(f"ng_capture: {error}") from error
        wanted = {"stream": False, "logprobs": True, "top_logprobs": 0}
        if not megatron:
            wanted["return_tokens_as_token_ids"] = True
        wrong = [name for name, value in wanted.items() if body.get(name) is not value and body.get(name) != value]
        if megatron and "return_tokens_as_token_ids" in body:
            wrong.append("return_tokens_as_token_ids")
        if megatron and "ng_capture" in body:
            wrong.append("ng_capture at the top")
        if wrong:
            raise Refused(f"beside the admission: {', '.join(wrong)}")
        return admission

    def _delta(self, key):
        return self.sink.fetch([key])[0].token_ids_delta

    def _payload(self, body, message, number, prompt, generated):
        """A completion with tokens in all the places where a NeMo worker leaves them."""
        names = [{"token": f"token_id:{token}", "logprob": LOGPROB, "bytes": None, "top_logprobs": []} for token in generated]
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        return {
            "id": f"completion-{number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body.get("model") or "policy",
            "prompt_token_ids": prompt,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {**message, "prompt_token_ids": prompt},
                    "logprobs": {"content": names},
                    "token_ids": generated,
                }
            ],
            "usage": {
                "prompt_tokens": len(prompt),
                "completion_tokens": len(generated),
                "total_tokens": len(prompt) + len(generated),
            },
        }


def new_messages(messages, continues):
    """What a continuation adds: the messages after its last assistant turn."""
    if not continues:
        return messages
    last = max(index for index, message in enumerate(messages) if message["role"] == "assistant")
    return messages[last + 1 :]


def tokens(value):
    """Small numbers that depend on the text alone."""
    text = json.dumps(value, sort_keys=True)
    return [zlib.crc32(text[at : at + 16].encode()) % 50_000 for at in range(0, len(text), 16)]
