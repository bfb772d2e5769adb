import type { ServiceError } from '../errors.ts';
import { serviceError } from '../errors.ts';
import type { Boundary } from '../ledger/ledger.ts';
import { evidenceOf } from '../lineage/evidence.ts';
import { PrefixSummarizer } from '../lineage/prefix-summary.ts';
import { renderDigest } from '../lineage/render-digest.ts';
import type { EvidenceItem, ReasoningPolicy } from '../lineage/types.ts';
import type { EngineMessage, EngineRole } from '../protocol/conversation.ts';
import type { JsonFragment } from '../protocol/json/fragment.ts';

/** Source evidence of one request (protocol section 3). */
export interface Evidence {
  readonly items: readonly EvidenceItem[];
  readonly renderDigest: string;
  /** Where the one candidate can end; null: no assistant turn, or the rest is not only user and tool. */
  readonly boundary: Boundary | null;
  readonly hasAssistant: boolean;
  /** The first item after the boundary whose role keeps the request from extending anything. */
  readonly suffixRole: { readonly index: number; readonly role: EngineRole } | null;
  /** Summary of all request items; the served turn is pushed onto a fork of it for the record's `replay`. */
  readonly summarizer: PrefixSummarizer;
}

/**
 * Takes the evidence of a converted request: items one to one with the upstream messages, the boundary right after the last assistant item, the digest
 * of what shapes the prompt. `fields` are the final upstream members, overrides included.
 */
export function gatherEvidence(
  messages: readonly EngineMessage[],
  fields: ReadonlyMap<string, JsonFragment>,
  policy: ReasoningPolicy,
): Evidence | ServiceError {
  const render = renderDigest(fields);
  if ('undigestable' in render) {
    return serviceError(
      'invalid_request',
      `${render.undigestable}: holds a value that has no digest (a lone surrogate, or a number beyond a double). Change it.`,
      { param: render.undigestable },
    );
  }
  const items = messages.map((message) => evidenceOf(message, policy));
  const boundaryAt = messages.findLastIndex((message) => message.role === 'assistant') + 1;
  const summarizer = new PrefixSummarizer();
  for (let at = 0; at < boundaryAt; at++) summarizer.push(items[at] as EvidenceItem);
  const prefix = boundaryAt === 0 ? null : summarizer.summary();
  for (let at = boundaryAt; at < items.length; at++) summarizer.push(items[at] as EvidenceItem);

  const badAt = messages.findIndex(
    (message, at) => at >= boundaryAt && message.role !== 'user' && message.role !== 'tool',
  );
  const suffixRole =
    boundaryAt > 0 && badAt >= 0 ? { index: badAt, role: (messages[badAt] as EngineMessage).role } : null;
  const extendable = prefix !== null && suffixRole === null && boundaryAt < messages.length;
  return {
    items,
    renderDigest: render.digest,
    boundary: extendable
      ? {
          ...prefix,
          renderDigest: render.digest,
          echoedIds: echoedIds(messages[boundaryAt - 1]),
          reasoning:
            policy === 'optional'
              ? items.slice(0, boundaryAt).flatMap((item) => (item.role === 'assistant' ? [item.reasoningDigest] : []))
              : null,
        }
      : null,
    hasAssistant: boundaryAt > 0,
    suffixRole,
    summarizer,
  };
}

/** All of a request's evidence in one text: every item and what shapes the prompt. */
export function evidenceDigest(evidence: Evidence): string {
  return `${evidence.summarizer.summary().sourceDigest}${evidence.renderDigest}`;
}

function echoedIds(message: EngineMessage | undefined): readonly string[] {
  return message?.role === 'assistant' ? message.echoedIds : [];
}
