import type { FastifyInstance } from 'fastify';
import { readManifest } from '../../src/attempt/read-ledger.ts';
import type { Context } from '../../src/context.ts';
import { orUnavailable, sendParts, trainerAttempt } from './trainer-request.ts';

/** The peers' path of the manifest. */
export function manifestRoute(app: FastifyInstance, ctx: Context): void {
  app.get('/training-token-capture/control/rollouts/:attempt/manifest', async (request, reply) => {
    const attempt = trainerAttempt(request);
    return sendParts(request, reply, await orUnavailable(ctx, 'read manifest', () => readManifest(ctx, attempt)));
  });
}
