import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';

/** `/health/live`: the process answers. `/health/ready`: the ledger can be asked and written, a worker can be reached, and the process was not told to stop. */
export function healthRoutes(app: FastifyInstance, ctx: Context): void {
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    if (ctx.lifecycle.draining) return reply.code(503).send({ status: 'stopping' });
    const [ledger, worker] = await Promise.all([
      ctx.ledger.ready().then(
        () => 'ok',
        (error: Error) => error.message,
      ),
      ctx.workers.anyReachable(),
    ]);
    const ready = ledger === 'ok' && worker;
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ok' : 'unavailable',
      ledger,
      workers: worker ? 'ok' : 'no worker can be reached',
    });
  });
}
