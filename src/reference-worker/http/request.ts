import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';

/** Whether the request carries the engine's key, where one is asked for. */
export function hasApiKey(apiKey: string | null, authorization: string | undefined): boolean {
  if (apiKey === null) return true;
  const wanted = Buffer.from(`Bearer ${apiKey}`);
  const given = Buffer.from(authorization ?? '');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The raw body of a request; empty where there is none. */
export function rawBody(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}
