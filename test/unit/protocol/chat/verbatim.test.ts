import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinFragments } from '../../../../src/protocol/json/fragment.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamMessage } from '../../../../src/protocol/upstream-body.ts';
import { convertChat, UNCAPTURED, upstreamText } from '../../../support/chat-conversion.ts';

const CALL = '{"function": {"arguments":"{\\"a\\": 1.0}","name":"f"},"id":"c1","type":"function"}';

/** Messages that go up as the client wrote them. */
const EXACT: readonly string[] = [
  '{"role":"user","content":"a"}',
  '{ "content" : "caf\\u00e9 \\ud83d" ,\n"role":"user"}',
  '{"role":"system","content":"s","name":"n"}',
  '{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}',
  '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}',
  '{"role":"user","content":[{"type":"image_url","image_url":{"detail":"auto","url":"u"}}]}',
  '{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"x","format":"wav"}}]}',
  '{"role":"tool","tool_call_id":"c1","content":"ok"}',
  '{"role":"tool","tool_call_id":"c1","content":""}',
  '{"role":"assistant","content":"a"}',
  '{"role":"assistant","content":""}',
  '{"role":"assistant","content":"a","reasoning":" r "}',
  `{"role":"assistant","content":null,"tool_calls":[${CALL}]}`,
  `{"role":"assistant","content":"","tool_calls":[ ${CALL} , ${CALL}],"reasoning":"r"}`,
];

/** Messages that something has to be changed in. */
const CHANGED: readonly string[] = [
  '{"role":"developer","content":"a"}',
  '{"role":"user","content":"a","role":"user"}',
  '{"role":"user","content":"b","content":"a"}',
  '{"role":"user","content":"a","name":null}',
  '{"role":"user","content":"a","cache_control":{"type":"ephemeral"}}',
  '{"role":"user","content":[{"type":"text","text":"a"}]}',
  '{"role":"user","content":[]}',
  '{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{}}]}',
  '{"role":"user","content":[{"type":"image_url","image_url":{"url":"u","detail":null}}]}',
  '{"role":"user","content":[{"type":"image_url","image_url":"u"}]}',
  '{"role":"user","content":[{"type":null,"text":"a"},{"type":"text","text":"b"}]}',
  '{"role":"user","content":[{"type":null,"image_url":{"url":"u"}}]}',
  '{"role":"user","content":[{"type":null,"input_audio":{"data":"x","format":"wav"}}]}',
  '{"role":"tool","tool_call_id":"c1","content":"ok","name":"f"}',
  '{"role":"tool","tool_call_id":"c1","content":null}',
  '{"role":"assistant","content":null}',
  '{"role":"assistant","content":"a","name":"n"}',
  '{"role":"assistant","content":["a"]}',
  '{"role":"assistant","content":"a","reasoning":null}',
  '{"role":"assistant","content":"a","reasoning":" "}',
  '{"role":"assistant","content":"a","reasoning_content":"r"}',
  '{"role":"assistant","content":"a","reasoning":"r","reasoning_content":"r"}',
  '{"role":"assistant","content":"a","refusal":null}',
  '{"role":"assistant","content":"a","tool_calls":null}',
  '{"role":"assistant","content":"a","tool_calls":[]}',
  `{"role":"assistant","tool_calls":[${CALL}]}`,
  `{"role":"assistant","content":null,"tool_calls":[${CALL.replace('"id":"c1",', '')}]}`,
  `{"role":"assistant","content":null,"tool_calls":[${CALL.replace('{"function"', '{"index":0,"function"')}]}`,
  `{"role":"assistant","content":null,"tool_calls":[${CALL.replace('{\\"a\\": 1.0}', '{\\"a')}]}`,
  `{"role":"assistant","content":null,"tool_calls":[${CALL.replace('"type":"function"', '"type":null')}]}`,
  '{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{}}}]}',
];

function first(message: string) {
  const converted = convertChat(`{"messages":[${message}]}`, UNCAPTURED).messages[0];
  assert.ok(converted !== undefined);
  return converted;
}

for (const message of EXACT)
  test(`goes up as it is: ${message}`, () => {
    const converted = first(message);
    assert.equal(joinFragments(upstreamMessage(converted, DEFAULT_UPSTREAM_OPTIONS)).toString(), message);
    const built = joinFragments(upstreamMessage({ ...converted, verbatim: undefined }, DEFAULT_UPSTREAM_OPTIONS));
    assert.deepEqual(JSON.parse(built.toString()), JSON.parse(message), 'and says what a built message would say');
  });

for (const message of CHANGED)
  test(`is written anew: ${message}`, () => {
    assert.equal(first(message).verbatim, undefined);
  });

test('a history of such messages goes up as one piece of the body, tools and numbers too', () => {
  const messages = `[${EXACT.join(' ,\n ')}]`;
  const tools =
    '[{"type":"function","function":{"parameters":{"minimum":1.0,"10":{},"2":{},"multipleOf":1e-7,"maximum":9223372036854775807,"a":1,"a":2},"name":"f","strict":true}}]';
  const body = `{"model":"m","messages":${messages},"temperature":1.0,"tools":${tools}}`;
  assert.equal(upstreamText(convertChat(body, UNCAPTURED)), body);
});
