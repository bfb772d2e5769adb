"""The published package's functions on inputs of the caller's choice. Texts are JSON texts, parsed as the released server parses a request."""

import json

from pydantic import ValidationError

from nemo_gym.token_id_capture.fingerprint import assistant_fingerprint, conversation_digest
from nemo_gym.token_id_capture.staging import (
    CaptureAdmission,
    CommitCoords,
    assert_golden_vectors,
    compute_chain_hash,
    compute_extras_digest,
    compute_staging_digest,
    hash_token_ids,
    load_golden_vectors,
)
from nemo_gym.token_id_capture.staging.records import RolloutManifest

MODELS = {"admission": CaptureAdmission, "coordinates": CommitCoords, "manifest": RolloutManifest}


def answer(request):
    return ASKED[request["ask"]](request)


def fingerprints(request):
    """Of each text, a list of items: both digests, null where the package refuses to fingerprint it."""
    return [
        {"assistant": attempt(assistant_fingerprint, items), "conversation": attempt(conversation_digest, items)}
        for items in map(json.loads, request["texts"])
    ]


def extras(request):
    return [attempt(compute_extras_digest, json.loads(text)) for text in request["texts"]]


def attempt(function, value):
    """Refusals of the package are ValueErrors and TypeErrors; what is neither is a crash, and is no less a refusal to a trainer."""
    try:
        return function(value)
    except Exception:
        return None


def tokens(request):
    """Of each call: its chain hash, its cumulative hash, its digest. The package wants floats, and JSON from JavaScript knows neither 1.0 nor -0.0."""
    for call in request["calls"]:
        for name in ("token_mask_delta", "generation_log_probs_delta"):
            call["fields"][name] = [float(value) for value in call["fields"][name]]
    return [
        {
            "chain": compute_chain_hash(call["parent_chain_hash"], call["fields"]["token_ids_delta"]),
            "cumulative": hash_token_ids(call["token_ids"]),
            "digest": compute_staging_digest(**call["fields"]),
        }
        for call in request["calls"]
    ]


def models(request):
    """Of each text: whether the named strict model takes it, and why not."""
    return [validate(MODELS[request["model"]], text) for text in request["texts"]]


def validate(model, text):
    try:
        model.model_validate(json.loads(text))
    except ValidationError as error:
        return str(error)
    return None


def golden(_):
    assert_golden_vectors()
    return load_golden_vectors()


ASKED = {"fingerprints": fingerprints, "extras": extras, "tokens": tokens, "models": models, "golden": golden}
