import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { buildApps } from './app.ts';
import { buildContext, type Context, type ContextOverrides } from './context.ts';

/** A running proxy. */
export interface RunningServer {
  readonly ctx: Context;
  /** Base URL of the agents' port, without a path. */
  readonly url: string;
  readonly controlUrl: string;
  /**
   * Gives calls in flight `deadlines.drain_s` to finish, then stops listening and releases the ledger. Until then new calls are answered 503 `shutting_down`,
   * the trainer is served, and every reply closes its connection.
   */
  stop(): Promise<void>;
}

const LAG_EVERY_MS = 500;
/** How long requests of trainer and operators that are being answered may go on once the calls have ended. */
const ANSWERING_MS = 2_500;
/** A ledger that does not answer is not waited for longer when the process ends: less than what `serve` allows for closing. */
const LEAVING_MS = 5_000;

/** Builds everything, starts the ledger, settles what dead replicas left, and listens (protocol section 1). Throws where the ledger or a port cannot be had. */
export async function startServer(config: Config, overrides: ContextOverrides = {}): Promise<RunningServer> {
  const ctx = await buildContext(config, overrides);
  await ctx.ledger.start();
  await sweep(ctx);
  const apps = buildApps(ctx);
  try {
    await apps.agents.listen({ host: config.server.host, port: config.server.port });
    await apps.control?.listen({ host: config.control.host ?? config.server.host, port: config.control.port ?? 0 });
  } catch (error) {
    await Promise.all([apps.agents.close(), apps.control?.close()]);
    await ctx.ledger.stop();
    await ctx.workers.close();
    throw error;
  }
  const stopping = new AbortController();
  const background = [keepSwept(ctx, stopping.signal), measureLag(ctx, stopping.signal)];
  const url = addressOf(apps.agents.server.address(), config.server.host);
  let stopped: Promise<void> | undefined;
  return {
    ctx,
    url,
    controlUrl:
      apps.control === null ? url : addressOf(apps.control.server.address(), config.control.host ?? config.server.host),
    stop() {
      stopped ??= (async () => {
        ctx.lifecycle.draining = true;
        for (const app of [apps.agents, apps.control]) app?.server.closeIdleConnections();
        const drained = await ctx.running.idle(config.deadlines.drain_s * 1000);
        ctx.lifecycle.drained = true;
        const closing = Promise.all([apps.agents.close(), apps.control?.close()]);
        if (!drained) ctx.log.warn({ calls: ctx.running.waitedFor() }, 'calls were still running; they stay pending');
        // A trainer whose close waits gets the ledger as it is now.
        await Promise.race([closing, sleep(ANSWERING_MS, undefined, { ref: false })]);
        apps.agents.server.closeAllConnections();
        apps.control?.server.closeAllConnections();
        await closing;
        stopping.abort();
        const leaving = leave(ctx, background).catch((error: unknown) => ctx.events.sweepFailed(error));
        await Promise.race([leaving, sleep(LEAVING_MS, undefined, { ref: false })]);
        await ctx.workers.close();
      })();
      return stopped;
    },
  };
}

/** Tells the ledger what it is still owed and that this replica is gone. If it cannot be reached, a later sweep finds the same. */
async function leave(ctx: Context, background: readonly Promise<void>[]): Promise<void> {
  await Promise.all(background);
  await ctx.owed.settle();
  await ctx.ledger.stop();
}

async function sweep(ctx: Context): Promise<void> {
  try {
    const { deadReplicas, settledCalls } = await ctx.ledger.sweep();
    if (deadReplicas.length > 0 || settledCalls > 0) ctx.events.swept(deadReplicas, settledCalls);
    await ctx.owed.settle();
  } catch (error) {
    ctx.events.sweepFailed(error);
  }
}

/** Renews the lease three times in its length, and settles what replicas with an older one left. */
async function keepSwept(ctx: Context, signal: AbortSignal): Promise<void> {
  while (await pause((ctx.config.ledger.lease_s * 1000) / 3, signal)) await sweep(ctx);
}

async function measureLag(ctx: Context, signal: AbortSignal): Promise<void> {
  for (;;) {
    const startedMs = performance.now();
    if (!(await pause(LAG_EVERY_MS, signal))) return;
    ctx.metrics.eventLoopLagSeconds.observe(Math.max(0, performance.now() - startedMs - LAG_EVERY_MS) / 1000);
  }
}

/** False once the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}

function addressOf(address: ReturnType<import('node:net').Server['address']>, host: string): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${address.port}`;
}
