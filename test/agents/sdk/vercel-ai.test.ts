import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Expectation } from '../harness/expectation.ts';
import { type InstalledPackages, installPackages } from '../harness/packages.ts';
import {
  runBrokenArguments,
  runContextRefusal,
  runEdits,
  runLostConnection,
  runPicture,
  runSummary,
  runTask,
  runTaskReasoningRequired,
  runTwoSamples,
  type Variant,
} from './runs.ts';
import { type VercelProvider, vercelAi } from './vercel-ai.ts';

let packages: InstalledPackages;
let vercel: Awaited<ReturnType<typeof vercelAi>>;
before(async () => {
  packages = await installPackages('sdk');
  vercel = await vercelAi(packages);
});

const variant = (dialect: string, provider: VercelProvider, stream: boolean): Variant => ({
  agent: `AI SDK, @ai-sdk/${provider.split('.')[0]}`,
  dialect: stream ? `${dialect} stream` : dialect,
  version: () => packages.version('ai'),
  start: ({ base }, settings) => vercel.conversation({ base, provider, stream, ...settings }),
  neverEchoesReasoning: provider === 'openai.chat',
});
const both = (dialect: string, provider: VercelProvider) =>
  [variant(dialect, provider, false), variant(dialect, provider, true)] as const;
const RESPONSES = both('Responses', 'openai.responses');
const CHAT = both('Chat', 'openai.chat');
const COMPATIBLE = both('Chat', 'openai-compatible');
const MESSAGES = both('Messages', 'anthropic');

/** The summary is asked for without tools, and afterwards stands where the first prompt was. */
const SUMMARY_ROOTS = {
  summary: { cause: 'render_differs', nearest: 's2', detail: { keys: ['tool_choice', 'tools'] } },
  after: { cause: 'history_differs', detail: { index: 1, role: 'user', part: 'text' }, beginsAnew: true },
};
const REFUSAL_ROOTS = {
  summary: { ...SUMMARY_ROOTS.summary, nearest: 'r1' },
  after: SUMMARY_ROOTS.after,
};
/**
 * `pruneMessages` takes the older calls and their outputs away and leaves text and reasoning: before the third call the newest call then stands in the turn of the first
 * one, before the fourth that turn stands there without any call.
 */
const CALLS_PRUNED = {
  third: { cause: 'history_differs', detail: { index: 2, role: 'assistant', part: 'arguments', call_index: 0 } },
  fourth: { cause: 'history_differs', nearest: 'e3', detail: { index: 2, role: 'assistant', part: 'partial_echo' } },
};
const REPLACED: Expectation = {
  root: {
    cause: 'history_differs',
    nearest: 'b1',
    detail: { part: 'arguments', call_index: 0 },
    rewrite: 'Arguments that are no JSON are replaced by `{}`.',
  },
};

function isRefusal(error: unknown): void {
  const { name, statusCode, isRetryable, data } = error as {
    name: string;
    statusCode: number;
    isRetryable: boolean;
    data: { error: { code?: string; message: string } };
  };
  assert.deepEqual({ name, statusCode, isRetryable }, { name: 'AI_APICallError', statusCode: 400, isRetryable: false });
  assert.match(data.error.message, /prompt is too long: \d+ tokens > \d+ maximum/);
  if ('code' in data.error) assert.equal(data.error.code, 'context_length_exceeded');
}

describe('AI SDK', { concurrency: 8 }, () => {
  for (const one of [...RESPONSES, ...CHAT, ...COMPATIBLE, ...MESSAGES]) {
    const name = `${one.agent}, ${one.dialect}`;
    test(`${name}: task`, () => runTask(one));
    test(`${name}: summary and fork`, () => runSummary(one, SUMMARY_ROOTS));
  }
  for (const [, one] of [RESPONSES, CHAT, COMPATIBLE, MESSAGES]) {
    const name = `${one.agent}, ${one.dialect}`;
    test(`${name}: picture from a tool`, () => runPicture(one));
    test(`${name}: two samples`, () => runTwoSamples(one));
    test(`${name}: context refusal`, () => runContextRefusal(one, REFUSAL_ROOTS, isRefusal));
    test(`${name}: connection lost, call running`, () => runLostConnection(one, 'running'));
  }
  for (const [one] of [RESPONSES, CHAT, COMPATIBLE])
    test(`${one.agent}, ${one.dialect}: broken arguments`, () => runBrokenArguments(one, REPLACED));
  test('Responses: history edits', () => runEdits(RESPONSES[0], CALLS_PRUNED));
  test('Messages: broken arguments', () => runBrokenArguments(MESSAGES[0], { parent: 'b1' }));
  test('Chat: task, reasoning required', () => runTaskReasoningRequired(CHAT[0]));
  test('Messages: connection lost, call finished', () => runLostConnection(MESSAGES[0], 'finished'));
});
