import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { registerCallRoutes } from '../routes/call/index.ts';
import { registerOperationsRoutes } from '../routes/operations/index.ts';
import { registerTrainerRoutes } from '../routes/trainer/index.ts';
import { takeBodiesAsBytes } from './body-parser.ts';
import { checkAttempt } from './call/identify-attempt.ts';
import type { Context } from './context.ts';
import { type ServiceError, ServiceErrorException, serviceError } from './errors.ts';
import { answerUnreadable, isWebSocket, refuse, sendError } from './http-errors.ts';

/** The HTTP side: the agents' server, and the control server where it has a port of its own (else both are one). */
export interface Apps {
  readonly agents: FastifyInstance;
  readonly control: FastifyInstance | null;
}

export function buildApps(ctx: Context): Apps {
  const agents = buildServer(ctx);
  const control = ctx.config.control.port === null ? null : buildServer(ctx);
  registerCallRoutes(agents, ctx);
  registerTrainerRoutes(control ?? agents, ctx);
  registerOperationsRoutes(control ?? agents, ctx);
  return { agents, control };
}

/** Room for the longest attempt name, percent-encoded, so that a bad one is told what is wrong with it. */
const MAX_PARAM_LENGTH = 2_000;

/** No route has schemas of the framework's, so what compiles them is not even loaded, which would take some megabytes. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } };

function noCompiler(): never {
  throw new Error('routes have no schemas of the framework');
}

function buildServer(ctx: Context): FastifyInstance {
  const app = fastify({
    loggerInstance: ctx.log as FastifyBaseLogger,
    // Nothing is logged by request: calls are logged by their own ids.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: MAX_PARAM_LENGTH },
    schemaController: NO_SCHEMAS,
    // Generations last minutes; what limits them is deadlines.call_s.
    requestTimeout: 0,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, request, reply) => {
      refuse(ctx, request, reply, attemptProblem(request.url) ?? serviceError('invalid_request', error.message));
    },
  });
  takeBodiesAsBytes(app, ctx.config.limits.body_bytes);
  app.addHook('onSend', async (_request, reply) => {
    if (ctx.lifecycle.draining) reply.header('connection', 'close');
  });
  app.setErrorHandler((error, request, reply) => {
    const told = toServiceError(ctx, error);
    // Nobody is there any more who was refused something.
    const isGone = request.raw.destroyed && !request.raw.complete;
    return told.status < 500 && !isGone ? refuse(ctx, request, reply, told) : sendError(request, reply, told);
  });
  app.setNotFoundHandler((request, reply) => refuse(ctx, request, reply, notFound(request)));
  return app;
}

function toServiceError(ctx: Context, error: unknown): ServiceError {
  if (error instanceof ServiceErrorException) return error.serviceError;
  const { statusCode, message } = error as { statusCode?: number; message: string };
  if (statusCode !== undefined && statusCode < 500) return serviceError('invalid_request', message);
  ctx.log.error({ err: error }, 'unexpected error');
  return serviceError('internal_error', 'The server failed in an unexpected way.');
}

function notFound(request: FastifyRequest): ServiceError {
  const path = request.url.split('?', 1)[0] as string;
  if (isWebSocket(request.headers)) {
    return serviceError('upgrade_required', 'WebSockets are not supported here; use HTTP requests.');
  }
  return (
    attemptProblem(path) ?? serviceError('not_found', `There is nothing at ${request.method} ${path.slice(0, 200)}.`)
  );
}

/** What is wrong with the attempt of a path that no route takes; null where that is not the matter. */
function attemptProblem(path: string): ServiceError | null {
  const attempt = /^\/(?:ng-rollout|context)\/([^/?]*)/.exec(path)?.[1];
  return attempt === undefined ? null : checkAttempt(decoded(attempt));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
