import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { z } from 'zod';
import { stagingKey } from '../../protocol/wire/primitives.ts';
import { parseWith } from '../chat-body.ts';
import type { WorkerContext } from '../context.ts';
import { engineError } from '../engine-reply.ts';
import { rawBody } from './request.ts';
import { sendReply } from './send-reply.ts';

const keyList = z.strictObject({ keys: z.array(z.string().min(1)) });

/** The TransferQueue stand-in over HTTP: what a trainer reads tokens from. */
export function transferQueueRoutes({ queue }: WorkerContext): FastifyPluginAsync {
  return async (app: FastifyInstance) => {
    app.get<{ Querystring: { prefix?: string } }>('/transfer-queue', async (request) => ({
      keys: queue.keys(request.query.prefix ?? ''),
    }));
    app.get<{ Params: { attempt: string; call: string } }>('/transfer-queue/:attempt/:call', async (request, reply) => {
      const key = stagingKey(request.params.attempt, request.params.call);
      const record = queue.get(key);
      return record ?? sendReply(reply, engineError(404, `nothing is staged under ${key}`), 0);
    });
    /** Records in the order of the keys; `missing` are those without a record. */
    app.post('/transfer-queue/get-batch', async (request, reply) => {
      const parsed = parseWith(keyList, rawBody(request));
      if (!parsed.ok) return sendReply(reply, engineError(400, parsed.message), 0);
      return queue.batch(parsed.value.keys);
    });
    app.post('/transfer-queue/clear', async (request, reply) => {
      const parsed = parseWith(keyList, rawBody(request));
      if (!parsed.ok) return sendReply(reply, engineError(400, parsed.message), 0);
      return queue.clear(parsed.value.keys);
    });
  };
}
