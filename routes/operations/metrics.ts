import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';

/** `/metrics` for Prometheus. */
export function metricsRoute(app: FastifyInstance, ctx: Context): void {
  app.get('/metrics', async (_request, reply) => {
    return reply.type(ctx.metrics.registry.contentType).send(await ctx.metrics.registry.metrics());
  });
}
