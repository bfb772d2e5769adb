import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../routes/operations/openapi/document.ts';
import * as replies from '../../routes/operations/openapi/replies.ts';
import { CATALOGUE } from '../../src/errors.ts';
import { attemptsPage, callsPage } from '../../src/inspector/pages.ts';
import { COMPATIBILITY } from '../../src/protocol/compatibility.ts';
import { ledgerSchema } from '../../src/protocol/wire/ledger.ts';
import { type Stack, send, startStack } from '../support/stack.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: Record<string, object> }>> };
}

const SCHEMA_3 = openApiDocument({ schemaVersion: 3, ownerKey: 'capture_key' });
const SCHEMA_2 = openApiDocument({ schemaVersion: 2, ownerKey: 'rollout_id' });
const document = SCHEMA_3 as unknown as Document;

/** `[METHOD path, operation]` of every operation. */
function operations(): [route: string, operation: Operation][] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
  );
}

test('the documents of both generations are valid OpenAPI 3.1', async () => {
  for (const made of [SCHEMA_3, SCHEMA_2]) {
    const { valid, errors } = await new Validator().validate(structuredClone(made) as Record<string, unknown>);
    assert.equal(valid, true, JSON.stringify(errors));
    assert.equal(made.openapi, '3.1.0');
  }
});

test('the validator sees what is wrong', async () => {
  const broken = structuredClone(SCHEMA_3) as unknown as { paths: Record<string, Record<string, unknown>> };
  (broken.paths['/metrics'] as Record<string, unknown>).get = { responses: { ok: {} } };
  assert.equal((await new Validator().validate(broken as unknown as Record<string, unknown>)).valid, false);
});

test('every reference leads somewhere', () => {
  let count = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (name !== '$ref' || typeof member !== 'string') {
        visit(member);
        continue;
      }
      count += 1;
      let at: unknown = SCHEMA_3;
      assert.ok(member.startsWith('#/'), member);
      for (const part of member.slice(2).split('/')) {
        const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
        at = (at as Record<string, unknown> | undefined)?.[key];
      }
      assert.ok(at, member);
    }
  };
  visit(SCHEMA_3);
  assert.ok(count > 200);
});

test('operations have ids of their own, a summary, a tag, and say what they need', () => {
  const ids = operations().map(([, { operationId }]) => operationId);
  assert.deepEqual(
    ids.filter((id, at) => ids.indexOf(id) !== at),
    [],
  );
  for (const [route, { summary, tags, security }] of operations()) {
    assert.ok(summary && tags.length === 1 && Array.isArray(security), route);
  }
});

test('every error code stands in some reply', () => {
  const text = JSON.stringify(SCHEMA_3);
  assert.deepEqual(
    Object.keys(CATALOGUE).filter((code) => !text.includes(`\`${code}\`: `)),
    [],
  );
});

test('request bodies say what becomes of every field', () => {
  const names = {
    responses: 'ResponsesRequest',
    chat: 'ChatCompletionsRequest',
    messages: 'MessagesRequest',
  } as const;
  for (const [dialect, { request, nested }] of Object.entries(COMPATIBILITY)) {
    const schema = document.components.schemas[names[dialect as keyof typeof names]] as {
      properties: Record<string, { description: string; 'x-fate': string }>;
      $defs: Record<string, object>;
    };
    assert.deepEqual(Object.keys(schema.properties), Object.keys(request).sort());
    for (const [name, { kind, note }] of Object.entries(request)) {
      const property = schema.properties[name];
      assert.deepEqual([property?.description, property?.['x-fate']], [`${kind}: ${note}`, kind], name);
    }
    assert.deepEqual(Object.keys(schema.$defs), Object.keys(nested));
  }
});

describe('a running service', () => {
  /** `[METHOD path]` of every route of the service, as Fastify registered it, with paths as OpenAPI writes them. */
  let routes: ReadonlySet<string>;
  let stack: Stack;

  before(async () => {
    // The reference worker is a Fastify server, too.
    const servers: Set<string>[] = [];
    const watch = (message: unknown) => {
      const own = new Set<string>();
      servers.push(own);
      (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url }) => {
        const path = url.replace(/:(\w+)/g, '{$1}').replace('/models/*', '/models/{model}');
        for (const name of [method].flat()) own.add(`${name} ${path}`);
      });
    };
    subscribe('fastify.initialization', watch);
    stack = await startStack();
    unsubscribe('fastify.initialization', watch);
    const [own, ...more] = servers.filter((server) => server.has('GET /ledger/{attempt}'));
    assert.ok(own !== undefined && more.length === 0);
    routes = own;
  });
  after(() => stack.close());

  test('every operation is a route', () => {
    assert.deepEqual(
      operations()
        .map(([route]) => route)
        .filter((route) => !routes.has(route)),
      [],
    );
  });

  test('every route is an operation, the HEAD of one, or a refusal of the method', async () => {
    const documented = new Set(operations().map(([route]) => route));
    const others = [...routes].filter(
      (route) => !documented.has(route) && !documented.has(route.replace(/^HEAD/, 'GET')),
    );
    assert.ok(routes.size > documented.size);
    for (const route of others) {
      const [method, path] = route.split(' ') as [string, string];
      const url = stack.proxy.url + path.replace('{attempt}', 'some').replace('{model}', 'policy');
      const { status, headers } = await send(method, url, method === 'GET' || method === 'HEAD' ? undefined : {});
      assert.equal(status, method === 'OPTIONS' ? 204 : 405, route);
      assert.ok(headers.get('allow'), route);
    }
  });

  test('it serves its document to the holder of the control token', async () => {
    assert.equal((await stack.get('/openapi.json')).status, 401);
    const reply = await stack.control('GET', '/openapi.json');
    assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.deepEqual(reply.json, JSON.parse(JSON.stringify(SCHEMA_3)));
  });

  test('operations that need the control token refuse everybody else, the others nobody', async () => {
    for (const [route, { security }] of operations()) {
      const [method, path] = route.split(' ') as [string, string];
      const url = stack.proxy.url + path.replace('{attempt}', 'some').replace('{model}', 'policy');
      const { status } = await send(method, url.replace('{file}', 'main.js'), method === 'POST' ? {} : undefined);
      const needsToken = security.some((scheme) => 'controlToken' in scheme);
      assert.equal(status === 401, needsToken, route);
    }
  });

  test('replies are as described', async () => {
    const say = [{ role: 'user', content: 'hello' }];
    const base = '/ng-rollout/described/v1';
    const chat = { model: 'policy', messages: say };
    const answered = [
      [replies.chatCompletion, await stack.post(`${base}/chat/completions`, chat)],
      [replies.chatCompletion, await stack.post('/v1/chat/completions', chat)],
      [replies.responseObject, await stack.post(`${base}/responses`, { model: 'policy', input: 'hello' })],
      [replies.messageObject, await stack.post(`${base}/messages`, { ...chat, max_tokens: 99 })],
      [replies.inputTokens, await stack.post('/v1/messages/count_tokens', chat)],
      [replies.promptTokens, await stack.post('/context/described/measure', chat)],
      [replies.modelList, await stack.get('/v1/models')],
      [replies.model, await stack.get('/v1/models/policy')],
      [replies.live, await stack.get('/health/live')],
      [replies.ready, await stack.get('/health/ready')],
      [attemptsPage, await stack.control('GET', '/attempts')],
      [callsPage, await stack.control('GET', '/ledger/described/calls')],
      [ledgerSchema(3, 'capture_key'), await stack.control('POST', '/ledger/described/close')],
      [replies.removalReply(3), await stack.control('POST', '/ledger/retire', { capture_keys: ['described'] })],
    ] as const;
    for (const [schema, { status, json, text }] of answered) {
      assert.equal(status, 200, text);
      const parsed = schema.safeParse(json);
      assert.ok(parsed.success, `${text}\n${JSON.stringify(parsed.error?.issues)}`);
    }
    const failed = [
      [replies.openAiError, await stack.post(`${base}/chat/completions`, {})],
      [replies.openAiError, await stack.post(`${base}/responses/compact`, {})],
      [replies.openAiError, await stack.control('GET', '/ledger/described')],
      [replies.anthropicError, await stack.post(`${base}/messages`, {})],
      [replies.anthropicError, await stack.post(`${base}/messages`, { ...chat, max_tokens: 99, thread: { id: 't' } })],
      [replies.anthropicError, await stack.post('/v1/messages/count_tokens', {})],
    ] as const;
    for (const [schema, { status, json, text }] of failed) {
      assert.ok(status >= 400, text);
      assert.ok(schema.safeParse(json).success, text);
    }
  });
});

test('a service of the released generation serves the document of that generation', async () => {
  const stack = await startStack({ config: { 'capture.schema_version': '2' } });
  try {
    const { json } = await stack.control('GET', '/openapi.json');
    assert.deepEqual(json, JSON.parse(JSON.stringify(SCHEMA_2)));
    assert.deepEqual(Object.keys(json.components.schemas.Manifest.properties), [
      'schema_version',
      'rollout_id',
      'records',
      'failures',
    ]);
    const ledger = await stack.control('GET', '/ledger/nobody');
    assert.ok(ledgerSchema(2, 'rollout_id').safeParse(ledger.json).success);
  } finally {
    await stack.close();
  }
});
