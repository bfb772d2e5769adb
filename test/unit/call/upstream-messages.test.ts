import assert from 'node:assert/strict';
import { test } from 'node:test';
import { upstreamMessages } from '../../../src/call/call-settings.ts';
import type { Context } from '../../../src/context.ts';
import { joinFragments } from '../../../src/protocol/json/fragment.ts';
import { convertChat, json } from '../../support/chat-conversion.ts';

type Worker = { reasoning_key: 'reasoning' | 'reasoning_content' | 'both'; call_id_limit: number | null };

/** What goes up in the place of the messages, and whether it is the client's list as it came. */
function messagesOf(
  body: string,
  worker: Partial<Worker> = {},
): { readonly text: string; readonly inOnePiece: boolean } {
  const settings = { reasoning_key: 'reasoning', call_id_limit: null, ...worker };
  const ctx = { config: { worker: settings } } as unknown as Context;
  const messages = upstreamMessages(ctx, convertChat(body), json(body));
  if (messages instanceof Uint8Array) return { text: messages.toString(), inOnePiece: true };
  return { text: `[${messages.map((message) => joinFragments(message).toString()).join()}]`, inOnePiece: false };
}

const LIST =
  '[ {"role":"user","content":"q"} ,\n{"role":"assistant","content":null,"tool_calls":[{"id":"long id","type":"function",' +
  '"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"long id","content":"r"} ]';

test('a list that needs no change goes up in one piece, white space and all', () => {
  assert.deepEqual(messagesOf(`{"model":"m","messages":${LIST},"n":1}`), { text: LIST, inOnePiece: true });
});

test('message by message where one of them is converted, stripped, or not as the worker wants it', () => {
  const converted = LIST.replace('"role":"user"', '"role":"developer"');
  const stripped = LIST.replace('"content":"q"', '"content":"q","token_ids":[1]');
  const reasoned = LIST.replace('"content":null', '"content":null,"reasoning":"r"');
  const imaged = LIST.replace('"content":"r"', '"content":[{"type":"image_url","image_url":{"url":"data:,"}}]');
  for (const [list, worker] of [
    [converted, {}],
    [stripped, {}],
    [imaged, {}],
    [reasoned, { reasoning_key: 'both' }],
    [LIST, { call_id_limit: 5 }],
  ] as const) {
    const { text, inOnePiece } = messagesOf(`{"model":"m","messages":${list}}`, worker);
    assert.equal(inOnePiece, false, list);
    assert.ok(!text.includes('token_ids') && !text.includes('developer'));
  }
  assert.equal(messagesOf(`{"model":"m","messages":${reasoned}}`).inOnePiece, true);
});
