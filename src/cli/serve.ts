import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { startServer } from '../server.ts';
import { closeOnSignal } from './close-on-signal.ts';
import { addConfigOptions, configFrom } from './config-options.ts';
import { UsageError } from './usage-error.ts';
import { setV8Flags } from './v8-flags.ts';

/** Time beyond the drain in which a stopping process may close its connections. */
const CLOSING_MS = 10_000;

/** `gym-model-proxy serve`: the service. */
export function serveCommand(): Command {
  return addConfigOptions(
    new Command('serve')
      .description(
        'Run the service. Settings come from the file, then the environment, then flags; later ones win. Secrets belong into the ' +
          'environment or a file: flags can be read by every user of the machine.',
      )
      .summary('run the service')
      .addHelpText(
        'after',
        '\nExample:\n  export GYM_PROXY_CONTROL_TOKEN=$(openssl rand -hex 32)\n' +
          '  gym-model-proxy serve --workers http://vllm-0:8000,http://vllm-1:8000\n' +
          'Agents then use http://127.0.0.1:8080/ng-rollout/<attempt>/v1 as their base URL.',
      ),
  ).action(async (options: Record<string, unknown>) => {
    setV8Flags();
    const config = configFrom(options);
    if (config.control.token === null) {
      throw new UsageError(
        'a control token is needed: trainer and operators use it, agents never see it.\n' +
          'Make one and start again, for example:\n' +
          `  export GYM_PROXY_CONTROL_TOKEN=${randomBytes(24).toString('hex')}\n` +
          'or put it into a file and name the file in GYM_PROXY_CONTROL_TOKEN_FILE.',
      );
    }
    const server = await startServer(config);
    const { log } = server.ctx;
    closeOnSignal(log, config.deadlines.drain_s * 1000 + CLOSING_MS, async ({ signal, err }) => {
      if (err !== undefined) log.fatal({ err }, 'stopping because of an unexpected error');
      else log.info({ signal, calls: server.ctx.running.waitedFor() }, 'stopping: calls in flight are finished first');
      await server.stop();
    });
    for (const check of await server.ctx.ledger.check()) {
      server.ctx.metrics.ledgerCheck.set({ check: check.name }, check.ok ? 1 : 0);
      log[check.ok ? 'info' : 'warn']({ check: check.name, ok: check.ok }, `ledger: ${check.detail}`);
    }
    log.info(
      {
        url: server.url,
        controlUrl: server.controlUrl,
        workers: config.workers,
        replica: server.ctx.replica,
        schema: config.capture.schema_version,
      },
      `agents: ${server.url}/ng-rollout/<attempt>/v1 · trainer: ${server.controlUrl}/ledger/<attempt> · metrics: ${server.controlUrl}/metrics`,
    );
  });
}
