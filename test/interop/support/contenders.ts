import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningReferenceWorker, startReferenceWorker } from '../../../src/reference-worker/reference-worker.ts';
import { freePort } from '../../support/ports.ts';
import { CONTROL_TOKEN, send } from '../../support/stack.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { PYTHON_FOLDER } from './python-environment.ts';

/** What a trainer reads of an attempt under the peers' path. */
export interface Manifest {
  readonly records: readonly {
    readonly model_call_id: string;
    readonly parent_call_id: string | null;
    readonly response_id: string;
    readonly output_fingerprint: string | null;
    readonly continuation_fingerprint: string | null;
  }[];
  readonly failures: readonly { readonly model_call_id: string; readonly reason: string }[];
}

/** A model server in a process of its own, in front of a reference worker of its own: the released one, or ours. */
export interface Contender {
  readonly url: string;
  readonly worker: RunningReferenceWorker;
  /** Status and body of the manifest. */
  manifest(attempt: string): Promise<{ readonly status: number; readonly manifest: Manifest }>;
  /** Kills it at once and starts it again, on the same port and with what it kept on disk. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

type Start = (setup: {
  readonly port: number;
  readonly workerUrl: string;
  readonly folder: string;
}) => Promise<RunningProcess>;

/** The released model server, started by its package's own entry point with its settings for external staging. */
export function startReleased(python: string): Promise<Contender> {
  return startContender(({ port, workerUrl, folder }) =>
    startProcess(python, [join(PYTHON_FOLDER, 'released_server.py'), folder], {
      ready: /Uvicorn running on/,
      env: {
        NEMO_GYM_TOKEN_CAPTURE_CONTROL_TOKEN: CONTROL_TOKEN,
        NEMO_GYM_CONFIG_PATH: 'policy_model',
        NEMO_GYM_CONFIG_DICT: JSON.stringify({
          dry_run: false,
          head_server: { host: '127.0.0.1', port: 1 },
          token_id_capture: {
            enabled: true,
            all_agents: true,
            external_staging: true,
            rebuild_response: false,
          },
          policy_model: {
            responses_api_models: {
              vllm_model: {
                entrypoint: 'app.py',
                host: '127.0.0.1',
                port,
                base_url: `${workerUrl}/v1`,
                api_key: 'none',
                model: 'policy',
                return_token_id_information: false,
                uses_reasoning_parser: true,
              },
            },
          },
        }),
      },
    }),
  );
}

/** This project's server under schema 2, otherwise with its defaults. */
export function startOurs(): Promise<Contender> {
  const main = join(import.meta.dirname, '..', '..', '..', 'src', 'cli', 'main.ts');
  return startContender(({ port, workerUrl, folder }) =>
    startProcess(process.execPath, [main, 'serve'], {
      ready: /"url":"http/,
      env: {
        GYM_PROXY_PORT: String(port),
        GYM_PROXY_WORKERS: workerUrl,
        GYM_PROXY_CONTROL_TOKEN: CONTROL_TOKEN,
        GYM_PROXY_LEDGER_URL: `sqlite:${join(folder, 'ledger.db')}`,
        GYM_PROXY_CAPTURE_SCHEMA_VERSION: '2',
      },
    }),
  );
}

async function startContender(start: Start): Promise<Contender> {
  const folder = mkdtempSync(join(tmpdir(), 'gym-proxy-interop-'));
  const worker = await startReferenceWorker();
  const setup = { port: await freePort(), workerUrl: worker.url, folder };
  let program = await start(setup);
  const url = `http://127.0.0.1:${setup.port}`;
  return {
    url,
    worker,
    async manifest(attempt) {
      const path = `/training-token-capture/control/rollouts/${attempt}/manifest`;
      const reply = await send('GET', url + path, undefined, { authorization: `Bearer ${CONTROL_TOKEN}` });
      if (reply.status === 200) assert.ok(Array.isArray(reply.json?.records), reply.text);
      return { status: reply.status, manifest: reply.json };
    },
    async killAndRestart() {
      await program.kill9();
      program = await start(setup);
    },
    async stop() {
      await program.stop();
      await worker.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
