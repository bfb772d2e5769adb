import type { Evidence, Violation } from '../evidence.ts';
import { checkIntents } from './intents.ts';
import { checkParents } from './parents.ts';
import { checkReplies } from './replies.ts';
import { checkResends } from './resends.ts';
import { checkRows } from './rows.ts';
import { checkSettled } from './settled.ts';
import { checkStaged } from './staged.ts';
import { checkSuccessors } from './successors.ts';

/** Every invariant of design.md that can be seen from outside, over a whole run. */
export async function checkEvidence(evidence: Evidence): Promise<Violation[]> {
  return [
    ...evidence.seen,
    ...checkIntents(evidence),
    ...checkReplies(evidence),
    ...checkStaged(evidence),
    ...checkParents(evidence),
    ...checkSettled(evidence),
    ...checkSuccessors(evidence),
    ...checkResends(evidence),
    ...(await checkRows(evidence)),
  ];
}
