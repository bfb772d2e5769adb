import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Expectation } from '../harness/expectation.ts';
import { type InstalledPackages, installPackages } from '../harness/packages.ts';
import { type LangchainModel, langchain } from './langchain.ts';
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

let packages: InstalledPackages;
let chain: Awaited<ReturnType<typeof langchain>>;
before(async () => {
  packages = await installPackages('sdk');
  chain = await langchain(packages);
});

const both = (dialect: string, model: LangchainModel): readonly [Variant, Variant] => {
  const variant = (stream: boolean): Variant => ({
    agent: 'LangChain.js',
    dialect: stream ? `${dialect} stream` : dialect,
    version: () => packages.version('langchain'),
    start: ({ base }, settings) => chain.conversation({ base, model, stream, ...settings }),
    neverEchoesReasoning: model === 'chat',
  });
  return [variant(false), variant(true)];
};
const RESPONSES = both('Responses', 'responses');
const CHAT = both('Chat', 'chat');
const MESSAGES = both('Messages', 'messages');

/** The middleware writes the conversation into one prompt without instructions. */
const SUMMARY_ROOTS = {
  summary: { cause: 'history_differs', detail: { index: 0, role: 'user', part: 'role' }, beginsAnew: true },
  after: { cause: 'history_differs', detail: { index: 1, role: 'user', part: 'text' }, beginsAnew: true },
};

const COMPLETED: Expectation = {
  root: {
    cause: 'history_differs',
    nearest: 'b1',
    detail: { part: 'arguments', call_index: 0, arguments: ['limit', 'path'] },
    rewrite: 'Arguments that are cut off are completed and executed.',
  },
};

/** In Chat, after a tool that answered with a picture. */
const EMPTY_FOR_NULL: Expectation = {
  root: {
    cause: 'rooted_by_worker',
    nearest: 'p1',
    rewrite:
      'The content null of a turn with calls comes back as "". Beside pictures a worker cannot know that the two render alike (protocol section 5).',
  },
};

function isRefusal(error: unknown): void {
  const { name, cause } = error as { name: string; cause: { status: number } };
  assert.deepEqual({ name, status: cause.status }, { name: 'ContextOverflowError', status: 400 });
}

describe('LangChain.js', { concurrency: 8 }, () => {
  for (const one of [...RESPONSES, ...CHAT, ...MESSAGES]) {
    test(`${one.dialect}: task`, () => runTask(one));
    test(`${one.dialect}: summary and fork`, () => runSummary(one, SUMMARY_ROOTS));
    test(`${one.dialect}: context refusal`, () => runContextRefusal(one, SUMMARY_ROOTS, isRefusal));
    test(`${one.dialect}: connection lost, call running`, () => runLostConnection(one, 'running'));
    const stops = one === RESPONSES[0] || one === CHAT[0];
    const after = one === CHAT[1] ? COMPLETED : { parent: 'b1' };
    test(`${one.dialect}: broken arguments`, () => runBrokenArguments(one, after, { stops }));
  }
  for (const [plain, stream] of [RESPONSES, CHAT, MESSAGES]) {
    const after = plain === CHAT[0] ? EMPTY_FOR_NULL : undefined;
    test(`${plain.dialect}: picture from a tool`, () => runPicture(plain, after));
    test(`${stream.dialect}: two samples`, () => runTwoSamples(stream));
  }
  test('Messages stream: history edits', () => runEdits(MESSAGES[1]));
  test('Chat: task, reasoning required', () => runTaskReasoningRequired(CHAT[0]));
  test('Responses: connection lost, call finished', () => runLostConnection(RESPONSES[0], 'finished'));
});
