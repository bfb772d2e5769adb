import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { closeAttempt } from '../../src/attempt/close-attempt.ts';
import type { Context } from '../../src/context.ts';
import { ServiceErrorException, serviceError } from '../../src/errors.ts';
import { orUnavailable, sendParts, trainerAttempt } from './trainer-request.ts';

export const closeQuery = z.strictObject({
  wait_s: z.coerce
    .number()
    .min(0)
    .max(3600)
    .default(300)
    .meta({ description: 'longest time to wait for calls in flight, in seconds' }),
});

/** `POST /ledger/<attempt>/close?wait_s=300`: 200 with the ledger, complete or not. */
export function closeAttemptRoute(app: FastifyInstance, ctx: Context): void {
  app.post('/ledger/:attempt/close', async (request, reply) => {
    const attempt = trainerAttempt(request);
    const query = closeQuery.safeParse(request.query);
    // Coercion would take an empty text for 0.
    if (!query.success || (request.query as { wait_s?: string }).wait_s?.trim() === '') {
      throw new ServiceErrorException(
        serviceError('invalid_request', 'wait_s must be a number of seconds from 0 to 3600.', { param: 'wait_s' }),
      );
    }
    const waitMs = query.data.wait_s * 1000;
    return sendParts(request, reply, await orUnavailable(ctx, 'close', () => closeAttempt(ctx, attempt, waitMs)));
  });
}
