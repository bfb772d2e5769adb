import { setTimeout as sleep } from 'node:timers/promises';
import type { Incarnation } from '../evidence.ts';
import type { Random } from '../random.ts';
import { Agent, type Outcome, type Thread } from './agent.ts';
import { DIALECTS } from './dialects.ts';
import { Trainer } from './trainer.ts';
import type { LoadWorld } from './world.ts';

const HINTS = ['', '', '', '', '[tool]', '[tool]', '[tools]', '[think]', '[same]', '[slow]'];

const STEPS = {
  proceed: 60,
  fork: 12,
  sample: 7,
  rewrite: 7,
  start: 6,
  parallel: 6,
  read: 5,
} as const;

/** How a rollout left the name of its attempt. */
export type Ending =
  | { readonly kind: 'kept'; readonly incarnation: Incarnation }
  /** Nothing of the old life can come any more: the name may be used again. */
  | { readonly kind: 'free'; readonly incarnation: Incarnation }
  /** A request may still be on its way: it is deleted when that cannot be any more, else the request would become a call of the next life. */
  | {
      readonly kind: 'later';
      readonly incarnation: Incarnation;
      readonly atMs: number;
      readonly remove: () => Promise<Ending>;
    }
  | { readonly kind: 'gone' };

/**
 * One rollout: an agent that goes on, forks, samples again, rewrites its history, starts over and does two things at once; then a trainer that closes, looks
 * and cleans up, sometimes while calls are still running.
 */
export async function runRollout(world: LoadWorld, incarnation: Incarnation, random: Random): Promise<Ending> {
  const agent = new Agent(world, incarnation, random.fork('agent'));
  const trainer = new Trainer(world, incarnation, random.fork('trainer'));
  const threads: Thread[] = [newThread(random)];
  const steps = random.int(3, 24);
  const closesEarly = random.chance(0.1);
  for (let step = 0; step < steps && !world.isStopping(); step += 1) {
    const outcomes = await takeStep(agent, trainer, threads, random);
    for (const outcome of outcomes) if (outcome.kind === 'turn') threads.push(outcome.thread);
    if (threads.length > 12) threads.splice(0, threads.length - 12);
    if (outcomes.some(({ kind }) => kind === 'over')) break;
    await sleep(random.int(0, 10));
  }
  if (closesEarly) {
    const running = agent.proceed(random.pick(threads), { hint: '[slow]' });
    await sleep(random.int(0, 60));
    await trainer.close(random.pick([0, 0.1, 2]));
    await running;
  }
  return finish(world, agent, trainer, threads, random);
}

function newThread(random: Random): Thread {
  const dialect = random.pick(DIALECTS);
  return { dialect, system: random.chance(0.5) ? 'You are an agent.' : null, history: [], last: null };
}

async function takeStep(
  agent: Agent,
  trainer: Trainer,
  threads: readonly Thread[],
  random: Random,
): Promise<Outcome[]> {
  const latest = threads.at(-1) as Thread;
  const hint = random.pick(HINTS);
  switch (random.weighted(STEPS)) {
    case 'proceed':
      return [await agent.proceed(latest, { hint })];
    case 'fork':
      return [await agent.proceed(random.pick(threads), { hint })];
    case 'sample': {
      // The same request, sent once more on purpose: two calls, or a re-send of nothing.
      const text = agent.newText(hint);
      const added = latest.dialect.user(text);
      const asked = latest.last?.toolCalls.length ? null : { ...latest, history: [...latest.history, added] };
      if (asked === null) return [await agent.proceed(latest, { hint })];
      return [await agent.send(asked, text, { isSample: true }), await agent.send(asked, text, { isSample: true })];
    }
    case 'rewrite':
      return [await rewrite(agent, random.pick(threads), random)];
    case 'start':
      return [await agent.proceed(newThread(random), { hint })];
    case 'parallel':
      return Promise.all([agent.proceed(latest, { hint }), agent.proceed(random.pick(threads), { hint })]);
    case 'read':
      await trainer.read();
      return [];
  }
}

/** The history with another first message: nothing that was recorded is extended any more, unless what was recorded is shorter. */
async function rewrite(agent: Agent, thread: Thread, random: Random): Promise<Outcome> {
  const [first, ...rest] = thread.history;
  if (first === undefined) return agent.proceed(thread);
  const compacted = thread.dialect.user(`${agent.newText('')} summary`);
  // Calls that have no output yet get none any more.
  const kept = thread.last?.toolCalls.length === 0 && random.chance(0.5) ? rest : [];
  return agent.proceed({ ...thread, history: [compacted, ...kept], last: null });
}

async function finish(
  world: LoadWorld,
  agent: Agent,
  trainer: Trainer,
  threads: readonly Thread[],
  random: Random,
): Promise<Ending> {
  const { incarnation } = agent;
  const fate = random.weighted({ keep: 20, retire: 25, delete: 55 });
  // Somebody leaves in the middle of a call; what the worker answers then comes late, maybe to nobody.
  if (random.chance(0.5)) await agent.proceed(random.pick(threads), { hint: '[slow]', leaves: true });
  if ((await trainer.close(random.pick([0, 0.05, 0.5, 3]))) === null) return { kind: 'gone' };
  if (random.chance(0.3)) await callAfterClose(world, agent, random);
  if (fate === 'keep' || world.isStopping()) return { kind: 'kept', incarnation };
  if (random.chance(0.3)) await trainer.read();
  if (fate === 'retire' || random.chance(0.2)) {
    if (!(await trainer.remove('retire'))) return { kind: 'gone' };
    if (random.chance(0.3)) await lookAfterRetire(world, agent, trainer);
    if (fate === 'retire') return { kind: 'gone' };
  }
  const remove = async (): Promise<Ending> =>
    (await trainer.remove('delete')) && trainer.isClean ? { kind: 'free', incarnation } : { kind: 'gone' };
  const settledInMs = agent.settledInMs();
  return settledInMs === 0 ? remove() : { kind: 'later', incarnation, atMs: world.nowMs() + settledInMs, remove };
}

async function callAfterClose(world: LoadWorld, agent: Agent, random: Random): Promise<void> {
  const outcome = await agent.proceed(newThread(random));
  if (outcome.kind !== 'turn') return;
  const { attempt } = agent.incarnation;
  world.book.complain({ invariant: 5, rule: 'no call after close', attempt, callId: null, detail: 'it got a reply' });
}

async function lookAfterRetire(world: LoadWorld, agent: Agent, trainer: Trainer): Promise<void> {
  const status = await trainer.statusAfterRemoval();
  const { attempt } = agent.incarnation;
  if (status === 410 || status === null) return;
  world.book.complain({ invariant: 0, rule: 'a retired ledger is 410', attempt, callId: null, detail: `${status}` });
}
