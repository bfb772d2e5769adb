/**
 * The trainer kit (protocol section 11): from the ledger of an attempt, the tokens in TransferQueue and the agent's returned history to verified
 * training rows. See docs/trainer.md.
 */
export { type Advantage, computeAdvantages, type Score } from './advantages.ts';
export { type Cleanup, cleanupKeys, clearPublished } from './cleanup.ts';
export { type DirectCall, DirectCapture } from './direct-capture.ts';
export { buildForest, type Forest, type ForestNode, type RowPath } from './forest.ts';
export { DEFAULT_GROUP_OPTIONS, type GroupOptions } from './group-options.ts';
export { type AssembledGroup, assembleGroup, type GroupVerdict, weighGroup } from './groups.ts';
export { guardLedger, guardSelected } from './guards.ts';
export { HttpFailure, type HttpOptions } from './http.ts';
export { type Judgement, judgeRollout } from './judge.ts';
export { LedgerClient, readLedger, readLedgerFromStore } from './ledger-client.ts';
export { type LedgerView, readLedgerView } from './ledger-view.ts';
export { paddingCount, paddingRows } from './padding.ts';
export { type Checked, countReasons, REASONS, type Reason, type ReasonCode } from './reasons.ts';
export { type HarnessResult, parseHarnessResult, readHarnessResult } from './result.ts';
export { buildRollout, namesOf, planRollout, type RolloutInput, type RolloutOutcome } from './rollout.ts';
export { buildRows, type Row, type RowNames, type RowSpan } from './rows.ts';
export { allCaptured } from './selection/all-captured.ts';
export { type CustomPolicy, customPolicy, loadCustomPolicy } from './selection/custom.ts';
export { declared } from './selection/declared.ts';
export { defaultPolicy, resolvePolicy } from './selection/resolve-policy.ts';
export { returnedHistory } from './selection/returned-history.ts';
export type { Selection, SelectionPolicy } from './selection/selection.ts';
export { sequenceError, type TrainerLogprobs } from './sequence-error.ts';
export { HttpStagedStore } from './staged/http-store.ts';
export { JsonlStagedStore } from './staged/jsonl-store.ts';
export { MemoryStagedStore } from './staged/memory-store.ts';
export { parseStagedCall, type StagedCall, type StagedLookup } from './staged/staged-call.ts';
export { fetchStaged, type StagedStore } from './staged/staged-store.ts';
export type { TrainingRow } from './training-row.ts';
export { verifyStaged } from './verify-staged.ts';
