import type { ServiceError } from '../errors.ts';
import { serviceError } from '../errors.ts';
import type { Boundary } from '../ledger/ledger.ts';
import { evidenceOf } from '../lineage/evidence.ts';
import { PrefixSummarizer } from '../lineage/prefix-summary.ts';
import { renderDigest } from '../lineage/render-digest.ts';
import type { EvidenceItem, ReasoningPolicy } from '../lineage/types.ts';
import type { EngineMessage, EngineRole } from '../protocol/conversation.ts';
import type { JsonFragment } from '../protocol/json/fragment.ts';
import { PrefixMemo } from '../protocol/json/prefix-memo.ts';

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
  /** All of the evidence in one text: every item and what shapes the prompt. */
  readonly identity: string;
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
  const boundaryAt = messages.findLastIndex((message) => message.role === 'assistant') + 1;
  const taken = TAKEN[policy];
  const before = taken.of(messages, boundaryAt);
  const prefix = boundaryAt === 0 ? null : before.summarizer.summary();
  const { items, summarizer } = taken.after(before, messages, boundaryAt);

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
    identity: [prefix?.sourceDigest, ...items.slice(boundaryAt).map(({ digest }) => digest), render.digest].join(),
  };
}

interface Taken {
  readonly items: EvidenceItem[];
  readonly summarizer: PrefixSummarizer;
}

/** The items up to a boundary. The next request of a rollout goes on there. */
const TAKEN: Readonly<Record<ReasoningPolicy, PrefixMemo<EngineMessage, Taken>>> = {
  required: takenBy('required'),
  optional: takenBy('optional'),
  hidden: takenBy('hidden'),
};

function takenBy(policy: ReasoningPolicy): PrefixMemo<EngineMessage, Taken> {
  return new PrefixMemo<EngineMessage, Taken>({
    start: (): Taken => ({ items: [], summarizer: new PrefixSummarizer() }),
    step(taken, message) {
      const item = evidenceOf(message, policy);
      taken.items.push(item);
      taken.summarizer.push(item);
      return taken;
    },
    fork: ({ items, summarizer }) => ({ items: items.slice(), summarizer: summarizer.fork() }),
  });
}

function echoedIds(message: EngineMessage | undefined): readonly string[] {
  return message?.role === 'assistant' ? message.echoedIds : [];
}
