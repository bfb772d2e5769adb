import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { serviceError } from '../../src/errors.ts';
import { sendError } from '../../src/http-errors.ts';
import { callRoute } from './call-route.ts';

/** OpenAI Responses. Remote compaction is refused with advice, since there is no state that it could compact (C43 to C45). */
export function responsesRoute(app: FastifyInstance, ctx: Context, prefix: string): void {
  callRoute(app, ctx, 'responses', `${prefix}/responses`);
  app.post(`${prefix}/responses/compact`, (request, reply) =>
    sendError(
      request,
      reply,
      serviceError(
        'unsupported_field',
        'Remote compaction is not supported; give the provider another name than "OpenAI" in the client, so that it compacts locally.',
      ),
    ),
  );
}
