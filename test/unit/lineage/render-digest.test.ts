import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replayDigest } from '../../../src/lineage/digest.ts';
import {
  differingRenderKeys,
  RENDER_KEYS,
  renderDigest,
  renderKeyDigests,
} from '../../../src/lineage/render-digest.ts';

const fields = (members: Record<string, string>) => new Map(Object.entries(members));

test('all keys of section 3, sorted, and no others', () => {
  const all = Object.fromEntries(RENDER_KEYS.map((key, at) => [key, String(at)]));
  const canonical = `{${RENDER_KEYS.map((key, at) => `"${key}":${at}`).join(',')}}`;
  assert.equal(RENDER_KEYS.length, 13);
  assert.deepEqual([...RENDER_KEYS].sort(), [...RENDER_KEYS]);
  assert.deepEqual(renderDigest(fields({ temperature: '0', ...all, messages: '[]' })), {
    digest: replayDigest(canonical),
  });
  assert.deepEqual(renderDigest(fields({})), { digest: replayDigest('{}') });
});

test('the value counts, not its spelling, bytes or text; below the top level nulls do not', () => {
  const digest = replayDigest('{"model":"é","tools":[null,{"a":[null],"b":{},"n":1.0}]}');
  const spellings = ['[null,{"a":[null],"b":{},"n":1.0}]', ' [null, {"n":1e0,"b":{"c":null},"a":[null],"x":null}] '];
  for (const tools of spellings) {
    assert.deepEqual(renderDigest(fields({ tools, model: '"é"' })), { digest });
    const bytes = new Map([...fields({ model: '"\\u00e9"', tools })].map(([key, text]) => [key, Buffer.from(text)]));
    assert.deepEqual(renderDigest(bytes), { digest });
  }
  assert.notDeepEqual(renderDigest(fields({ model: '"é"', tools: '[null,{"a":[null],"b":{},"n":1}]' })), { digest });
});

test('names the field that has no digest', () => {
  const cases: [Record<string, string>, string][] = [
    [{ model: '"m"', chat_template_kwargs: '{"a":"\\ud800"}' }, 'chat_template_kwargs'],
    [{ model: '"m"', tools: '[{"maximum":1e400}]' }, 'tools'],
    [{ model: '"\\udc00"', tools: '[{"maximum":-1e400}]' }, 'model'],
  ];
  for (const [members, field] of cases) assert.deepEqual(renderDigest(fields(members)), { undigestable: field });
  const big = '{"maximum":340282366920938463463374607431768211456}';
  assert.deepEqual(renderDigest(fields({ tools: big })), { digest: replayDigest(`{"tools":${big}}`) });
  assert.deepEqual(renderDigest(fields({ temperature: '1e400' })), { digest: replayDigest('{}') });
});

test('key digests name what differs', () => {
  const a = renderKeyDigests(fields({ model: '"m"', tools: '[1, 2]', tool_choice: '"auto"', temperature: '1' }));
  assert.deepEqual(Object.keys(a).sort(), ['model', 'tool_choice', 'tools']);
  for (const digest of Object.values(a)) assert.match(digest, /^[0-9a-f]{16}$/);
  const b = renderKeyDigests(fields({ model: '"m"', tools: '[1,2]', parallel_tool_calls: 'true', temperature: '2' }));
  assert.deepEqual(differingRenderKeys(a, b), ['parallel_tool_calls', 'tool_choice']);
  assert.deepEqual(differingRenderKeys(a, a), []);
});

test('remembering results never mixes them up', () => {
  const digests = new Set<string>();
  for (let round = 0; round < 2; round++)
    for (let n = 0; n < 1500; n++) {
      const render = renderDigest(fields({ model: `"m${n}"`, tool_choice: `"${n}"` }));
      assert.deepEqual(render, { digest: replayDigest(`{"model":"m${n}","tool_choice":"${n}"}`) });
      digests.add('digest' in render ? render.digest : '');
    }
  assert.equal(digests.size, 1500);
  // The same bytes, cut elsewhere.
  assert.notDeepEqual(
    renderDigest(fields({ model: '"a"', tool_choice: '"b"' })),
    renderDigest(fields({ model: '"a"', tools: '"b"' })),
  );
});
