import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { checkControl } from '../../src/access.ts';
import type { Context } from '../../src/context.ts';
import { ServiceErrorException, serviceError } from '../../src/errors.ts';
import { refuse } from '../../src/http-errors.ts';

/** Hook of routes that need the control token: 401 without it. */
export function controlOnly(ctx: Context) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const refused = checkControl(request.headers, ctx.config.control.token);
    return refused === null ? undefined : refuse(ctx, request, reply, refused);
  };
}

/** The query string as its schema says; throws the 400 that names the parameter. */
export function queryOf<T extends z.ZodType>(request: FastifyRequest, schema: T): z.output<T> {
  const query = schema.safeParse(request.query);
  if (query.success) return query.data;
  const [issue] = query.error.issues;
  const name = issue?.code === 'unrecognized_keys' ? (issue.keys[0] ?? 'query') : String(issue?.path[0] ?? 'query');
  throw new ServiceErrorException(serviceError('invalid_request', `${name}: ${issue?.message}`, { param: name }));
}
