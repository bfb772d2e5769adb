import type { WhyRoot } from '../protocol/wire/ledger.ts';
import { differingNames } from './compare-items.ts';
import { historyDifference } from './history-difference.ts';
import { RecordedHistories, type RecordedHistory } from './recorded-histories.ts';
import type { ItemSketch, StoredSketch } from './sketch.ts';

/** Who made the call a root. */
export type RootedBy =
  /** The search found no candidate. */
  | { readonly by: 'search' }
  /** Several candidates, and `lineage.ambiguous: root`. */
  | { readonly by: 'ambiguous' }
  /** `x-nemo-gym-capture-parent: null`. */
  | { readonly by: 'parent_header' }
  /** The header named a response that this request does not extend; its call, where it is known. */
  | { readonly by: 'named_parent'; readonly callId: string | null }
  /** A candidate was proposed, and the worker stored a root. */
  | { readonly by: 'worker'; readonly candidateCallId: string };

export interface RootQuestion {
  readonly rootedBy: RootedBy;
  /** Sketches of all items of the request. */
  readonly items: readonly ItemSketch[];
  readonly renderDigest: string;
  /** `renderKeyDigests` of the request. */
  readonly renderKeys: Readonly<Record<string, string>>;
  /** The records that the call could see, in commit order. */
  readonly records: readonly StoredSketch[];
}

/** Why a recorded root is a root (protocol section 7): cause, the nearest record, where they part and how; lengths and names, never content. */
export function explainRoot(question: RootQuestion): WhyRoot {
  const { rootedBy } = question;
  switch (rootedBy.by) {
    case 'search':
      return searchFailed(question);
    case 'ambiguous':
      return ambiguous(question);
    case 'parent_header':
      return {
        cause: 'parent_header',
        explanation: 'The header x-nemo-gym-capture-parent is null: the agent asked for a root.',
      };
    case 'named_parent':
      return namedParent(question, rootedBy.callId);
    case 'worker':
      return {
        cause: 'rooted_by_worker',
        model_call_id: rootedBy.candidateCallId,
        explanation: `Call ${rootedBy.candidateCallId} was proposed as the parent, and the worker stored a root.`,
      };
    default:
      return unreachable(rootedBy);
  }
}

function searchFailed(question: RootQuestion): WhyRoot {
  const histories = new RecordedHistories(question.records, question.items);
  const nearest = histories.nearest();
  if (nearest === null) return { cause: 'first_call', explanation: 'No call of this attempt was recorded before.' };
  const boundary = boundaryOf(question.items);
  const parents = boundary === 0 ? [] : histories.matching(boundary);
  const parent = parents.findLast((history) => history.renderDigest === question.renderDigest) ?? parents.at(-1);
  return parent === undefined ? historyDiffers(nearest, question) : notContinued(parent, question);
}

function historyDiffers(history: RecordedHistory, question: RootQuestion): WhyRoot {
  return { cause: 'history_differs', ...historyDifference(history, question.items) };
}

/** The request repeats this record's whole history; something else keeps it from continuing the record. */
function notContinued(parent: RecordedHistory, question: RootQuestion): WhyRoot {
  if (parent.renderDigest !== question.renderDigest) {
    const keys = differingNames(parent.render, question.renderKeys);
    return {
      cause: 'render_differs',
      model_call_id: parent.callId,
      keys,
      explanation: `The history extends call ${parent.callId}, but what shapes the prompt differs: ${keys.join(', ')}.`,
    };
  }
  const index = question.items.findIndex((item, at) => at >= parent.items.length && !continues(item));
  const role = question.items[index]?.role;
  if (role === undefined) return historyDiffers(parent, question);
  return {
    cause: 'suffix_role',
    model_call_id: parent.callId,
    index,
    role,
    explanation: `The request extends call ${parent.callId}, but its item ${index} is a ${role} message: only user and tool messages can follow.`,
  };
}

function namedParent(question: RootQuestion, callId: string | null): WhyRoot {
  const histories = new RecordedHistories(question.records, question.items);
  const parent = callId === null ? null : histories.get(callId);
  if (parent === null)
    return { cause: 'parent_header', explanation: 'The request does not extend the parent that the header names.' };
  const boundary = boundaryOf(question.items);
  const repeated = parent.common === parent.items.length && boundary === parent.items.length;
  const extended = repeated
    ? undefined
    : histories.matching(boundary).findLast(({ renderDigest }) => renderDigest === question.renderDigest);
  if (extended !== undefined) {
    return {
      cause: 'parent_header',
      model_call_id: parent.callId,
      extended_call_id: extended.callId,
      explanation: `The header names call ${parent.callId}, and the request extends call ${extended.callId}.`,
    };
  }
  const { cause, explanation, ...detail } = repeated
    ? notContinued(parent, question)
    : historyDiffers(parent, question);
  return {
    cause: 'parent_header',
    reason: cause,
    ...detail,
    explanation: `The request does not extend the parent that the header names. ${String(explanation)}`,
  };
}

function ambiguous(question: RootQuestion): WhyRoot {
  const histories = new RecordedHistories(question.records, question.items);
  const candidates = histories
    .matching(boundaryOf(question.items))
    .filter((history) => history.renderDigest === question.renderDigest)
    .map((history) => history.callId);
  return {
    cause: 'ambiguous',
    candidates,
    explanation: `The request extends ${candidates.length} recorded calls alike, and no echoed id tells which one.`,
  };
}

/** Number of items up to and with the last assistant turn. */
function boundaryOf(items: readonly ItemSketch[]): number {
  return items.findLastIndex((item) => item.role === 'assistant') + 1;
}

function continues(item: ItemSketch): boolean {
  return item.role === 'user' || item.role === 'tool';
}

function unreachable(rootedBy: never): never {
  throw new Error(`unknown reason for a root: ${JSON.stringify(rootedBy)}`);
}
