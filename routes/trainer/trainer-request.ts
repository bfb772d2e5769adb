import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JsonParts } from '../../src/attempt/read-ledger.ts';
import { bodyOf } from '../../src/body-parser.ts';
import { checkAttempt } from '../../src/call/identify-attempt.ts';
import type { Context } from '../../src/context.ts';
import { ServiceErrorException, serviceError } from '../../src/errors.ts';
import { sendError } from '../../src/http-errors.ts';
import { LedgerUnavailable } from '../../src/ledger/ledger.ts';

/** The checked attempt of a URL; throws the 400. */
export function trainerAttempt(request: FastifyRequest): string {
  const attempt = (request.params as { attempt?: string }).attempt ?? '';
  const problem = checkAttempt(attempt);
  if (problem !== null) throw new ServiceErrorException(problem);
  return attempt;
}

/** Sends JSON text as it is produced, or the 410 of a retired attempt. */
export function sendParts(request: FastifyRequest, reply: FastifyReply, parts: JsonParts | 'retired'): FastifyReply {
  if (parts === 'retired')
    return sendError(request, reply, serviceError('attempt_retired', 'This attempt was retired.'));
  return reply.type('application/json; charset=utf-8').send(Readable.from(parts));
}

/** Runs a ledger operation for the trainer; a ledger that is away is 503 with Retry-After. */
export async function orUnavailable<T>(ctx: Context, operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    ctx.events.ledgerUnavailable(operation, error);
    throw new ServiceErrorException(
      serviceError('ledger_unavailable', 'The ledger is not available. Try again shortly.'),
    );
  }
}

/** A JSON body of the trainer's, as a plain value; throws the 400. */
export function jsonBody(request: FastifyRequest): unknown {
  try {
    return JSON.parse(bodyOf(request).toString('utf8'));
  } catch (error) {
    throw new ServiceErrorException(
      serviceError('invalid_json', `The body is not valid JSON: ${(error as Error).message}`),
    );
  }
}
