import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  CHUNK_BYTES,
  type Chunk,
  entryText,
  type Place,
  placeEntry,
  readAncestry,
} from '../../../src/ledger/ancestry.ts';

const ATTEMPT = 'attempt';

/** Chunks as a store keeps them. */
class Chunks {
  readonly chunks: Chunk[] = [];
  reads = 0;

  add(parent: Place | null, stagingKey: string, reasoning: (string | null)[] | null = null): Place {
    const parentChunk = parent && { place: parent, chunk: this.chunks[parent.chunk - 1]! };
    const { append, chunk } = placeEntry(entryText(ATTEMPT, { stagingKey, reasoning }), parentChunk);
    if (append) this.chunks[parent!.chunk - 1] = chunk;
    else this.chunks.push(chunk);
    return { chunk: append ? parent!.chunk : this.chunks.length, end: chunk.body.length };
  }

  read({ chunk, end }: Place) {
    this.reads = 1;
    const bodies = [this.chunks[chunk - 1]!.body.slice(0, end)];
    for (let before = this.chunks[chunk - 1]!.before; before !== 0; before = this.chunks[before - 1]!.before) {
      this.reads += 1;
      bodies.unshift(this.chunks[before - 1]!.body);
    }
    return readAncestry(ATTEMPT, bodies);
  }
}

describe('the ancestry of calls', () => {
  it('is right for every call of any forest', () => {
    const parents = fc.array(
      fc.oneof({ weight: 8, arbitrary: fc.constant('last' as const) }, { weight: 2, arbitrary: fc.nat() }),
      {
        minLength: 1,
        maxLength: 200,
      },
    );
    fc.assert(
      fc.property(parents, fc.boolean(), (list, hasReasoning) => {
        const chunks = new Chunks();
        const calls: { place: Place; keys: string[]; reasoning: (string | null)[] }[] = [];
        for (const [number, which] of list.entries()) {
          const parent = which === 'last' ? calls.at(-1) : calls[which % (calls.length + 1)];
          const key = number % 7 === 3 ? `other owner/${number}` : `${ATTEMPT}/${String(number).padStart(32, '0')}`;
          const digests = hasReasoning ? [number % 3 === 0 ? null : `r${number}`] : null;
          calls.push({
            place: chunks.add(parent?.place ?? null, key, digests),
            keys: [...(parent?.keys ?? []), key],
            reasoning: [...(parent?.reasoning ?? []), ...(digests ?? [])],
          });
        }
        for (const call of calls) {
          const ancestry = chunks.read(call.place);
          assert.deepEqual(ancestry.stagingChain, call.keys);
          assert.deepEqual(ancestry.reasoning, call.reasoning);
        }
      }),
    );
  });

  it('costs constant bytes per call, forks included, and one read per chunk of ancestry', () => {
    const chunks = new Chunks();
    const key = (turn: number, sample: number) => `${ATTEMPT}/${String(turn).padStart(30, '0')}${sample}x`;
    const entryBytes = entryText(ATTEMPT, { stagingKey: key(0, 0), reasoning: null }).length;
    let tip: Place | null = null;
    let forks = 0;
    // Each turn is sampled twice and goes on with the second sample: every call but the first of each pair is a fork.
    for (let turn = 0; turn < 1000; turn += 1) {
      chunks.add(tip, key(turn, 0));
      tip = chunks.add(tip, key(turn, 1));
      forks += 1;
    }
    const stored = chunks.chunks.reduce((sum, { body }) => sum + body.length, 0);
    assert.ok(stored <= 2000 * entryBytes + forks * CHUNK_BYTES);
    assert.equal(chunks.read(tip!).stagingChain.length, 1000);
    assert.ok(chunks.reads <= Math.ceil((1000 * entryBytes) / CHUNK_BYTES) + 1);
  });

  it('leaves out the attempt that all staging keys share', () => {
    assert.equal(entryText('a', { stagingKey: 'a/call', reasoning: null }), '"call",');
    assert.equal(entryText('a', { stagingKey: 'b/call', reasoning: null }), '{"key":"b/call","reasoning":[]},');
    assert.equal(
      entryText('a', { stagingKey: 'a/call', reasoning: ['r', null] }),
      '{"key":"a/call","reasoning":["r",null]},',
    );
    assert.deepEqual(readAncestry('a', []), { stagingChain: [], reasoning: [] });
  });
});
