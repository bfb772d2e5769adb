import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { controlOnly } from '../operations/control-request.ts';
import { closeAttemptRoute } from './close-attempt.ts';
import { manifestRoute } from './manifest.ts';
import { readLedgerRoute } from './read-ledger.ts';
import { retireDeleteRoutes } from './retire-delete.ts';

/** The trainer's side, behind the control token (protocol section 7). */
export function registerTrainerRoutes(app: FastifyInstance, ctx: Context): void {
  app.register(async (scope) => {
    scope.addHook('onRequest', controlOnly(ctx));
    readLedgerRoute(scope, ctx);
    closeAttemptRoute(scope, ctx);
    retireDeleteRoutes(scope, ctx);
    manifestRoute(scope, ctx);
  });
}
