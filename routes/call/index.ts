import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkAgent } from '../../src/access.ts';
import { buildModelList } from '../../src/call/models.ts';
import type { Context } from '../../src/context.ts';
import { serviceError } from '../../src/errors.ts';
import { isWebSocket, refuse, sendError } from '../../src/http-errors.ts';
import { attemptOf } from './attempt-of.ts';
import { chatCompletionsRoute } from './chat-completions.ts';
import { measureRoute } from './measure.ts';
import { messagesRoute } from './messages.ts';
import { modelsRoute } from './models.ts';
import { responsesRoute } from './responses.ts';

/** Prefixes of the agents' URLs (protocol section 2): two that capture, one that does not. */
export const CALL_PREFIXES = [
  '/ng-rollout/:attempt/training-token-capture/v1',
  '/ng-rollout/:attempt/v1',
  '/v1',
] as const;

/** The agents' side, behind the check of who may use it. */
export function registerCallRoutes(app: FastifyInstance, ctx: Context): void {
  const models = buildModelList(ctx);
  const secrets = { controlToken: ctx.config.control.token, keySecret: ctx.config.agents.key_secret };
  app.register(async (scope) => {
    scope.addHook('onRequest', (request, reply, done) => {
      const refused = isWebSocket(request.headers)
        ? serviceError('upgrade_required', 'WebSockets are not supported here; use HTTP requests.')
        : checkAgent(request, attemptOf(request), secrets);
      if (refused === null) done();
      else refuse(ctx, request, reply, refused);
    });
    for (const prefix of CALL_PREFIXES) {
      responsesRoute(scope, ctx, prefix);
      chatCompletionsRoute(scope, ctx, prefix);
      messagesRoute(scope, ctx, prefix);
      modelsRoute(scope, models, prefix);
    }
    measureRoute(scope, ctx);
    refuseOtherMethods(scope);
  });
}

/** A known path with a method that it does not have: 405, and OPTIONS says which it has. */
function refuseOtherMethods(scope: FastifyInstance): void {
  const refuse = (allow: string) => (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allow);
    if (request.method === 'OPTIONS') return reply.code(204).send();
    return sendError(
      request,
      reply,
      serviceError('method_not_allowed', `This path takes ${allow}, not ${request.method}.`),
    );
  };
  const onlyPost = (url: string) =>
    scope.route({
      method: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url,
      exposeHeadRoute: true,
      handler: refuse('POST'),
    });
  for (const prefix of CALL_PREFIXES) {
    for (const path of ['/responses', '/responses/compact', '/chat/completions', '/messages', '/messages/count_tokens'])
      onlyPost(prefix + path);
    for (const path of ['/models', '/models/*']) {
      scope.route({
        method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
        url: prefix + path,
        handler: refuse('GET'),
      });
    }
  }
  onlyPost('/context/:attempt/measure');
}
