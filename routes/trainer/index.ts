import type { FastifyInstance } from 'fastify';
import { checkControl } from '../../src/access.ts';
import type { Context } from '../../src/context.ts';
import { refuse } from '../../src/http-errors.ts';
import { closeAttemptRoute } from './close-attempt.ts';
import { manifestRoute } from './manifest.ts';
import { readLedgerRoute } from './read-ledger.ts';
import { retireDeleteRoutes } from './retire-delete.ts';

/** The trainer's side, behind the control token (protocol section 7). */
export function registerTrainerRoutes(app: FastifyInstance, ctx: Context): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      const refused = checkControl(request.headers, ctx.config.control.token);
      return refused === null ? undefined : refuse(ctx, request, reply, refused);
    });
    readLedgerRoute(scope, ctx);
    closeAttemptRoute(scope, ctx);
    retireDeleteRoutes(scope, ctx);
    manifestRoute(scope, ctx);
  });
}
