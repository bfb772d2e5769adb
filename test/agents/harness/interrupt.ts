import { setTimeout as sleep } from 'node:timers/promises';
import { pendingOf } from './compare.ts';
import type { World } from './scenario.ts';

/**
 * Where a call is when its connection breaks: the worker is busy and nothing came back yet; the same, and the agent comes back only when the reply is finished; or
 * the stream is open and holds comments (the stack needs short `sse.grace_s` and `sse.keepalive_s`).
 */
export type Moment = 'running' | 'finished' | 'streaming';

const POLL_MS = 20;
const PATIENCE_MS = 90_000;

/**
 * Breaks the connection of the one call that the worker holds (arm a `hold` before), and lets the agent's own retry code come back to it. Resolves when the worker has been
 * let go, and for `running` and `streaming` the re-send waits for its answer. Run it beside the agent.
 */
export async function interrupt(world: World, moment: Moment): Promise<void> {
  const { stack, network, tap } = world;
  await stack.worker.whenHeld(1, AbortSignal.timeout(PATIENCE_MS));
  if (moment === 'streaming') await until('a comment', () => tap.exchanges.at(-1)?.reply.startsWith(':') === true);
  const gone = await metric(world, 'gym_proxy_clients_gone_total');
  const joins = await metric(world, 'gym_proxy_joins_total');
  if (moment === 'finished') network.setFault({ refuse: true });
  network.cut();
  await until('the proxy to notice', async () => (await metric(world, 'gym_proxy_clients_gone_total')) > gone);
  if (moment === 'finished') {
    stack.worker.release();
    await until('the record', async () => {
      const { json } = await stack.control('GET', `/ledger/${world.attempt}`);
      return pendingOf(json).length === 0;
    });
    network.setFault(null);
    return;
  }
  await until('the re-send', async () => (await metric(world, 'gym_proxy_joins_total')) > joins);
  stack.worker.release();
}

/** Sum of a counter over its labels. */
async function metric({ stack }: World, name: string): Promise<number> {
  const { text } = await stack.get('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Polls until the condition holds; rejects when it does not for too long. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited too long for ${what}`);
    await sleep(POLL_MS);
  }
}
