import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../src/context.ts';
import { serviceError } from '../../src/errors.ts';
import { sendError } from '../../src/http-errors.ts';
import { listAttempts } from '../../src/inspector/list-attempts.ts';
import { listCalls } from '../../src/inspector/list-calls.ts';
import { PAGE_HEADERS, readPageFiles } from '../../src/inspector/page-files.ts';
import { attemptsQuery, callsQuery } from '../../src/inspector/pages.ts';
import { orUnavailable, trainerAttempt } from '../trainer/trainer-request.ts';
import { controlOnly, queryOf } from './control-request.ts';

/** The inspector page at `/inspector`, and the pages by cursor that it draws. Only the latter hold anything: they need the control token. */
export function inspectorRoutes(app: FastifyInstance, ctx: Context): void {
  const files = readPageFiles();
  const sendFile = (request: FastifyRequest, reply: FastifyReply, name: string) => {
    const file = files.get(name);
    if (file === undefined)
      return sendError(request, reply, serviceError('not_found', `The inspector has no file ${name.slice(0, 200)}.`));
    return reply.headers(PAGE_HEADERS).type(file.type).send(file.text);
  };
  app.get('/inspector', (request, reply) => sendFile(request, reply, 'index.html'));
  app.get('/inspector/:file', (request, reply) => sendFile(request, reply, (request.params as { file: string }).file));

  const onRequest = controlOnly(ctx);
  app.get('/attempts', { onRequest }, async (request, reply) => {
    const query = queryOf(request, attemptsQuery);
    return reply.send(await orUnavailable(ctx, 'list attempts', () => listAttempts(ctx.ledger, query)));
  });
  app.get('/ledger/:attempt/calls', { onRequest }, async (request, reply) => {
    const attempt = trainerAttempt(request);
    const query = queryOf(request, callsQuery);
    const page = await orUnavailable(ctx, 'list calls', () => listCalls(ctx.ledger, attempt, query));
    if (page === 'retired')
      return sendError(request, reply, serviceError('attempt_retired', 'This attempt was retired.'));
    return reply.send(page);
  });
}
