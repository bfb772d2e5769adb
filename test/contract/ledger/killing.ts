import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Ledger } from '../../../src/ledger/ledger.ts';

const WRITER = join(import.meta.dirname, 'child-writer.ts');

/** What a process had been told when it ended. */
export interface Told {
  readonly admitted: Set<string>;
  readonly committed: Set<string>;
}

export interface Writer {
  readonly url: string;
  readonly attempt: string;
  readonly callsAtOnce: number;
  /** Kills the process (SIGKILL) when it has been told of so many commits. */
  readonly killAt?: number;
  /** Ends by itself after so many calls. */
  readonly calls?: number;
  /** What the shell runs before it becomes the process: a limit, say. */
  readonly shell?: string;
  readonly environment?: Record<string, string>;
}

/** Runs a process that writes calls until it ends (child-writer.ts). */
export async function runWriter(writer: Writer): Promise<Told & { signal: NodeJS.Signals | null; errors: string }> {
  const { url, attempt, callsAtOnce, killAt, calls, shell = ':', environment } = writer;
  const command = [`${shell}; exec "$0" "$@"`, process.execPath, WRITER, url, attempt, String(callsAtOnce)];
  if (calls !== undefined) command.push(String(calls));
  const child = spawn('sh', ['-c', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_, signal) => resolve(signal)));
  const told: Told = { admitted: new Set(), committed: new Set() };
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, callId] = line.split(' ');
    if (what === 'admitted') told.admitted.add(callId!);
    if (what === 'committed') told.committed.add(callId!);
    if (told.committed.size === killAt) child.kill('SIGKILL');
  }
  return { ...told, signal: await ended, errors: errors.join('') };
}

/** Runs it and kills it after so many commits. */
export async function writeAndKill(url: string, attempt: string, callsAtOnce: number, killAt: number): Promise<Told> {
  const { signal, errors, ...told } = await runWriter({ url, attempt, callsAtOnce, killAt });
  assert.equal(signal, 'SIGKILL', errors);
  return told;
}

/** Everything that the process was told holds, and what it left half done is pending. */
export async function assertKept(ledger: Ledger, attempt: string, { admitted, committed }: Told): Promise<void> {
  const snapshot = await ledger.snapshot(attempt);
  assert.ok(snapshot !== 'retired');
  const records = (await ledger.records(attempt, 0, 1_000_000)).map(
    (text) => (JSON.parse(text) as { callId: string }).callId,
  );
  assert.equal(new Set(records).size, records.length);
  assert.deepEqual(
    [...committed].filter((callId) => !records.includes(callId)),
    [],
  );
  assert.deepEqual(
    [...admitted].filter((callId) => !snapshot.attemptedCallIds.includes(callId)),
    [],
  );
  assert.deepEqual(
    snapshot.pendingCallIds,
    snapshot.attemptedCallIds.filter((callId) => !records.includes(callId)),
  );
}
