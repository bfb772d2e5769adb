import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinFragments } from '../../../../src/protocol/json/fragment.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamMessage } from '../../../../src/protocol/upstream-body.ts';
import { convert } from '../../../support/messages-dialect.ts';

const CALL = '{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]}';

/** What goes up behind the call for a user message of this content. */
function sent(content: string): string[] {
  const messages = `{"role":"user","content":"q"},${CALL},{"role":"user","content":${content}}`;
  return convert(`{"model":"m","max_tokens":9,"messages":[${messages}]}`)
    .messages.slice(2)
    .map((message) => joinFragments(upstreamMessage(message, DEFAULT_UPSTREAM_OPTIONS)).toString());
}

test("texts of users and tools go up in the client's own spelling", () => {
  const text = '"a\\u00e9\\/ \\ud83d"';
  for (const content of [text, `[${text}]`, `[{"type":"text","text":${text},"cache_control":{"type":"ephemeral"}}]`]) {
    assert.deepEqual(sent(content), [`{"role":"user","content":${text}}`]);
    assert.deepEqual(sent(`[{"type":"tool_result","tool_use_id":"c","content":${content}}]`), [
      `{"role":"tool","content":${text},"tool_call_id":"c"}`,
    ]);
  }
});

test('a result that failed, and several results of one call, are written out', () => {
  const result = (more: string) => `{"type":"tool_result","tool_use_id":"c","content":"\\u0061"${more}}`;
  const [failed, a] = ['{"type":"text","text":"[tool error]"}', '{"type":"text","text":"a"}'];
  assert.deepEqual(sent(`[${result(',"is_error":true')}]`), [
    `{"role":"tool","content":[${failed},${a}],"tool_call_id":"c"}`,
  ]);
  assert.deepEqual(sent(`[${result('')},${result('')}]`), [`{"role":"tool","content":[${a},${a}],"tool_call_id":"c"}`]);
});
