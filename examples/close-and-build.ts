import { parseArgs } from 'node:util';
import {
  buildRollout,
  defaultPolicy,
  HttpStagedStore,
  LedgerClient,
  parseHarnessResult,
  type RolloutOutcome,
  type SelectionPolicy,
} from '../src/trainer/index.ts';

/** The trainer's side of an example: where the proxy's control routes and the worker are. */
export interface TrainerSide {
  /** The proxy, without a path. */
  readonly controlUrl: string;
  readonly token: string;
  /** The reference worker, without a path. */
  readonly workerUrl: string;
}

/** Closes the attempt, pulls its ledger and the staged tokens, and makes the rows. `result`: what the agent returned. */
export async function closeAndBuild(
  side: TrainerSide,
  attempt: string,
  result: object,
  policy: SelectionPolicy = defaultPolicy,
): Promise<RolloutOutcome> {
  const ledger = await new LedgerClient(side.controlUrl, { token: side.token }).close(attempt, 60);
  return buildRollout({
    attempt,
    ledger,
    result: parseHarnessResult(JSON.stringify(result)),
    policy,
    staged: new HttpStagedStore(side.workerUrl),
  });
}

/** Command line of the examples that need a proxy and a worker; `npm run demo -- --keep` leaves both running and prints the values. */
export function readSide(example: string): TrainerSide & { readonly baseURL: string; readonly attempt: string } {
  const { values } = parseArgs({
    options: {
      proxy: { type: 'string', default: 'http://127.0.0.1:8080' },
      worker: { type: 'string', default: 'http://127.0.0.1:8000' },
      token: { type: 'string', default: '' },
      attempt: { type: 'string', default: `${example}-${Date.now()}` },
    },
  });
  const { proxy, worker, token, attempt } = values;
  const controlUrl = proxy.replace(/\/+$/, '');
  return { controlUrl, token, workerUrl: worker, attempt, baseURL: `${controlUrl}/ng-rollout/${attempt}/v1` };
}
