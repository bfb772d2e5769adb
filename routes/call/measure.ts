import type { FastifyInstance } from 'fastify';
import { bodyOf } from '../../src/body-parser.ts';
import { measureCall } from '../../src/call/measure.ts';
import type { Context } from '../../src/context.ts';
import { sendError } from '../../src/http-errors.ts';
import { attemptOf } from './attempt-of.ts';

/** Token count of a would-be call (protocol section 9). */
export function measureRoute(app: FastifyInstance, ctx: Context): void {
  app.post('/context/:attempt/measure', async (request, reply) => {
    const attempt = attemptOf(request) ?? '';
    const measured = await measureCall(ctx, { attempt, headers: request.headers, body: bodyOf(request) });
    if ('status' in measured) return sendError(request, reply, measured);
    return reply.send({ prompt_token_count: measured.promptTokenCount });
  });
}
