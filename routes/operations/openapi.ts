import type { FastifyInstance } from 'fastify';
import { ownerKeyOf } from '../../config/schema.ts';
import type { Context } from '../../src/context.ts';
import { controlOnly } from './control-request.ts';
import { openApiDocument } from './openapi/document.ts';

/** `GET /openapi.json`: this service as it is configured, for the control token. */
export function openApiRoute(app: FastifyInstance, ctx: Context): void {
  let text: string | undefined;
  app.get('/openapi.json', { onRequest: controlOnly(ctx) }, (_request, reply) => {
    text ??= JSON.stringify(
      openApiDocument({ schemaVersion: ctx.config.capture.schema_version, ownerKey: ownerKeyOf(ctx.config) }),
    );
    return reply.type('application/json; charset=utf-8').send(text);
  });
}
