import { Command } from 'commander';
import { buildContext } from '../context.ts';
import { isJsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import type { SendOutcome } from '../worker/send.ts';
import { addConfigOptions, configFrom } from './config-options.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** `gym-model-proxy doctor`: would a service with this configuration work? Changes nothing but what opening the ledger does. */
export function doctorCommand(): Command {
  return addConfigOptions(
    new Command('doctor')
      .description(
        'Check whether `serve` with the same settings would work: the configuration, the ledger and the durability that it gives, ' +
          'the workers and their models. Exit code 1 where something is wrong.',
      )
      .summary('check configuration, ledger and workers'),
  )
    .option('--json', 'print the findings as JSON')
    .action(async (options: Record<string, unknown>) => {
      const config = configFrom(options);
      const ctx = await buildContext({ ...config, log: { level: 'silent' } });
      const findings: Finding[] = [
        {
          check: 'control token',
          ok: config.control.token !== null,
          detail: config.control.token === null ? 'not set; serve will refuse to start' : 'set',
        },
      ];
      try {
        await ctx.ledger.start();
        for (const { name, ok, detail } of await ctx.ledger.check())
          findings.push({ check: `ledger: ${name}`, ok, detail });
      } catch (error) {
        findings.push({ check: 'ledger', ok: false, detail: (error as Error).message });
      }
      for (const worker of ctx.workers.workers) {
        const outcome = await ctx.workers.get(worker, '/v1/models', config.worker.connect_s * 1000);
        findings.push({ check: `worker ${worker.url}`, ...describe(outcome) });
      }
      await ctx.ledger.stop().catch(() => undefined);
      await ctx.workers.close();
      print(findings, options.json === true);
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}

function describe(outcome: SendOutcome): Omit<Finding, 'check'> {
  if (outcome.kind !== 'response') return { ok: false, detail: outcome.detail };
  if (outcome.status === 401 || outcome.status === 403)
    return { ok: false, detail: `refuses our credentials (${outcome.status}): check worker.api_key` };
  const node = parseJson(outcome.body);
  const models = isJsonProblem(node)
    ? []
    : (node.get('data')?.elements() ?? []).map((model) => model.get('id')?.string());
  return {
    ok: outcome.status === 200 && models.length > 0,
    detail: `status ${outcome.status}, models: ${models.join(', ') || 'none'}`,
  };
}

function print(findings: readonly Finding[], json: boolean): void {
  if (json) {
    console.log(JSON.stringify({ ok: findings.every(({ ok }) => ok), findings }));
    return;
  }
  for (const { check, ok, detail } of findings) console.log(`${ok ? 'ok  ' : 'FAIL'}  ${check}: ${detail}`);
}
