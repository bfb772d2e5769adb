import type { ErrorCode } from './errors.ts';

/** What each code of the catalogue means to the one who gets it, and what to do about it: for docs/errors.md and the OpenAPI document. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid_json: 'The body is empty, no JSON object, or not what its `Content-Encoding` says.',
  invalid_request: 'A field or parameter has a value that cannot be used; `param` and the message name it.',
  unsupported_field:
    'A field asks for something that this service does not do, or not on captured calls; the message says what to send instead.',
  invalid_attempt: 'The attempt in the URL is no valid name.',
  invalid_parent: 'The header `x-nemo-gym-capture-parent` is malformed, or stands where it is not valid.',
  unknown_parent:
    'The header `x-nemo-gym-capture-parent` names no response of this attempt, or a response id that several of its calls have.',
  ambiguous_candidate:
    'Several earlier calls have exactly this history, and nothing in the request tells them apart. Echo the ids of the accepted answer or name its response in `x-nemo-gym-capture-parent`; an operator can set `lineage.ambiguous: root`.',
  attempt_incomplete:
    'An earlier call of this attempt failed, and the service is set to refuse further ones (`capture.after_failure: refuse`).',
  too_many_calls: 'The attempt has reached `limits.calls_per_attempt`.',
  idempotency_key_reused: 'This `Idempotency-Key` was used for another request of the attempt. Use a new key.',
  context_length_exceeded:
    'The prompt is longer than the model takes. Nothing was generated and the attempt is unharmed: shorten the history and go on.',
  unauthorized:
    'The key is missing or wrong: trainer and operators need the control token, agents the key of their attempt where keys are required. The control token is never valid on the side of the agents.',
  not_found: 'There is nothing at this path, or no such model.',
  method_not_allowed: 'The path exists with another method; `Allow` names it.',
  attempt_closed: 'The trainer has closed the attempt: it takes no further calls.',
  attempt_retired: 'The attempt was retired: its records are gone and it takes no further calls.',
  body_too_large: 'The body is larger than `limits.body_bytes`, as sent or after decompression.',
  unsupported_media_type: 'The `Content-Encoding` is not known; use gzip, deflate, br, zstd or none.',
  upgrade_required: 'WebSockets are not supported; use HTTP requests.',
  rate_limit_exceeded:
    'The service, or the engine, has as many calls in flight as it takes. Wait as long as `Retry-After` says.',
  internal_error: 'The service failed in an unexpected way; its log has the cause.',
  worker_failed: 'The inference worker failed, gave up, or could not be understood. A captured call stays pending.',
  worker_refused_credentials:
    'The worker refused the credentials of this service: its operator must correct `worker.api_key`.',
  capture_failed:
    'The worker answered, but not with an acknowledgement that its tokens are stored. The call stays pending with a failure row; its rollout is masked in training.',
  worker_unreachable: 'No inference worker could be connected to. Nothing was sent; trying again is safe.',
  ledger_unavailable: 'The ledger takes no intents at the moment, so the call was not started. Trying again is safe.',
  shutting_down: 'This replica is stopping. Send the request again; another one takes it.',
  commit_failed:
    'The worker answered, but the record could not be written. The call stays pending; its rollout is masked in training.',
  deadline_exceeded:
    'The call did not finish within `deadlines.call_s`. It has a failure row, stays pending, and is still recorded if the worker answers later.',
};
