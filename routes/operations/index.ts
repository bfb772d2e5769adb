import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { healthRoutes } from './health.ts';
import { inspectorRoutes } from './inspector.ts';
import { metricsRoute } from './metrics.ts';
import { openApiRoute } from './openapi.ts';

/** What operators and their machines look at. Health and metrics hold no content and are open. */
export function registerOperationsRoutes(app: FastifyInstance, ctx: Context): void {
  healthRoutes(app, ctx);
  metricsRoute(app, ctx);
  inspectorRoutes(app, ctx);
  openApiRoute(app, ctx);
}
