import { createServer, type RequestListener, type Server } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import type { WorkerContext } from '../context.ts';
import { engineError } from '../engine-reply.ts';
import { controlRoutes } from './control-routes.ts';
import { engineRoutes } from './engine-routes.ts';
import { sendReply } from './send-reply.ts';
import { transferQueueRoutes } from './transfer-queue-routes.ts';

/** Bodies of agents with many images. */
const BODY_LIMIT_BYTES = 512 * 1024 * 1024;

/** The worker's HTTP face. `first` sees every request before Fastify and says whether it has taken it. */
export function createServerApp(
  worker: WorkerContext,
  first: ((...call: Parameters<RequestListener>) => boolean) | null,
): FastifyInstance {
  const app: FastifyInstance = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    serverFactory: (handler) => nodeServer(handler, first),
  });
  // Bodies are read as they came: errors about them are the engine's own, and tests look at the bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((request, reply) =>
    sendReply(reply, engineError(404, `there is no ${request.method} ${request.url}`), worker.settings.streamDelayMs),
  );
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    const message = status < 500 && error instanceof Error ? error.message : 'internal error';
    return sendReply(reply, engineError(status, message), worker.settings.streamDelayMs);
  });
  app.register(engineRoutes(worker));
  app.register(transferQueueRoutes(worker));
  app.register(controlRoutes(worker));
  return app;
}

function nodeServer(
  handler: RequestListener,
  first: ((...call: Parameters<RequestListener>) => boolean) | null,
): Server {
  const listener: RequestListener =
    first === null
      ? handler
      : (request, response) => {
          if (!first(request, response)) handler(request, response);
        };
  // Generations may take long, and clients keep idle connections: nothing is cut here.
  return createServer({ keepAliveTimeout: 72_000, requestTimeout: 0 }, listener);
}

function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : 500;
  return typeof status === 'number' ? status : 500;
}
