import { resolve } from 'node:path';
import { isSystemError } from '../system-error.ts';
import { paddingRows } from './padding.ts';
import { countReasons, REASONS } from './reasons.ts';
import { rowLine } from './rows-run/row-lines.ts';
import { fileOutput, noOutput, outputTo, type RowOutput } from './rows-run/row-output.ts';
import { planRows, type RowsOptions, type RowsPlan, RowsUsageError } from './rows-run/rows-options.ts';
import { type GroupRun, runGroup } from './rows-run/run-group.ts';
import { StagedSources } from './rows-run/staged-sources.ts';
import { SourceError } from './source-error.ts';

/** What the command needs of its process. */
export interface RowsIo {
  /** Standard output. Resolves when more may be written. */
  readonly print: (text: string | Uint8Array) => Promise<void>;
  /** Standard error. */
  readonly warn: (text: string) => void;
  /** Relative policies are found from here. */
  readonly directory: string;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Exit codes of the command. */
export const ROWS_EXIT = {
  /** Every rollout gave rows. */
  ok: 0,
  /** A source cannot be read, or the output not be written. */
  failed: 1,
  /** The options cannot be used. */
  usage: 2,
  /** Rows were written, but a rollout is masked or filtered, or a group dropped. */
  masked: 3,
} as const;

/**
 * `gym-model-proxy rows`: rows of one rollout, or of the rollouts of a group file, as JSON lines. Gives the exit code. Standard output carries the
 * drawing (`explain`), else the summary (`json`, or with `out`), else the rows themselves; what is masked is also told on standard error.
 */
export async function runRows(options: RowsOptions, io: RowsIo): Promise<number> {
  try {
    const plan = await planRows(options, io.directory);
    return await run(plan, options, io);
  } catch (error) {
    if (error instanceof RowsUsageError) {
      io.warn(`${error.message}\n`);
      return ROWS_EXIT.usage;
    }
    if (error instanceof SourceError || isSystemError(error)) {
      io.warn(`${(error as Error).message}\n`);
      return ROWS_EXIT.failed;
    }
    throw error;
  }
}

async function run(plan: RowsPlan, options: RowsOptions, io: RowsIo): Promise<number> {
  const http = { fetch: io.fetch, token: options.token };
  const staged = new StagedSources({ fetch: io.fetch, token: options.workerToken });
  const output = await openOutput(options, io);
  const runs: GroupRun[] = [];
  let padding: number;
  try {
    const context = { plan, taken: new Set<string>(), staged, http, output, explain: options.explain === true };
    for (const group of plan.groups) {
      const done = await runGroup(group, context);
      runs.push(done);
      if (done.explanation.length > 0 && options.json !== true) await io.print(`${done.explanation.join('\n')}\n\n`);
    }
    padding = await pad(plan, runs, output);
  } catch (error) {
    await output.discard();
    throw error;
  } finally {
    staged.close();
  }
  await output.finish();
  await conclude(runs, padding, options, io);
  const allValid = runs.every(
    ({ verdict, members }) => verdict.kind === 'kept' && members.every((member) => member.valid),
  );
  return allValid ? ROWS_EXIT.ok : ROWS_EXIT.masked;
}

async function openOutput(options: RowsOptions, io: RowsIo): Promise<RowOutput> {
  const { out, ledger, result, group, staged } = options;
  if (out === undefined) return options.explain === true || options.json === true ? noOutput : outputTo(io.print);
  const read = [ledger, result, group, staged].find((path) => path !== undefined && resolve(path) === resolve(out));
  if (read !== undefined) throw new RowsUsageError(`--out ${out} is one of the files that the rows are made from`);
  return fileOutput(out);
}

async function pad(plan: RowsPlan, runs: readonly GroupRun[], output: RowOutput): Promise<number> {
  if (plan.padToMultiple === null) return 0;
  const rows = runs.reduce((sum, { rows: own }) => sum + own, 0);
  const padding = paddingRows(runs.at(-1)?.group ?? 'group', rows, plan.padToMultiple, plan.padTokenId);
  for (const row of padding) await output.write(rowLine(row));
  return padding.length;
}

async function conclude(runs: readonly GroupRun[], padding: number, options: RowsOptions, io: RowsIo): Promise<void> {
  const reasons = runs.flatMap(({ members, verdict }) => {
    return [...members.flatMap((member) => member.reasons), ...(verdict.kind === 'dropped' ? verdict.reasons : [])];
  });
  const counts = countReasons(reasons);
  const rows = runs.reduce((sum, { rows: own }) => sum + own, 0);
  if (options.json === true) {
    await io.print(
      `${JSON.stringify({ rows, padding, reasons: Object.fromEntries(counts), groups: runs.map(summary) }, null, 2)}\n`,
    );
    return;
  }
  if (options.explain !== true) {
    for (const member of runs.flatMap(({ members }) => members)) {
      for (const { code, message } of member.reasons) io.warn(`${member.name}: ${code}: ${message}\n`);
    }
  }
  for (const [code, times] of counts) io.warn(`${times} × ${code}: ${REASONS[code]}\n`);
  if (options.out !== undefined) await io.print(`${rows} rows and ${padding} of padding in ${options.out}\n`);
}

function summary({ group, verdict, members, rows }: GroupRun) {
  return {
    group,
    rows,
    verdict: verdict.kind,
    valid_fraction: verdict.validFraction,
    rollouts: members.map((member, at) => ({
      slot: member.slot,
      rollout: member.attempt,
      reward: member.reward,
      valid: member.valid,
      advantage: verdict.kind === 'kept' ? verdict.advantages[at]?.advantage : null,
      baseline: verdict.kind === 'kept' ? verdict.advantages[at]?.baseline : null,
      truncated: member.truncated,
      sequence_error: member.sequenceError,
      selected: member.selected,
      row_ids: member.rowIds,
      reasons: member.reasons,
    })),
  };
}
