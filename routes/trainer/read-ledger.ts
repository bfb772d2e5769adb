import type { FastifyInstance } from 'fastify';
import { readLedger } from '../../src/attempt/read-ledger.ts';
import type { Context } from '../../src/context.ts';
import { orUnavailable, sendParts, trainerAttempt } from './trainer-request.ts';

/** `GET /ledger/<attempt>`. Unknown attempt: open, empty lists, 200. Retired: 410. */
export function readLedgerRoute(app: FastifyInstance, ctx: Context): void {
  app.get('/ledger/:attempt', async (request, reply) => {
    const attempt = trainerAttempt(request);
    return sendParts(request, reply, await orUnavailable(ctx, 'read', () => readLedger(ctx, attempt)));
  });
}
