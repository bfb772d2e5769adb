import type { FastifyInstance } from 'fastify';
import { bodyOf } from '../../src/body-parser.ts';
import { AgentChannel } from '../../src/call/agent-channel.ts';
import { handleCall } from '../../src/call/handle-call.ts';
import type { Context } from '../../src/context.ts';
import { serviceError } from '../../src/errors.ts';
import type { Dialect } from '../../src/protocol/conversation.ts';
import { attemptOf } from './attempt-of.ts';

/** What the three model endpoints share: the body goes in as bytes, the reply goes out through the channel. */
export function callRoute(app: FastifyInstance, ctx: Context, dialect: Dialect, url: string): void {
  app.post(url, async (request, reply) => {
    reply.hijack();
    const channel = new AgentChannel(dialect, reply.raw, () => ctx.lifecycle.draining);
    const incoming = { dialect, attempt: attemptOf(request), headers: request.headers, body: bodyOf(request) };
    try {
      await handleCall(ctx, incoming, channel);
    } catch (error) {
      ctx.log.error({ err: error, attempt: incoming.attempt, dialect }, 'unexpected error in a call');
      channel.fail(serviceError('internal_error', 'The server failed in an unexpected way.'));
    }
  });
}
