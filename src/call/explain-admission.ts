import type { Context } from '../context.ts';
import type { AdmitOutcome } from '../ledger/ledger.ts';
import { explainRoot, type RootedBy } from '../lineage/explain-root.ts';
import { renderKeyDigests } from '../lineage/render-digest.ts';
import { sketchOf } from '../lineage/sketch.ts';
import type { EvidenceItem } from '../lineage/types.ts';
import type { ConvertedRequest } from '../protocol/conversation.ts';
import type { JsonFragment } from '../protocol/json/fragment.ts';
import type { WhyRoot } from '../protocol/wire/ledger.ts';
import type { CapturedCall } from './admit-call.ts';
import type { Evidence } from './gather-evidence.ts';

/** Comparing with more records than these would keep the process from other calls for too long. */
const MOST_RECORDS = 5_000;

/**
 * Finds out why a call is a root (protocol section 7, `why_root`) while the worker is busy with it: it looks at the sketches of the records that the call could
 * see. Null for a continuation. A ledger that is away costs the detail, never the call.
 */
export async function explainAdmission(
  ctx: Context,
  call: CapturedCall,
  prepared: {
    readonly request: ConvertedRequest;
    readonly fields: ReadonlyMap<string, JsonFragment>;
    readonly evidence: Evidence;
  },
  admitted: AdmittedRoot,
): Promise<WhyRoot | null> {
  if (admitted.candidate !== null) return null;
  const { evidence, request } = prepared;
  if (admitted.recordsSeen > MOST_RECORDS)
    return withoutDetail(call, admitted, `Not compared: this attempt has more than ${MOST_RECORDS} records.`);
  try {
    const records = admitted.recordsSeen === 0 ? [] : await ctx.ledger.sketches(call.attempt, admitted.recordsSeen);
    return explainRoot({
      rootedBy: rootedBy(call, admitted),
      items: request.messages.map((message, at) => sketchOf(message, evidence.items[at] as EvidenceItem)),
      renderDigest: evidence.renderDigest,
      renderKeys: renderKeyDigests(prepared.fields),
      records,
    });
  } catch (error) {
    // A diagnostic: whatever keeps it from being found out must not cost the call.
    ctx.events.bookkeepingFailed(call, 'why_root', error);
    return withoutDetail(call, admitted, 'The reason could not be found out.');
  }
}

type AdmittedRoot = Extract<AdmitOutcome, { kind: 'admitted' }>;

function withoutDetail(call: CapturedCall, admitted: AdmittedRoot, explanation: string): WhyRoot {
  const { by } = rootedBy(call, admitted);
  if (by === 'ambiguous') return { cause: 'ambiguous', explanation };
  if (by === 'parent_header' || by === 'named_parent') return { cause: 'parent_header', explanation };
  return { cause: admitted.recordsSeen === 0 ? 'first_call' : 'history_differs', explanation };
}

function rootedBy(call: CapturedCall, admitted: AdmittedRoot): RootedBy {
  if (call.namedParent === null) return { by: 'parent_header' };
  switch (admitted.rootedBy) {
    case 'ambiguous':
      return { by: 'ambiguous' };
    case 'named_parent':
      return { by: 'named_parent', callId: admitted.namedCallId ?? null };
    case 'unmatched':
    case null:
      return { by: 'search' };
    default: {
      const never: never = admitted.rootedBy;
      return never;
    }
  }
}
