import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { removeAttempts } from '../../src/attempt/remove-attempts.ts';
import type { Context } from '../../src/context.ts';
import { ServiceErrorException, serviceError } from '../../src/errors.ts';
import { ATTEMPT_PATTERN } from '../../src/protocol/wire/primitives.ts';
import { jsonBody, orUnavailable } from './trainer-request.ts';

const MAX_KEYS = 4096;

export function removalBody(name: 'capture_keys' | 'rollout_ids') {
  return z.strictObject({
    [name]: z.array(z.string().regex(ATTEMPT_PATTERN, 'not an attempt name')).min(1).max(MAX_KEYS),
  });
}

/** `POST /ledger/retire` and `/ledger/delete`, and the same under the peers' paths and names. */
export function retireDeleteRoutes(app: FastifyInstance, ctx: Context): void {
  const routes = [
    ['/ledger', 'capture_keys'],
    ['/training-token-capture/control/rollouts', 'rollout_ids'],
  ] as const;
  for (const [prefix, name] of routes) {
    const schema = removalBody(name);
    for (const operation of ['retire', 'delete'] as const) {
      app.post(`${prefix}/${operation}`, async (request, reply) => {
        const body = schema.safeParse(jsonBody(request));
        if (!body.success) {
          const issue = body.error.issues[0];
          const message = `${issue?.path.join('.') || name}: ${issue?.message}. Send {"${name}": [1 to ${MAX_KEYS} attempts]}.`;
          throw new ServiceErrorException(serviceError('invalid_request', message, { param: name }));
        }
        const attempts = body.data[name] as string[];
        return reply.send(await orUnavailable(ctx, operation, () => removeAttempts(ctx, operation, attempts)));
      });
    }
  }
}
