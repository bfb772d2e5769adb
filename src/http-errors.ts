import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorReply } from './call/render-error.ts';
import type { Context } from './context.ts';
import { type ServiceError, serviceError } from './errors.ts';
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

/** {@link sendError} for what is refused before anything is done: told and counted. */
export function refuse(ctx: Context, request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { attempt } = (request.params ?? {}) as { attempt?: string };
  ctx.events.refused(attempt ?? null, dialectOf(request.url), error.code);
  return sendError(request, reply, error);
}

/** Other upgrades (`h2c`, which some HTTP clients offer with every request) are offers that a server need not take. */
export function isWebSocket(headers: IncomingHttpHeaders): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

const PARSER_ERRORS: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The headers of the request are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
};
const NO_HTTP = { status: '400 Bad Request', message: 'This is no HTTP request that can be read.' };

/**
 * Answers what the HTTP parser cannot read: no path is known, so no dialect either, and the connection cannot be used any more. Replies to what came before it on the
 * connection go out first.
 */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || WAITING.has(socket)) return;
  const reply = replyOn(socket);
  // A request that arrived in full gets its reply; of the one that cannot be read, no reply has begun.
  if (reply?.req.complete) {
    socket.pause();
    WAITING.add(socket);
    reply.once('close', () => {
      WAITING.delete(socket);
      answerUnreadable(error, socket);
    });
    return;
  }
  const { status, message } = PARSER_ERRORS[error.code ?? ''] ?? NO_HTTP;
  const { headers, body } = errorReply(null, serviceError('invalid_request', message));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable && !reply?.headersSent)
    socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}connection: close\r\n\r\n${body}`);
  socket.destroySoon();
}

/** Connections with something unreadable behind a request whose reply is awaited. */
const WAITING = new WeakSet<Socket>();

/** The reply that is next on a connection, as Node's own example of a `clientError` handler finds it. */
function replyOn(socket: Socket): ServerResponse | null {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}
