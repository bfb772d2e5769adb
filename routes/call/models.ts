import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkAttempt } from '../../src/call/identify-attempt.ts';
import type { ModelList } from '../../src/call/models.ts';
import { type ServiceError, serviceError } from '../../src/errors.ts';
import { sendError } from '../../src/http-errors.ts';
import { attemptOf } from './attempt-of.ts';

/** The upstream's model list: agents probe it, so it never fails and never marks an attempt (protocol section 2). */
export function modelsRoute(app: FastifyInstance, models: ModelList, prefix: string): void {
  app.get(`${prefix}/models`, async (request, reply) => {
    const problem = attemptProblem(request);
    if (problem !== null) return sendError(request, reply, problem);
    return reply.type('application/json; charset=utf-8').send(await models.list());
  });
  // Model names hold slashes.
  app.get(`${prefix}/models/*`, async (request, reply) => {
    const problem = attemptProblem(request);
    if (problem !== null) return sendError(request, reply, problem);
    const id = (request.params as { '*': string })['*'];
    const model = await models.find(id);
    if (model !== null) return reply.type('application/json; charset=utf-8').send(model);
    return sendError(
      request,
      reply,
      serviceError('not_found', `The model ${JSON.stringify(id.slice(0, 200))} does not exist.`, { param: 'model' }),
    );
  });
}

function attemptProblem(request: FastifyRequest): ServiceError | null {
  const attempt = attemptOf(request);
  return attempt === null ? null : checkAttempt(attempt);
}
