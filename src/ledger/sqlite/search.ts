import { reasoningAgrees, settleMatches } from '../candidates.ts';
import type { AdmitRequest, Boundary, ProposeOutcome, ProposeRequest } from '../ledger.ts';
import { type Attempt, RETIRED } from './attempts.ts';
import type { CallRow } from './calls.ts';
import { ancestryOf, findByResponse, findBySummary, type RecordRow, toCandidate } from './records.ts';
import type { Store } from './store.ts';

type SearchRequest = Pick<AdmitRequest, 'boundary' | 'namedParent' | 'onAmbiguous' | 'onUnmatched'>;

/** Why a call is a root; nulls for a continuation. */
export type Rooted = Pick<CallRow, 'rooted_by' | 'named_call_id'>;

/** What the search says: a proposal with its reason, or why there is none. */
export type Found =
  | { readonly kind: 'found'; readonly candidate: RecordRow | null; readonly rooted: Rooted }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'refused'; readonly code: 'unknown_parent' | 'ambiguous_candidate' };

const root = (rooted_by: 'unmatched' | 'ambiguous' | 'named_parent', named_call_id: string | null = null): Found => ({
  kind: 'found',
  candidate: null,
  rooted: { rooted_by, named_call_id },
});
const continuation = (candidate: RecordRow): Found => ({
  kind: 'found',
  candidate,
  rooted: { rooted_by: null, named_call_id: null },
});

/** Protocol section 3, "The rule", and the named parent of section 2. */
export function search(store: Store, attempt: Attempt | undefined, request: SearchRequest): Found {
  const { boundary, namedParent } = request;
  if (namedParent === null) return root('named_parent');
  if (namedParent !== undefined) {
    const named = attempt ? findByResponse(store, attempt, namedParent) : [];
    if (named.length !== 1) return { kind: 'refused', code: 'unknown_parent' };
    const candidate = named[0]!;
    if (!boundary || !extendsRecord(store, attempt!, boundary, candidate))
      return root('named_parent', candidate.call_id);
    return continuation(candidate);
  }
  const matches = attempt && boundary ? findMatches(store, attempt, boundary) : [];
  if (matches.length === 1) return continuation(matches[0]!);
  if (matches.length === 0) {
    const isFresh = !attempt || (attempt.records === 0 && attempt.failures === 0);
    return request.onUnmatched === 'root' || isFresh ? root('unmatched') : { kind: 'unresolved' };
  }
  switch (request.onAmbiguous) {
    case 'refuse':
      return { kind: 'refused', code: 'ambiguous_candidate' };
    case 'root':
      return root('ambiguous');
    case 'unresolved':
      return { kind: 'unresolved' };
    default:
      return request.onAmbiguous satisfies never;
  }
}

/** What is left of the committed records that this request extends, once everything has settled that can. */
function findMatches(store: Store, attempt: Attempt, boundary: Boundary): RecordRow[] {
  const matches = findBySummary(store, attempt, boundary.emptyToolContentDigest)
    .filter((record) => extendsRecord(store, attempt, boundary, record))
    .map((record) => ({
      record,
      number: record.number,
      cumLen: record.cum_len,
      cumulativeHash: record.cumulative_hash,
      outputIds: JSON.parse(record.output_ids) as string[],
    }));
  return settleMatches(matches, boundary.echoedIds).map(({ record }) => record);
}

/** Equal source digests imply equal second digests, so the second ones decide whether there is a match, the first ones only which kind. */
function extendsRecord(store: Store, attempt: Attempt, boundary: Boundary, record: RecordRow): boolean {
  if (
    record.empty_tool_content_digest !== boundary.emptyToolContentDigest ||
    record.render_digest !== boundary.renderDigest ||
    record.item_count !== boundary.itemCount
  ) {
    return false;
  }
  const carried = boundary.reasoning;
  if (carried === null || carried.every((digest) => digest === null)) return true;
  return reasoningAgrees(carried, ancestryOf(store, attempt, record).reasoning);
}

/** See Ledger.propose. What schema 2 leaves unresolved is measured as a root. */
export function propose(store: Store, request: ProposeRequest): ProposeOutcome {
  const attempt = store.attempts.find(request.attempt);
  if (attempt?.state === RETIRED) return { kind: 'refused', code: 'attempt_retired' };
  const found = search(store, attempt, { ...request, onUnmatched: 'root' });
  if (found.kind === 'refused') return found;
  const candidate = found.kind === 'found' ? found.candidate : null;
  return {
    kind: 'proposed',
    candidate: candidate && toCandidate(store, attempt!, candidate, request.boundary!.sourceDigest),
  };
}
