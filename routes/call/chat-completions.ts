import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { callRoute } from './call-route.ts';

/** OpenAI Chat Completions. */
export function chatCompletionsRoute(app: FastifyInstance, ctx: Context, prefix: string): void {
  callRoute(app, ctx, 'chat', `${prefix}/chat/completions`);
}
