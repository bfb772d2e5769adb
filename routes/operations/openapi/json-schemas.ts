import { z } from 'zod';
import { attemptsPage, callsPage } from '../../../src/inspector/pages.ts';
import type { OwnerKey } from '../../../src/protocol/wire/coordinates.ts';
import { callRecordSchema, ledgerSchema, whyRoot } from '../../../src/protocol/wire/ledger.ts';
import { removalBody } from '../../trainer/retire-delete.ts';
import * as replies from './replies.ts';

export type JsonObject = { readonly [name: string]: unknown };

/** Of what generation a document speaks (protocol section 13). */
export interface Generation {
  readonly schemaVersion: 2 | 3;
  readonly ownerKey: OwnerKey;
}

/** Where a named schema stands. */
export function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** JSON schemas of all zod schemas that validate or describe bodies, by name; they refer to each other. */
export function namedSchemas({ schemaVersion, ownerKey }: Generation): Record<string, JsonObject> {
  const ledger = ledgerSchema(schemaVersion, ownerKey);
  const named = {
    Ledger: ledger,
    Manifest: ledger.shape.manifest,
    CallRecord: callRecordSchema(schemaVersion),
    WhyRoot: whyRoot,
    CaptureKeys: removalBody('capture_keys'),
    RolloutIds: removalBody('rollout_ids'),
    Removal: replies.removalReply(schemaVersion),
    AttemptsPage: attemptsPage,
    CallsPage: callsPage,
    ChatCompletion: replies.chatCompletion,
    Response: replies.responseObject,
    Message: replies.messageObject,
    ModelList: replies.modelList,
    Model: replies.model,
    InputTokens: replies.inputTokens,
    PromptTokens: replies.promptTokens,
    Live: replies.live,
    Ready: replies.ready,
    OpenAIError: replies.openAiError,
    AnthropicError: replies.anthropicError,
  };
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $id: _, $schema: __, ...schema }]) => [name, schema as JsonObject]),
  );
}

/** The parameters of a query that this schema validates. */
export function queryParameters(schema: z.ZodObject): JsonObject[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'output' });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property as JsonObject;
    return { name, in: 'query', required: false, description, schema: rest };
  });
}
