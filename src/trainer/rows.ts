import type { Forest, ForestNode } from './forest.ts';
import { type Checked, ok, type Reason, reason, refused } from './reasons.ts';
import type { StagedCall, StagedLookup } from './staged/staged-call.ts';
import { newPromptTokens, verifyStaged } from './verify-staged.ts';

/** Where the tokens of one call stand in a row. */
export interface RowSpan {
  readonly callId: string;
  /** First token of the call's delta, first generated one, one past its last; counted in the row. */
  readonly from: number;
  readonly generatedFrom: number;
  readonly to: number;
  /** False: an earlier row carries the loss of this call, here its tokens are context. */
  readonly withLoss: boolean;
  readonly weightVersion: number;
  /** The verified commitment to the call's extras. */
  readonly extrasDigest: string;
}

/** A row of training data (protocol section 11): the calls from a root to an endpoint. All lists have one entry per token. */
export interface Row {
  readonly rowId: string;
  readonly rollout: string;
  readonly segment: number;
  readonly spans: readonly RowSpan[];
  readonly tokenIds: readonly number[];
  /** 1 where the token carries loss. */
  readonly lossMask: readonly number[];
  /** Of generation; 0 for context that was not generated. */
  readonly logprobs: readonly number[];
}

export interface RowNames {
  readonly attempt: string;
  /** Row ids are `{group}_g{slot}_s{segment}`. */
  readonly group: string;
  readonly slot: number;
}

/**
 * Makes the rows of a forest from staged records by key. Every call is verified once; one that fails masks the rollout, with all reasons that were
 * found. What hangs on a call that failed is not looked at: its hashes could only fail for the same reason.
 */
export function buildRows(
  forest: Forest,
  staged: ReadonlyMap<string, StagedLookup>,
  names: RowNames,
): Checked<readonly Row[]> {
  const reasons: Reason[] = [];
  const verified = new Map<ForestNode, boolean>();
  const rows: Row[] = [];
  for (const [segment, { nodes, withLoss }] of forest.rows.entries()) {
    const row = new RowBuilder();
    for (const node of nodes) {
      if (verified.get(node) === false) break;
      const call = findStaged(node, staged);
      if (!call.ok) {
        if (!verified.has(node)) reasons.push(...call.reasons);
        verified.set(node, false);
        break;
      }
      row.append(node, call.value, withLoss.has(node));
      if (verified.has(node)) continue;
      const wrong = verifyStaged(names.attempt, node, call.value, row.tokenIds);
      reasons.push(...wrong);
      verified.set(node, wrong.length === 0);
      if (wrong.length > 0) break;
    }
    const rowId = `${names.group}_g${names.slot}_s${segment}`;
    rows.push({
      rowId,
      rollout: names.attempt,
      segment,
      spans: row.spans,
      tokenIds: row.tokenIds,
      lossMask: row.lossMask,
      logprobs: row.logprobs,
    });
  }
  return reasons.length > 0 ? refused(...reasons) : ok(rows);
}

function findStaged(node: ForestNode, staged: ReadonlyMap<string, StagedLookup>): Checked<StagedCall> {
  const { staging_key: key, model_call_id: callId } = node.record;
  const lookup = staged.get(key) ?? { kind: 'missing' };
  switch (lookup.kind) {
    case 'found':
      return ok(lookup.call);
    case 'missing':
      return refused(reason('staged_missing', `call ${callId}: TransferQueue holds nothing under ${key}`, { callId }));
    case 'malformed':
      return refused(
        reason('staged_malformed', `call ${callId}: the staged record cannot be used: ${lookup.why}`, { callId }),
      );
    default:
      return lookup satisfies never;
  }
}

class RowBuilder {
  readonly spans: RowSpan[] = [];
  readonly tokenIds: number[] = [];
  readonly lossMask: number[] = [];
  readonly logprobs: number[] = [];

  append(node: ForestNode, call: StagedCall, withLoss: boolean): void {
    const from = this.tokenIds.length;
    for (const token of call.tokenIds) this.tokenIds.push(token);
    for (const mask of call.tokenMask) this.lossMask.push(withLoss ? mask : 0);
    for (const logprob of call.logprobs) this.logprobs.push(logprob);
    this.spans.push({
      callId: node.record.model_call_id,
      from,
      generatedFrom: from + (newPromptTokens(call.tokenMask) ?? 0),
      to: this.tokenIds.length,
      withLoss,
      weightVersion: call.weightVersion,
      extrasDigest: call.extrasDigest,
    });
  }
}
