import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { gatherEvidence } from '../../src/call/gather-evidence.ts';
import { KnownHistories } from '../../src/call/known-histories.ts';
import { CONVERTERS, type ParsedCall, parseCall, requestDigest } from '../../src/call/parse-call.ts';
import type { ServiceError } from '../../src/errors.ts';
import { assistantFingerprint } from '../../src/lineage/fingerprints.ts';
import { sketchOf } from '../../src/lineage/sketch.ts';
import type { Dialect, EngineAnswer } from '../../src/protocol/conversation.ts';
import { fragmentText } from '../../src/protocol/json/fragment.ts';
import { upstreamBody, upstreamMessage } from '../../src/protocol/upstream-body.ts';
import { anyAnswer, objectText } from '../support/answers.ts';
import { CAPTURED, REPLY } from '../support/chat-conversion.ts';
import { type History, pick, type Random, randomFrom } from '../support/client-histories.ts';
import { requestBody } from '../support/client-writers.ts';
import { continuation, opening, survives } from '../support/random-attempt.ts';
import { EDITS } from '../support/random-edits.ts';

const UPSTREAM = { reasoningKey: 'reasoning', callIdLimit: null } as const;
const POLICIES = ['required', 'optional', 'hidden'] as const;
const DIALECTS: readonly Dialect[] = ['chat', 'responses', 'messages'];
const ATTEMPTS_PER_DIALECT = 40;
const REQUESTS = 12;

/** Everything that a call takes from its request. */
function factsOf(dialect: Dialect, parsed: ParsedCall | ServiceError): unknown {
  if ('status' in parsed) return parsed;
  const { request, body } = parsed;
  const items = [...request.fingerprintItems];
  return {
    ...request,
    messages: request.messages.map((message) => ({
      ...message,
      content: message.content,
      verbatim: message.verbatim && fragmentText(message.verbatim),
      textNode: null,
      memo: null,
      upstream: upstreamMessage(message, UPSTREAM).map(fragmentText).join(''),
    })),
    fields: [...request.fields].map(([name, value]) => [name, fragmentText(value)]),
    repeated: [...request.replyContext.repeated].map(([name, value]) => [name, fragmentText(value)]),
    replyContext: null,
    clientTools: [...request.replyContext.clientTools],
    fingerprintItems: items.map((item) => item.rawText()),
    fingerprint: assistantFingerprint(items),
    upstream: upstreamBody({
      model: request.model,
      messages: request.messages.map((message) => upstreamMessage(message, UPSTREAM)),
      fields: request.fields,
      extra: new Map(),
    }).toString(),
    body: body.rawText(),
    evidence: POLICIES.map((policy) => {
      const evidence = gatherEvidence(request.messages, request.fields, policy);
      if ('status' in evidence) return evidence;
      return {
        ...evidence,
        summarizer: evidence.summarizer.summary(),
        sketches: request.messages.map((message, at) => sketchOf(message, evidence.items[at]!)),
        identity: requestDigest(dialect, body, evidence.identity, undefined),
      };
    }),
  };
}

/** The conversation after an answer, as a client keeps it. */
function answered(
  dialect: Dialect,
  history: History,
  text: string,
  answer: EngineAnswer,
  random: Random,
  mark: string,
): History {
  const parsed = parseCall(dialect, Buffer.from(text), CAPTURED, 512);
  assert.ok(!('status' in parsed));
  const options = { ...REPLY, callId: mark.padEnd(32, '0') };
  const reply = CONVERTERS[dialect].render(parsed.request, answer, options).json.toString();
  return {
    ...history,
    entries: [...history.entries, { by: 'model', reply }, ...continuation(random, reply, dialect, mark, true)],
  };
}

/** Reads the requests of one attempt with and without what is known; returns how many elements of their histories were taken over. */
function compareAttempt(dialect: Dialect, seed: number): number {
  const random = randomFrom(seed);
  const answers = fc.sample(anyAnswer({ callArguments: objectText.filter(survives) }), { seed, numRuns: REQUESTS });
  const known = new KnownHistories(1_000_000);
  const list = dialect === 'responses' ? 'input' : 'messages';
  let histories = [opening(random, `a${seed}`)];
  let taken = 0;
  for (let request = 0; request < REQUESTS; request += 1) {
    const history = pick(random, histories.slice(-2));
    const edited =
      random() < 0.2 ? EDITS[pick(random, Object.keys(EDITS))]?.(history, dialect, random)?.history : undefined;
    const said = edited ?? history;
    // The same numbers write the beginning of a conversation in the same way.
    const style = random() < 0.85 ? seed : Math.floor(random() * 1e9);
    const written = requestBody(dialect, said, { random: randomFrom(style), plain: false });
    const text = random() < 0.1 ? JSON.stringify(JSON.parse(written), null, 1) : written;

    const seen = known.of('attempt', dialect);
    assert.ok(seen !== null);
    const found = parseCall(dialect, Buffer.from(text), CAPTURED, 512, seen);
    const expected = factsOf(dialect, parseCall(dialect, Buffer.from(text), CAPTURED, 512));
    assert.deepEqual(factsOf(dialect, found), expected, `${dialect}, seed ${seed}, request ${request}`);
    if ('status' in found) continue;
    const before = new Set(seen.lists.flat());
    taken += found.body.get(list)?.children.filter((node) => before.has(node)).length ?? 0;
    known.remember('attempt', dialect, seen, found.body);
    // What was taken from it is what it says, also to those who ask again.
    assert.deepEqual(factsOf(dialect, found), expected, `${dialect}, seed ${seed}, request ${request}, again`);
    histories = [...histories, answered(dialect, said, text, answers[request] as EngineAnswer, random, `b${request}`)];
  }
  return taken;
}

describe('a request that is read with what is known of earlier ones', () => {
  for (const dialect of DIALECTS) {
    test(`says what it says when it is read alone: ${dialect}`, () => {
      let taken = 0;
      for (let seed = 1; seed <= ATTEMPTS_PER_DIALECT; seed += 1) taken += compareAttempt(dialect, seed);
      assert.ok(taken > 2000, `only ${taken} elements were taken over`);
    });
  }
});
