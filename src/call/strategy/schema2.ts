import type { JsonFragments } from '../../protocol/json/fragment.ts';
import type { OwnerKey } from '../../protocol/wire/coordinates.ts';
import {
  admissionMembers,
  coordinatesJudge,
  failureRows,
  isAdmittedParent,
  recordMembers,
  upstreamMembers,
} from './shared.ts';
import type { Admission, CaptureStrategy, ManifestHead } from './strategy.ts';

export interface Schema2Options {
  readonly ownerKey: OwnerKey;
  readonly workerKind: 'vllm' | 'megatron';
}

/** Schema 2: the proxy picks the parent, the worker obeys (protocol section 13). */
export function schema2(options: Schema2Options): CaptureStrategy {
  const { ownerKey } = options;
  const judge = coordinatesJudge(2, ownerKey);
  return {
    schemaVersion: 2,
    ownerKey,
    fingerprintVersion: 2,
    servesWhenCaptureFails: true,
    unmatched: (hasAssistant) => ({ onAmbiguous: 'unresolved', onUnmatched: hasAssistant ? 'root_if_fresh' : 'root' }),
    upstreamFields: (admission) => [
      ...upstreamMembers(options.workerKind, [admissionJson(admission, ownerKey)]),
      ...(admission.candidate === null ? [] : [['required_prefix_token_ids', '[]'] as [string, JsonFragments]]),
    ],
    judge: (value, admission) => judge(value, admission, (c) => isAdmittedParent(c, admission)),
    recordJson: (facts) => `{"schema_version":2,${recordMembers(facts)},"fingerprint_version":2}`,
    manifestBefore: (attempt) => `{"schema_version":2,"${ownerKey}":${JSON.stringify(attempt)},"records":[`,
    manifestAfter: (head) => `],"failures":${failureRows(2, withPending(head))}}`,
    besideManifest: (head) =>
      `,"attempted_call_ids":${JSON.stringify(head.attemptedCallIds)},"pending_call_ids":${JSON.stringify(head.pendingCallIds)}`,
  };
}

function admissionJson(admission: Admission, ownerKey: OwnerKey): string {
  return JSON.stringify({
    schema_version: 2,
    [ownerKey]: admission.attempt,
    model_call_id: admission.callId,
    mode: admission.candidate === null ? 'text' : 'token_in',
    ...admissionMembers(admission),
  });
}

/** This manifest has no word for pending: a pending call of a closed attempt is reported as a failure. */
function withPending(head: ManifestHead): ManifestHead['failures'] {
  if (!head.closed) return head.failures;
  const failed = new Set(head.failures.map(({ callId }) => callId));
  const pending = head.pendingCallIds.filter((callId) => !failed.has(callId));
  const reason = 'request_finished_without_staged_coordinates';
  return [...head.failures, ...pending.map((callId) => ({ callId, reason }))];
}
