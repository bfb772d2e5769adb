import type { FastifyInstance } from 'fastify';
import { bodyOf } from '../../src/body-parser.ts';
import { countMessageTokens } from '../../src/call/measure.ts';
import type { Context } from '../../src/context.ts';
import { sendError } from '../../src/http-errors.ts';
import { attemptOf } from './attempt-of.ts';
import { callRoute } from './call-route.ts';

/** Anthropic Messages, and its token count (C78), which never creates a branch. */
export function messagesRoute(app: FastifyInstance, ctx: Context, prefix: string): void {
  callRoute(app, ctx, 'messages', `${prefix}/messages`);
  app.post(`${prefix}/messages/count_tokens`, async (request, reply) => {
    const counted = await countMessageTokens(ctx, {
      attempt: attemptOf(request),
      headers: request.headers,
      body: bodyOf(request),
    });
    if ('status' in counted) return sendError(request, reply, counted);
    return reply.send({ input_tokens: counted.inputTokens });
  });
}
