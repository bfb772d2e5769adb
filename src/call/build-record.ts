import type { Context } from '../context.ts';
import type { CommitRequest } from '../ledger/ledger.ts';
import { evidenceOf } from '../lineage/evidence.ts';
import { assistantFingerprint, continuedFingerprint } from '../lineage/fingerprints.ts';
import { recordOutput } from '../lineage/output-items.ts';
import { renderKeyDigests } from '../lineage/render-digest.ts';
import { sketchJson, sketchOf } from '../lineage/sketch.ts';
import type { EngineMessage, RenderedReply } from '../protocol/conversation.ts';
import type { JsonFragment } from '../protocol/json/fragment.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import type { StagedCoordinates } from '../protocol/wire/coordinates.ts';
import type { WhyRoot } from '../protocol/wire/ledger.ts';
import type { CapturedCall } from './admit-call.ts';
import type { Evidence } from './gather-evidence.ts';

/** What a record is made of. */
export interface RecordSources {
  readonly call: CapturedCall;
  readonly messages: readonly EngineMessage[];
  /** Items as the agent sent them. The envelope item of section 13 authors nothing, so it cannot change an assistant fingerprint. */
  readonly fingerprintItems: readonly JsonNode[];
  readonly fields: ReadonlyMap<string, JsonFragment>;
  readonly evidence: Evidence;
  readonly coordinates: StagedCoordinates;
  readonly reply: RenderedReply;
  /** Items of the parent that was stored; 0 for a root. */
  readonly parentItemCount: number;
  readonly whyRoot: WhyRoot | null;
  readonly replyJson: string | null;
}

/** Builds the CallRecord (protocol section 7) and what the ledger needs beside it. Token-free. */
export function buildRecord(ctx: Context, sources: RecordSources): CommitRequest {
  const { call, evidence, coordinates, reply } = sources;
  const policy = ctx.config.lineage.reasoning;
  const turn = evidenceOf(reply.turn, policy);
  const replay = evidence.summarizer.fork();
  replay.push(turn);
  const summary = replay.summary();
  const output = recordOutput(reply.outputItems);
  const recordJson = ctx.strategy.recordJson({
    coordinates,
    responseId: reply.responseId,
    admittedAtS: call.admittedAtS,
    outputItems: output.rows,
    outputFingerprint: assistantFingerprint(reply.outputItems),
    continuationFingerprint: continuedFingerprint(sources.fingerprintItems, reply.outputItems),
    responseStatus: reply.status ?? statusOf(reply.finishReason),
    finishReason: reply.finishReason,
    lastOutputItem: output.last,
    replay: summary,
    renderDigest: evidence.renderDigest,
  });
  const added = [...sources.messages.slice(sources.parentItemCount), reply.turn];
  const addedItems = [...evidence.items.slice(sources.parentItemCount), turn];
  return {
    attempt: call.attempt,
    callId: call.callId,
    recordJson,
    index: {
      parentCallId: coordinates.parent_call_id,
      responseId: reply.responseId,
      cumLen: coordinates.cum_len,
      chainHash: coordinates.chain_hash,
      cumulativeHash: coordinates.cumulative_hash,
      stagingKey: coordinates.staging_key,
      ...summary,
      renderDigest: evidence.renderDigest,
      outputIds: (output.rows ?? []).flatMap((row) => (row.id === null ? [] : [row.id])),
      reasoning:
        policy === 'optional'
          ? addedItems.flatMap((item) => (item.role === 'assistant' ? [item.reasoningDigest] : []))
          : null,
    },
    whyRootJson: sources.whyRoot === null ? null : JSON.stringify(sources.whyRoot),
    sketchJson: sketchJson(
      added.map((message, at) => sketchOf(message, addedItems[at] as (typeof addedItems)[number])),
      renderKeyDigests(sources.fields),
    ),
    replyJson: sources.replyJson,
  };
}

const COMPLETED: ReadonlySet<string> = new Set([
  'stop',
  'tool_calls',
  'function_call',
  'end_turn',
  'tool_use',
  'stop_sequence',
]);
const INCOMPLETE: ReadonlySet<string> = new Set([
  'length',
  'max_tokens',
  'max_output_tokens',
  'content_filter',
  'refusal',
]);

/** `response_status` of a reply that has no `status` of its own (section 7). Success is never inferred from absence. */
export function statusOf(finishReason: string | null): 'completed' | 'incomplete' | null {
  if (finishReason === null) return null;
  if (COMPLETED.has(finishReason)) return 'completed';
  return INCOMPLETE.has(finishReason) ? 'incomplete' : null;
}
