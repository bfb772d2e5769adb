import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../../config/load.ts';
import { runCompactionAgent } from '../../examples/compaction-agent.ts';
import { rootLines } from '../cli/draw-ledger.ts';
import { type RunningReferenceWorker, startReferenceWorker } from '../reference-worker/reference-worker.ts';
import { type RunningServer, startServer } from '../server.ts';
import { CallNames } from '../trainer/explain/call-names.ts';
import { verdict } from '../trainer/explain/explain-rollout.ts';
import { table } from '../trainer/explain/table.ts';
import { LedgerClient } from '../trainer/ledger-client.ts';
import type { LedgerView } from '../trainer/ledger-view.ts';
import { runRows } from '../trainer/rows-command.ts';
import { AGENT, ATTEMPT, GROUP, WORKER } from './worked-example.ts';

/** What the demo leaves running with `--keep`. */
export interface Demo {
  readonly worker: RunningReferenceWorker;
  readonly proxy: RunningServer;
  readonly controlToken: string;
  close(): Promise<void>;
}

/** Starts worker and proxy on embedded defaults: free ports, SQLite in a folder of its own. */
export async function startDemo(): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'gym-model-proxy-demo-'));
  const controlToken = randomBytes(24).toString('hex');
  const worker = await startReferenceWorker(WORKER);
  const config = loadConfig({
    flags: {
      'server.port': '0',
      workers: worker.url,
      'ledger.url': `sqlite:${join(folder, 'ledger.db')}`,
      'control.token': controlToken,
    },
  });
  const proxy = await startServer(config, { log: pino({ level: 'silent' }) });
  return {
    worker,
    proxy,
    controlToken,
    async close() {
      await proxy.stop();
      await worker.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The main job, end to end: agent → proxy → worker → TransferQueue stand-in → ledger → training rows. Gives the exit code. */
export async function runDemo(demo: Demo, print: (text: string) => void): Promise<number> {
  const { worker, proxy, controlToken } = demo;
  print('1. An agent works on its task. It knows nothing of calls, parents or tokens.\n');
  const result = await runCompactionAgent({ ...AGENT, baseURL: `${proxy.url}/ng-rollout/${ATTEMPT}/v1` });
  print(`   returned ${result.response.output.length} items and reward ${result.reward}\n\n`);

  print('2. The trainer closes the attempt and pulls its ledger.\n');
  const ledger = await new LedgerClient(proxy.controlUrl, { token: controlToken }).close(ATTEMPT, 30);
  if (!ledger.ok) throw new Error(ledger.reasons.map(({ message }) => message).join('; '));
  print(`${callsTable(ledger.value, worker).join('\n')}\n\n   ${verdict(ledger.value)}\n`);
  print(`${rootLines(ledger.value, new CallNames(ledger.value)).join('\n')}\n\n`);

  print('3. Ledger, staged tokens and the returned output become training rows.\n\n');
  return rows(demo, result, print);
}

/** Each call with the parent that was proposed and the one that was stored. */
function callsTable(ledger: LedgerView, worker: RunningReferenceWorker): string[] {
  const names = new CallNames(ledger);
  const proposed = new Map(
    worker.log().flatMap((event) => (event.event === 'admitted' ? [[event.model_call_id, event.parent_call_id]] : [])),
  );
  const parent = (callId: string | null | undefined) => (callId == null ? 'root' : names.of(callId));
  return table([
    ['   call', 'proposed', 'stored', 'prev', 'delta', 'cum'],
    ...ledger.records.map((record) => [
      `   ${names.of(record.model_call_id)}`,
      parent(proposed.get(record.model_call_id)),
      parent(record.parent_call_id),
      record.prev_len,
      record.delta_len,
      record.cum_len,
    ]),
  ]);
}

async function rows(demo: Demo, result: object, print: (text: string) => void): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'gym-model-proxy-rows-'));
  try {
    const files = { result: join(folder, 'result.json'), group: join(folder, 'group.json') };
    writeFileSync(files.result, JSON.stringify(result));
    writeFileSync(files.group, JSON.stringify(GROUP));
    return await runRows(
      {
        ledger: `${demo.proxy.controlUrl}/ledger/${ATTEMPT}`,
        token: demo.controlToken,
        staged: demo.worker.url,
        ...files,
        explain: true,
      },
      { print: async (text) => print(text.toString()), warn: print, directory: folder },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
