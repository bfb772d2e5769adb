import type { EvidenceItem } from '../../lineage/types.ts';
import type { JsonFragment } from '../../protocol/json/fragment.ts';
import { GrowingText } from '../../protocol/json/growing-text.ts';
import { PrefixMemo } from '../../protocol/json/prefix-memo.ts';
import type { SourceMatchSpelling } from '../../protocol/wire/admission.ts';
import type { OwnerKey } from '../../protocol/wire/coordinates.ts';
import {
  admissionMembers,
  coordinatesJudge,
  failureRows,
  isAdmittedParent,
  recordMembers,
  upstreamMembers,
} from './shared.ts';
import type { Admission, CaptureStrategy, RecordFacts } from './strategy.ts';

export interface Schema3Options {
  readonly ownerKey: OwnerKey;
  readonly workerKind: 'vllm' | 'megatron';
  /** Spelling of the statement how a candidate matched; null leaves it out. */
  readonly sourceMatch: SourceMatchSpelling | null;
  readonly onAmbiguous: 'refuse' | 'root';
}

/** Schema 3: a candidate is proposed, the worker decides (protocol sections 3 to 7). */
export function schema3(options: Schema3Options): CaptureStrategy {
  const { ownerKey } = options;
  const judge = coordinatesJudge(3, ownerKey);
  return {
    schemaVersion: 3,
    ownerKey,
    fingerprintVersion: 3,
    servesWhenCaptureFails: false,
    unmatched: () => ({ onAmbiguous: options.onAmbiguous, onUnmatched: 'root' }),
    upstreamFields: (admission) => upstreamMembers(options.workerKind, admissionJson(admission, options)),
    judge: (value, admission) =>
      judge(value, admission, (c) => c.parent_call_id === null || isAdmittedParent(c, admission)),
    recordJson,
    manifestBefore: (attempt) => `{"schema_version":3,"${ownerKey}":${JSON.stringify(attempt)},"records":[`,
    manifestAfter: (head) =>
      `],"failures":${failureRows(3, head.failures)},"attempted_call_ids":${JSON.stringify(head.attemptedCallIds)},` +
      `"pending_call_ids":${JSON.stringify(head.pendingCallIds)}}`,
    besideManifest: () => '',
  };
}

function admissionJson(admission: Admission, { ownerKey, sourceMatch }: Schema3Options): JsonFragment[] {
  const { candidate } = admission;
  const statement =
    candidate === null ? null : candidate.match === 'exact' ? sourceMatch?.exact : sourceMatch?.emptyToolContent;
  const head = {
    schema_version: 3,
    [ownerKey]: admission.attempt,
    model_call_id: admission.callId,
    mode: 'candidate',
    ...admissionMembers(admission),
  };
  const rest = {
    candidate_replay:
      candidate === null
        ? null
        : {
            schema_version: 3,
            normalization_version: 1,
            item_count: candidate.itemCount,
            source_digest: candidate.sourceDigest,
            empty_tool_content_digest: candidate.emptyToolContentDigest,
            render_digest: candidate.renderDigest,
          },
    ...(sourceMatch === null ? {} : { [sourceMatch.name]: statement }),
  };
  const items = ITEMS.ofAll(admission.items);
  return [
    `${JSON.stringify(head).slice(0, -1)},"request_replay":{"schema_version":3,"normalization_version":1,"items":[`,
    items.head,
    `${items.tail}],"render_digest":"${admission.renderDigest}"},${JSON.stringify(rest).slice(1)}`,
  ];
}

/** The items of a request, as JSON joined by commas. */
const ITEMS = new PrefixMemo<EvidenceItem, GrowingText>({
  start: () => new GrowingText(),
  step(items, item) {
    items.append(items.isEmpty ? itemJson(item) : `,${itemJson(item)}`);
    return items;
  },
  fork: (items) => items.fork(),
});

/** Roles and digests need no escaping, and there are as many of these as messages. */
function itemJson({ role, digest, emptyToolContentDigest }: EvidenceItem): string {
  const second = emptyToolContentDigest === null ? 'null' : `"${emptyToolContentDigest}"`;
  return `{"schema_version":3,"role":"${role}","digest":"${digest}","empty_tool_content_digest":${second}}`;
}

function recordJson(facts: RecordFacts): string {
  const own = {
    output_items: facts.outputItems,
    fingerprint_version: 3,
    response_status: facts.responseStatus,
    finish_reason: facts.finishReason,
    last_output_item: facts.lastOutputItem,
    replay: {
      schema_version: 3,
      normalization_version: 1,
      item_count: facts.replay.itemCount,
      source_digest: facts.replay.sourceDigest,
      empty_tool_content_digest: facts.replay.emptyToolContentDigest,
      render_digest: facts.renderDigest,
    },
  };
  return `{"schema_version":3,${recordMembers(facts)},${JSON.stringify(own).slice(1)}`;
}
