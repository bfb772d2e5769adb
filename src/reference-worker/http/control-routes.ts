import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parseWith } from '../chat-body.ts';
import type { WorkerContext } from '../context.ts';
import { engineError } from '../engine-reply.ts';
import { fault } from '../faults.ts';
import { releaseFilter } from '../holds.ts';
import { scriptUpdate } from '../model.ts';
import { rawBody } from './request.ts';
import { sendReply } from './send-reply.ts';

const weights = z.strictObject({ version: z.int().nonnegative() });
/** Faults to arm; `clear` first forgets those that are armed. */
const faultUpdate = z.strictObject({ faults: z.array(fault).default([]), clear: z.boolean().default(false) });

/** Where tests and operators of the stand-in steer it and see what it did. */
export function controlRoutes(worker: WorkerContext): FastifyPluginAsync {
  const state = () => ({
    weight_version: worker.weightVersion,
    script_remaining: worker.model.remaining(),
    faults: worker.faults.list(),
    held: worker.holds.list(),
  });

  return async (app: FastifyInstance) => {
    const command = <T>(path: string, schema: z.ZodType<T>, run: (value: T) => unknown) =>
      app.post(path, async (request: FastifyRequest, reply) => {
        const raw = rawBody(request);
        const parsed = parseWith(schema, raw.length === 0 ? Buffer.from('{}') : raw);
        if (!parsed.ok) return sendReply(reply, engineError(400, parsed.message, { param: parsed.param }), 0);
        return run(parsed.value);
      });

    command('/control/script', scriptUpdate, (update) => {
      worker.model.load(update);
      return state();
    });
    command('/control/weights', weights, ({ version }) => {
      worker.weightVersion = version;
      return state();
    });
    command('/control/faults', faultUpdate, ({ faults, clear }) => {
      if (clear) worker.faults.clear();
      worker.faults.arm(faults);
      return state();
    });
    command('/control/release', releaseFilter, (filter) => ({ released: worker.holds.release(filter) }));
    app.get('/control/state', async () => state());
    /** Waits until at least `at_least` calls are held, or the time is up; answers with those that are. */
    app.get<{ Querystring: { at_least?: string; wait_s?: string } }>('/control/held', async (request) => {
      const waitMs = 1000 * Number(request.query.wait_s ?? '0');
      const timeUp = new Promise<null>((resolve) => setTimeout(resolve, waitMs, null).unref());
      const stop = new AbortController();
      const held = worker.holds.whenHeld(Number(request.query.at_least ?? '0'), stop.signal).catch(() => null);
      await Promise.race([held, timeUp]);
      stop.abort();
      return { held: worker.holds.list() };
    });
    /** The newest requests of engine routes, as they came. */
    app.get('/control/requests', async () => ({
      requests: worker.requests.map(({ body, ...request }) => ({ ...request, body: body.toString('utf8') })),
    }));
    app.get<{ Querystring: { after?: string } }>('/log', async (request) =>
      worker.log.list(Number(request.query.after ?? '0')),
    );
  };
}
