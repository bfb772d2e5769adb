import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorReply } from './call/render-error.ts';
import type { ServiceError } from './errors.ts';
import type { Dialect } from './protocol/conversation.ts';

/** Dialect of a path, for the envelope of errors that no route gives. */
export function dialectOf(url: string): Dialect {
  const path = url.split('?', 1)[0] as string;
  if (/\/v1\/messages(\/|$)/.test(path)) return 'messages';
  return /\/v1\/responses(\/|$)/.test(path) ? 'responses' : 'chat';
}

/** Sends an error in the dialect of the request's path. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { status, headers, body } = errorReply(dialectOf(request.url), error);
  return reply.code(status).headers(headers).send(body);
}
