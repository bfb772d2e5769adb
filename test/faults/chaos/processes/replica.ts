import { pino } from 'pino';
import { loadConfig } from '../../../../config/load.ts';
import { startServer } from '../../../../src/server.ts';
import { ready, settingsOf, tell } from './child-side.ts';
import { type Plant, plantBefore, plantInto } from './plants.ts';

/** One proxy replica of the chaos harness: the real server, which also says which of its calls are between intent and record. */
export interface ReplicaSettings {
  /** Configuration by `section.key`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly plant: Plant | null;
}

export type ReplicaMessage = { readonly intent: string } | { readonly settled: string };

const { flags, plant } = settingsOf<ReplicaSettings>();
if (plant !== null) plantBefore(plant);
const server = await startServer(loadConfig({ flags }), {
  log: pino({ level: 'warn', base: null }, pino.destination(1)),
});
const { ledger } = server.ctx;

const admit = ledger.admit.bind(ledger);
ledger.admit = async (request) => {
  const outcome = await admit(request);
  if (outcome.kind === 'admitted') tell({ intent: request.callId } satisfies ReplicaMessage);
  return outcome;
};
for (const name of ['commit', 'addFailure', 'settleRefused'] as const) {
  const run = ledger[name].bind(ledger) as (...args: unknown[]) => Promise<unknown>;
  const watched = async (...args: unknown[]) => {
    const outcome = await run(...args);
    const callId = name === 'commit' ? (args[0] as { callId: string }).callId : (args[1] as string);
    tell({ settled: callId } satisfies ReplicaMessage);
    return outcome;
  };
  Object.assign(ledger, { [name]: watched });
}
if (plant !== null) plantInto(plant, ledger);

process.once('SIGTERM', () => {
  server.stop().then(() => process.exit(0));
});
ready();
