import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Stack, StackOptions } from '../../support/stack.ts';
import { startStack } from '../../support/stack.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { type ChildOptions, type ChildResult, runChild } from './child.ts';
import { compareWithExpected, type Ledger } from './compare.ts';
import type { ScriptedCall } from './expectation.ts';
import type { Schema } from './generations.ts';
import { isDocumented, type Outcome, type ResultRow, writeRow } from './results.ts';
import { type Exchange, startTap, type Tap } from './tap.ts';
import { tokenFields } from './token-fields.ts';

/*
 * How a published agent is tested here.
 *
 * A scenario is a list of calls that the agent is going to make, written down by a person: for each what the scripted model answers, and which
 * earlier call it must continue, or that it must be a root and why. `runScenario` starts a worker, a proxy with a SQLite file, a tap in front of it (so that everything
 * that crosses is known) and a network that can break in front of that, lets `drive` run the agent, closes the attempt and compares the ledger with the list:
 *
 *   const scenario = await runScenario({
 *     agent: 'Some agent', version: packages.version('some-agent'), dialect: 'Chat', run: 'task',
 *     calls: [
 *       { id: 'title', when: { has_tools: false }, answer: { content: 'A title' }, expect: { root: { cause: 'first_call' } } },
 *       { id: 'c1', answer: { tool_calls: [{ id: 'call_1', name: 'bash', arguments: { command: 'echo one' } }] }, expect: { root: { cause: 'history_differs' } } },
 *       { id: 'c2', answer: { content: 'done' }, expect: { parent: 'c1' }, sees: ['one'] },
 *     ],
 *     drive: async (world) => {
 *       const child = await world.exec(packages.bin('some-agent'), ['run', 'the task'], { env: { OPENAI_BASE_URL: `${world.base}/v1` } });
 *       assert.equal(child.code, 0, child.stderr);
 *     },
 *   });
 *
 * The id of a call is its completion id, so the served envelope and the record's `response_id` are it: that is how records are told apart, not by
 * their content. Calls without `when` are answered in the order of the list; those with `when` take the first call that matches, before the others.
 * `sees` and `lacks` are texts that the agent's own request must and must not hold: they pin what the client did. A call that the worker refuses for length is no
 * entry of the list; arm the fault in `drive` and say `refused: 1`. For connections that break see `interrupt`, and say `resends: 1`.
 *
 * All of this happens twice: with schema 3, for which the list is written, and with schema 2, for which `generations.ts` says what it means.
 *
 * `runScenario` asserts all of it, and that docs/agents.md shows the very row that it came to (`node scripts/agents-table.ts` writes its tables). Packages:
 * `installPackages('cli' | 'sdk')`. In-process SDKs take `world.base`; programs run through `world.exec`, in a clean home and environment.
 */

export interface Scenario {
  readonly agent: string;
  readonly version: string;
  readonly dialect: string;
  /** What is run, as docs/agents.md names it: `task`, `compaction`, `context refusal` ... */
  readonly run: string;
  /** A function where what the model says depends on the world, its folders for example. */
  readonly calls: readonly ScriptedCall[] | ((world: World) => readonly ScriptedCall[]);
  /** Calls that the worker refuses for length. Default 0. */
  readonly refused?: number;
  /** Requests that join a call which is running or has finished. Default 0. */
  readonly resends?: number;
  readonly stack?: StackOptions;
  /** What docs/agents.md says beside the row. */
  readonly note?: string;
  drive(world: World): Promise<void>;
}

/** What a scenario has to drive its agent with. */
export interface World {
  readonly stack: Stack;
  readonly tap: Tap;
  /** What the agent's connections go through on their way to the tap. */
  readonly network: TcpProxy;
  readonly attempt: string;
  /** `http://host:port/ng-rollout/<attempt>`, through network and tap. */
  readonly base: string;
  /** The home folder of the agent, empty at first. */
  readonly home: string;
  /** Its working folder, empty at first. */
  readonly work: string;
  exec(program: string, args: readonly string[], options?: Partial<ChildOptions>): Promise<ChildResult>;
}

/** What a scenario came to under one generation, and what it came from. */
export interface ScenarioRun {
  readonly outcome: Outcome;
  readonly ledger: Ledger;
  readonly exchanges: readonly Exchange[];
}

/** How long the ledger may take to settle after the agent has ended. */
const CLOSE_S = 30;

/** Runs one scenario with both generations; rejects with every deviation from what was written down. Resolves to the run with schema 3. */
export async function runScenario(scenario: Scenario): Promise<ScenarioRun> {
  // One after the other: the tests of a file run side by side already, and agents that wait for the processor run into their own timeouts.
  const schema3 = await runWith(scenario, 3);
  const schema2 = await runWith(scenario, 2);
  const { agent, version, dialect, run, note = null } = scenario;
  const row: ResultRow = { agent, version, dialect, run, schema3: schema3.outcome, schema2: schema2.outcome, note };
  await writeRow(row);
  if (!(await isDocumented(row)))
    throw new Error(
      `${attemptOf(scenario)}: docs/agents.md shows another result than this: run node scripts/agents-table.ts`,
    );
  return schema3;
}

async function runWith(scenario: Scenario, schema: Schema): Promise<ScenarioRun> {
  const attempt = attemptOf(scenario);
  const { stack: options = {} } = scenario;
  const config = { ...options.config, 'capture.schema_version': String(schema) };
  return withWorld(attempt, { ...options, config }, async (world) => {
    const calls = typeof scenario.calls === 'function' ? scenario.calls(world) : scenario.calls;
    world.stack.worker.script(scriptOf(calls));
    await scenario.drive(world);
    const { json: ledger } = await world.stack.control('POST', `/ledger/${attempt}/close?wait_s=${CLOSE_S}`);
    const { exchanges } = world.tap;
    const leaked = tokenFields(exchanges);
    const { counts, deviations, roots, unresolved } = compareWithExpected(calls, schema, ledger, exchanges);
    const refused = ledger.refused.length;
    const resends = callsOf(exchanges) - counts.calls;
    if (leaked.length > 0) deviations.push(`token-like fields in replies: ${[...new Set(leaked)].join(', ')}`);
    if (refused !== (scenario.refused ?? 0))
      deviations.push(`${refused} refused calls, ${scenario.refused ?? 0} expected`);
    if (resends !== (scenario.resends ?? 0))
      deviations.push(`${resends} requests came again, ${scenario.resends ?? 0} expected`);
    if (!ledger.complete) deviations.push('the ledger is not complete');
    // A call that is joined runs once: so many requests reached the engine as there are records, unresolved calls and refusals.
    const runs = world.stack.worker.requests().filter(({ path }) => path.endsWith('/chat/completions')).length;
    if (runs !== counts.calls + refused)
      deviations.push(`the engine ran ${runs} calls, ${counts.calls + refused} are in the ledger`);
    const left = world.stack.worker.scriptRemaining();
    if (left > 0) deviations.push(`${left} scripted answers were never asked for`);
    if (deviations.length > 0)
      throw new Error(`${attempt}, schema ${schema}:\n${deviations.join('\n')}\n${transcript(exchanges)}`);
    const outcome = { ...counts, refused, resends, tokenFields: leaked.length, roots, unresolved };
    return { outcome, ledger, exchanges };
  });
}

function attemptOf({ agent, dialect, run }: Scenario): string {
  return slug(`${agent}-${dialect}-${run}`);
}

/** A fresh world for `use`, gone afterwards. The worker's replies are full of token ids that nobody may see. */
export async function withWorld<T>(
  attempt: string,
  options: StackOptions,
  use: (world: World) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'gym-agent-'));
  const stack = await startStack({ ...options, worker: { leakTokens: true, ...options.worker } });
  const tap = await startTap(stack.proxy.url);
  const network = await startTcpProxy({ port: Number(new URL(tap.url).port) });
  const home = join(folder, 'home');
  const work = join(folder, 'work');
  try {
    for (const path of [home, work]) await mkdir(path);
    return await use({
      stack,
      tap,
      network,
      attempt,
      base: `${network.url}/ng-rollout/${attempt}`,
      home,
      work,
      exec: (program, args, own) => runChild(program, args, { cwd: work, home, ...own }),
    });
  } finally {
    await network.close();
    await tap.close();
    await stack.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function scriptOf(calls: readonly ScriptedCall[]) {
  const entry = ({ id, answer, when }: ScriptedCall) => ({ ...answer, id, times: 1, ...(when && { when }) });
  return {
    rules: calls.filter((call) => call.when !== undefined).map(entry),
    answers: calls.filter((call) => call.when === undefined).map(entry),
  };
}

/** Calls as the agent made them; what it was refused with an error does not count. */
function callsOf(exchanges: readonly Exchange[]): number {
  const path = /\/v1\/(responses|chat\/completions|messages)(\?.*)?$/;
  return exchanges.filter((exchange) => exchange.method === 'POST' && exchange.status < 400 && path.test(exchange.path))
    .length;
}

/** What crossed, shortened, for the message of a failed scenario. */
function transcript(exchanges: readonly Exchange[]): string {
  return exchanges
    .map(({ method, path, status, body, reply }, at) => {
      const shown = body.length > 1500 ? `… ${body.slice(-1500)}` : body;
      return `--- ${at} ${method} ${path} → ${status}\n${shown}\n${reply.slice(0, 600)}`;
    })
    .join('\n');
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
