import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { evidenceOf } from '../../src/lineage/evidence.ts';
import type { EvidenceItem, ReasoningPolicy } from '../../src/lineage/types.ts';
import { chat } from '../../src/protocol/chat/index.ts';
import {
  type ConvertedRequest,
  type Dialect,
  type DialectConverter,
  isRefusal,
} from '../../src/protocol/conversation.ts';
import { joinFragments } from '../../src/protocol/json/fragment.ts';
import { messages } from '../../src/protocol/messages/index.ts';
import { responses } from '../../src/protocol/responses/index.ts';
import { DEFAULT_UPSTREAM_OPTIONS, upstreamMessage } from '../../src/protocol/upstream-body.ts';
import { anyAnswer, objectText } from '../support/answers.ts';
import { anyConversation, type Conversation, type Said, type Turn, WRITERS } from '../support/conversations.ts';
import { CONVERSION, json, REPLY } from '../support/messages-dialect.ts';

const CONVERTERS: Readonly<Record<Dialect, DialectConverter>> = { chat, responses, messages };
const DIALECTS = ['chat', 'responses', 'messages'] as const;
const POLICIES = ['required', 'optional', 'hidden'] as const;

function convert(dialect: Dialect, conversation: Conversation): ConvertedRequest {
  const request = CONVERTERS[dialect].convert(json(WRITERS[dialect](conversation)), CONVERSION);
  assert.ok(!isRefusal(request), isRefusal(request) ? `${dialect}: ${request.message}` : '');
  return request;
}

function evidence(dialect: Dialect, conversation: Conversation, policy: ReasoningPolicy = 'required'): EvidenceItem[] {
  return convert(dialect, conversation).messages.map((message) => evidenceOf(message, policy));
}

describe('one conversation, three dialects', () => {
  test('has one evidence, under each policy of reasoning', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        for (const policy of POLICIES) {
          const expected = evidence('chat', conversation, policy);
          assert.deepEqual(evidence('responses', conversation, policy), expected);
          assert.deepEqual(evidence('messages', conversation, policy), expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('is one conversation for the engine', () => {
    const upstream = (dialect: Dialect, conversation: Conversation) =>
      convert(dialect, conversation).messages.map((message): unknown =>
        withoutDefaults(JSON.parse(joinFragments(upstreamMessage(message, DEFAULT_UPSTREAM_OPTIONS)).toString())),
      );
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const expected = upstream('chat', conversation);
        assert.deepEqual(upstream('responses', conversation), expected);
        assert.deepEqual(upstream('messages', conversation), expected);
      }),
      { numRuns: 300 },
    );
  });
});

/** `detail: "auto"` says nothing. */
function withoutDefaults(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member) => (key === 'detail' && member === 'auto' ? undefined : member)),
  );
}

describe('one answer, three dialects', () => {
  const answers = anyAnswer({ callArguments: objectText }).filter(({ refusal }) => refusal === null);

  test('adds one turn to the history', () => {
    const request = (dialect: Dialect) =>
      convert(dialect, { system: null, turns: [{ by: 'user', parts: [{ text: 'hi' }] }] });
    const requests = Object.fromEntries(DIALECTS.map((dialect) => [dialect, request(dialect)]));
    fc.assert(
      fc.property(answers, (answer) => {
        const turns = DIALECTS.map((dialect) => {
          const { turn } = CONVERTERS[dialect].render(requests[dialect] as ConvertedRequest, answer, REPLY);
          // An empty text beside calls is served in Chat alone; it is the declared equivalence (protocol section 3).
          const { digest, ...rest } = evidenceOf(turn, 'required');
          return answer.content === '' && answer.toolCalls.length > 0 ? rest : { digest, ...rest };
        });
        assert.deepEqual(turns[1], turns[0]);
        assert.deepEqual(turns[2], turns[0]);
      }),
      { numRuns: 300 },
    );
  });
});

/** Real rewrites of a history (clients.md, sections 2.3 and 2.5). Null: this one has nothing that could be rewritten so. */
type Rewrite = (conversation: Conversation) => Conversation | null;

const REWRITES: Readonly<Record<string, Rewrite>> = {
  'a text trimmed': inTurn((said) => changed(said, { text: said.text?.trim() ?? null })),
  'a text replaced by its beginning': inTurn((said) =>
    changed(said, { text: said.text === null ? null : said.text.slice(0, -1) || 'x' }),
  ),
  'one character appended to a text': inTurn((said) =>
    changed(said, { text: said.text === null ? null : `${said.text}.` }),
  ),
  'a call rewritten as prose': inTurn((said) => {
    const [first, ...calls] = said.calls;
    return first === undefined
      ? null
      : { ...said, text: `${said.text ?? ''}[${first.name}: ${first.arguments}]`, calls };
  }),
  'arguments replaced by nothing': inTurn((said) => inFirstCall(said, (call) => ({ ...call, arguments: '{}' }), '{}')),
  'one argument more': inTurn((said) => inFirstCall(said, (call) => ({ ...call, arguments: oneMore(call.arguments) }))),
  'a tool renamed': inTurn((said) => inFirstCall(said, (call) => ({ ...call, name: 'invalid' }))),
  'another call id': inTurn((said) => inFirstCall(said, (call) => ({ ...call, id: `${call.id}x` }))),
  'calls in another order': inTurn((said) =>
    said.calls.length < 2 ? null : { ...said, calls: said.calls.toReversed() },
  ),
  'thinking left out': inTurn((said) =>
    said.text === null && said.calls.length === 0 ? null : changed(said, { reasoning: null }),
  ),
  'thinking doubled': inTurn((said) =>
    said.reasoning === null ? null : { ...said, reasoning: `${said.reasoning}\n${said.reasoning}` },
  ),
  'a turn dropped': (conversation) => ({
    ...conversation,
    turns: conversation.turns.filter((_, at) => at !== firstTurn(conversation)),
  }),
  'a summary in the place of the history': (conversation) => ({
    ...conversation,
    turns: [
      { by: 'user', parts: [{ text: 'A summary of what was done.' }] },
      ...conversation.turns.slice(-1).filter((turn) => turn.by === 'user'),
    ],
  }),
  'another system prompt': (conversation) => ({ ...conversation, system: `${conversation.system ?? ''}!` }),
  'a tool output changed': (conversation) => {
    const at = conversation.turns.findIndex((turn) => turn.by === 'model' && turn.outputs.length > 0);
    return at < 0
      ? null
      : replaced(conversation, at, (turn) =>
          turn.by === 'model' ? { ...turn, outputs: [[{ text: 'redacted' }], ...turn.outputs.slice(1)] } : turn,
        );
  },
  'another image': (conversation) => {
    const at = conversation.turns.findIndex((turn) => turn.by === 'user' && turn.parts.some((part) => 'image' in part));
    return at < 0
      ? null
      : replaced(conversation, at, (turn) =>
          turn.by === 'user'
            ? { ...turn, parts: turn.parts.map((part) => ('image' in part ? { image: `${part.image}AAAA` } : part)) }
            : turn,
        );
  },
};

function oneMore(callArguments: string): string {
  const members = callArguments.trim().slice(1, -1);
  return `{"one more":1${members.trim() === '' ? '' : ','}${members}}`;
}

function firstTurn(conversation: Conversation): number {
  return conversation.turns.findIndex((turn) => turn.by === 'model');
}

function replaced(conversation: Conversation, at: number, change: (turn: Turn) => Turn): Conversation {
  return { ...conversation, turns: conversation.turns.map((turn, index) => (index === at ? change(turn) : turn)) };
}

/** Rewrites the first assistant turn that can be rewritten so; outputs keep their places, and what would end in the turn goes on. */
function inTurn(change: (said: Said) => Said | null): Rewrite {
  return (conversation) => {
    for (const [at, turn] of conversation.turns.entries()) {
      if (turn.by !== 'model') continue;
      const said = change(turn.said);
      if (said === null) continue;
      const outputs = turn.outputs.slice(0, said.calls.length);
      const goOn: Turn[] =
        outputs.length === 0 && at === conversation.turns.length - 1
          ? [{ by: 'user', parts: [{ text: 'go on' }] }]
          : [];
      return { ...conversation, turns: conversation.turns.toSpliced(at, 1, { by: 'model', said, outputs }, ...goOn) };
    }
    return null;
  };
}

function changed(said: Said, change: Partial<Said>): Said | null {
  const [name] = Object.keys(change) as (keyof Said)[];
  return name === undefined || said[name] === change[name] ? null : { ...said, ...change };
}

function inFirstCall(
  said: Said,
  change: (call: Said['calls'][number]) => Said['calls'][number],
  unless?: string,
): Said | null {
  const [first, ...rest] = said.calls;
  if (first === undefined || (unless !== undefined && JSON.stringify(JSON.parse(first.arguments)) === unless))
    return null;
  return { ...said, calls: [change(first), ...rest] };
}

describe('a real rewrite is another history, in and across all dialects', () => {
  for (const [id, rewrite] of Object.entries(REWRITES))
    test(id, () => {
      let rewritten = 0;
      fc.assert(
        fc.property(anyConversation, (conversation) => {
          const other = rewrite(conversation);
          if (other === null) return;
          rewritten++;
          for (const [before, after] of [
            ['chat', 'chat'],
            ['responses', 'responses'],
            ['messages', 'messages'],
            ['chat', 'messages'],
            ['responses', 'messages'],
          ] as const)
            assert.notDeepEqual(evidence(after, other), evidence(before, conversation), `${before}, then ${after}`);
        }),
        { numRuns: 60 },
      );
      assert.ok(rewritten > 0, 'no random conversation could be rewritten so');
    });
});
