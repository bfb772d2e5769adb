import { prefixSummary } from '../lineage/prefix-summary.ts';
import type { ReplayItem, ReplaySummary, RequestReplay } from '../protocol/wire/replay.ts';

/** What the decision looks at: the evidence of an admission (protocol section 4), with configurable names taken out. */
export interface AdmissionEvidence {
  readonly mode: 'candidate' | 'text' | 'token_in';
  readonly parentCallId: string | null;
  readonly requestReplay: RequestReplay | null;
  readonly candidateReplay: ReplaySummary | null;
  /** The statement whether the candidate needed the null/empty equivalence. `not_spoken`: this worker predates the statement. */
  readonly sourceMatch: 'exact' | 'empty_tool_content' | 'not_spoken' | null;
}

/** Outcome of {@link decideCaptureInput}. `as_is`: the proxy has decided already (schema 2), the worker obeys. */
export type CaptureInput =
  | { readonly kind: 'as_is'; readonly mode: 'text' | 'token_in' }
  | { readonly kind: 'root'; readonly warning: string | null }
  | { readonly kind: 'continuation' }
  | { readonly kind: 'error'; readonly message: string };

/**
 * `decide_capture_input` of protocol section 5, first hit wins. Pure. `messages` are the converted messages in the order of the request, of which
 * only the roles count; `allowEmptyToolContent` is a fact about the renderer. Missing evidence is an error, never a rewrite.
 */
export function decideCaptureInput(
  admission: AdmissionEvidence,
  messages: readonly { readonly role: string }[],
  allowEmptyToolContent: boolean,
): CaptureInput {
  if (admission.mode !== 'candidate') return { kind: 'as_is', mode: admission.mode };
  const current = admission.requestReplay;
  if (current === null || current.render_digest === null) {
    return { kind: 'error', message: 'Missing current source/render evidence' };
  }
  if (admission.parentCallId === null) return { kind: 'root', warning: null };
  const candidate = admission.candidateReplay;
  if (candidate === null || candidate.render_digest === null) {
    return { kind: 'error', message: 'Missing predecessor source/render evidence' };
  }
  if (admission.sourceMatch === null) return { kind: 'error', message: 'Missing source match evidence' };

  if (current.render_digest !== candidate.render_digest) return { kind: 'root', warning: null };
  if (candidate.item_count > current.items.length) return { kind: 'root', warning: null };
  const mayUseSecondDigest = admission.sourceMatch !== 'exact' && allowEmptyToolContent;
  if (!prefixMatches(current.items, candidate, mayUseSecondDigest)) return { kind: 'root', warning: null };

  const rest = current.items.slice(candidate.item_count);
  return checkSuffix(rest, messages);
}

function prefixMatches(items: readonly ReplayItem[], candidate: ReplaySummary, mayUseSecondDigest: boolean): boolean {
  const prefix = prefixSummary(
    items.slice(0, candidate.item_count).map((item) => ({
      role: item.role,
      digest: item.digest,
      emptyToolContentDigest: item.empty_tool_content_digest,
    })),
  );
  if (prefix.sourceDigest === candidate.source_digest) return true;
  return mayUseSecondDigest && prefix.emptyToolContentDigest === candidate.empty_tool_content_digest;
}

/** Rules 6 and 7: the rest of the items must be what an environment adds, and must line up with the end of the messages. */
function checkSuffix(rest: readonly ReplayItem[], messages: readonly { readonly role: string }[]): CaptureInput {
  if (rest.length === 0) return { kind: 'root', warning: 'nothing follows the candidate: the call starts a root' };
  const other = rest.find((item) => item.role !== 'user' && item.role !== 'tool');
  if (other !== undefined) {
    return { kind: 'root', warning: `an item of role ${other.role} follows the candidate: the call starts a root` };
  }
  const boundary = messages.length - rest.length;
  if (messages[boundary - 1]?.role !== 'assistant') {
    return { kind: 'root', warning: 'no assistant message stands before the boundary: the call starts a root' };
  }
  if (rest.some((item, at) => messages[boundary + at]?.role !== item.role)) {
    return { kind: 'root', warning: 'the roles after the boundary are not those of the items: the call starts a root' };
  }
  return { kind: 'continuation' };
}
