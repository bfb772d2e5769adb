import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WholeEvents } from '../../../src/call/whole-events.ts';
import type { RelaySink } from '../../../src/worker/relay.ts';

/** A sink that keeps what it is given, write by write. */
function collector() {
  const writes: string[] = [];
  let ended = false;
  const sink: RelaySink = {
    open: () => undefined,
    write: (chunk) => {
      writes.push(chunk.toString('latin1'));
      return chunk.length < 1000;
    },
    end: () => {
      ended = true;
    },
  };
  return { sink, writes, isEnded: () => ended };
}

const nobody = () => assert.fail('nobody waits');

describe('an event stream that is passed on event by event', () => {
  for (const [name, lineEnd] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ] as const) {
    const events = ['data: one', `event: x${lineEnd}data: two`, ': note'].map((text) => text + lineEnd + lineEnd);
    const text = events.join('');

    test(`${name}: whatever the pieces, whole events go on, and every byte once`, () => {
      for (let size = 1; size <= text.length; size++) {
        const { sink, writes, isEnded } = collector();
        const gate = new WholeEvents(sink);
        for (let at = 0; at < text.length; at += size)
          assert.equal(gate.write(Buffer.from(text.slice(at, at + size)), nobody), true);
        for (let count = 1; count <= writes.length; count++) {
          const sent = writes.slice(0, count).join('');
          assert.ok(
            events.some((_, at) => events.slice(0, at + 1).join('') === sent),
            `${size}: ${JSON.stringify(sent)}`,
          );
        }
        assert.equal(writes.join(''), text, String(size));
        gate.end();
        assert.equal(isEnded(), true);
        assert.equal(writes.join(''), text);
      }
    });

    test(`${name}: of an event without its end nothing goes on before the end of all`, () => {
      const { sink, writes } = collector();
      const gate = new WholeEvents(sink);
      gate.write(Buffer.from(`${text}data: cut${lineEnd}`), nobody);
      gate.write(Buffer.from('da'), nobody);
      assert.deepEqual(writes, [text]);
      gate.end();
      assert.deepEqual(writes, [text, `data: cut${lineEnd}da`]);
    });
  }

  test('a sink that is full says so', () => {
    const { sink } = collector();
    const gate = new WholeEvents(sink);
    assert.equal(gate.write(Buffer.from(`data: ${'x'.repeat(2000)}`), nobody), true);
    assert.equal(gate.write(Buffer.from('\n\n'), nobody), false);
  });
});
