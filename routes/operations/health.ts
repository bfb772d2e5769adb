import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';

/** `/health/live`: the process answers. `/health/ready`: the ledger can be asked and a worker can be reached. */
export function healthRoutes(app: FastifyInstance, ctx: Context): void {
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const [checks, worker] = await Promise.all([
      ctx.ledger.check().catch((error: Error) => [{ name: 'ledger', ok: false, detail: error.message }]),
      ctx.workers.anyReachable(),
    ]);
    const reachable = checks.find((check) => check.name === 'reachable') ?? checks[0];
    const ledger = reachable?.ok ?? false;
    const ready = ledger && worker;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ok' : 'unavailable',
      ledger: ledger ? 'ok' : (reachable?.detail ?? 'unknown'),
      workers: worker ? 'ok' : 'no worker can be reached',
    });
  });
}
