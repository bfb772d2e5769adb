import type { FastifyRequest } from 'fastify';

/** The attempt in a URL, unchecked; null on plain paths. */
export function attemptOf(request: FastifyRequest): string | null {
  return (request.params as { attempt?: string }).attempt ?? null;
}
