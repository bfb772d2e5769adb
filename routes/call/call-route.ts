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
  app.post(url, (request, reply) => {
    reply.hijack();
    const channel = new AgentChannel(dialect, reply.raw, () => ctx.lifecycle.draining);
    const attempt = attemptOf(request);
    const body = bodyOf(request);
    // The request lives as long as its connection is busy; its body need not.
    request.body = undefined;
    handleCall(ctx, { dialect, attempt, headers: request.headers, body }, channel).catch((error: unknown) => {
      ctx.log.error({ err: error, attempt, dialect }, 'unexpected error in a call');
      channel.fail(serviceError('internal_error', 'The server failed in an unexpected way.'));
    });
  });
}
