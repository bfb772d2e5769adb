import type { StagedRecord } from '../protocol/wire/ledger.ts';
import type { Admission } from './admission.ts';
import { buildStagedRecord } from './build-staged-record.ts';
import { failedCoordinates, stagedCoordinates, type WireCoordinates } from './coordinates.ts';
import type { PreparedPrompt } from './prepare-prompt.ts';
import type { TransferQueue } from './transfer-queue.ts';

export interface StageInput {
  readonly admission: Admission;
  readonly prepared: PreparedPrompt;
  readonly generated: readonly number[];
  /** Of every generated token. */
  readonly logprob: number;
  /** The value when the call was admitted. */
  readonly weightVersion: number;
  /** A misbehaviour: the store refuses. */
  readonly storingFails: boolean;
}

export type StageOutcome =
  | { readonly kind: 'staged'; readonly coordinates: WireCoordinates }
  | { readonly kind: 'capture_failed'; readonly coordinates: WireCoordinates; readonly why: string };

/**
 * Stores the call's delta and gives the coordinates to acknowledge it with (protocol sections 5, 6, 10). Delta = the prompt behind the parent's tokens
 * (mask 0, log probability 0) + what was generated (mask 1). What cannot be stored is `capture_failed`, and the call is answered all the same.
 */
export function stageCall(queue: TransferQueue, input: StageInput): StageOutcome {
  const { admission, prepared, weightVersion } = input;
  const failed = (why: string): StageOutcome => ({
    kind: 'capture_failed',
    coordinates: failedCoordinates(admission, prepared, weightVersion),
    why,
  });
  if (input.storingFails) return failed('told to fail');
  const record = stagedRecordOf(input);
  if (record.delta_len === 0) return failed('the call has no tokens of its own');
  let isNew: boolean;
  try {
    isNew = queue.put(record);
  } catch (error) {
    return failed(`the queue cannot store: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isNew) return failed(`${record.staging_key} is taken`);
  return { kind: 'staged', coordinates: stagedCoordinates(admission.ownerKey, record) };
}

function stagedRecordOf({ admission, prepared, generated, logprob, weightVersion }: StageInput): StagedRecord {
  const newPrompt = prepared.prompt.slice(prepared.prevLen);
  return buildStagedRecord({
    schemaVersion: admission.schemaVersion,
    owner: admission.owner,
    modelCallId: admission.modelCallId,
    parentCallId: prepared.parentCallId,
    parentChainHash: prepared.parentChainHash,
    prevLen: prepared.prevLen,
    weightVersion,
    tokens: prepared.prompt.concat(generated),
    delta: newPrompt.concat(generated),
    masks: [...newPrompt.map(() => 0), ...generated.map(() => 1)],
    logprobs: [...newPrompt.map(() => 0), ...generated.map(() => logprob)],
    extras: prepared.media.length === 0 ? null : { media_spans: prepared.media },
  });
}
