import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type InstalledPackages, installPackages } from '../harness/packages.ts';
import { openAiAgents } from './openai-agents.ts';
import {
  runBrokenArguments,
  runContextRefusal,
  runEdits,
  runLostConnection,
  runPicture,
  runRequiredTool,
  runSummary,
  runTask,
  runTwoSamples,
  type Variant,
} from './runs.ts';

let packages: InstalledPackages;
let agents: Awaited<ReturnType<typeof openAiAgents>>;
before(async () => {
  packages = await installPackages('sdk');
  agents = await openAiAgents(packages);
});

const variant = (dialect: string, api: 'responses' | 'chat', stream: boolean): Variant => ({
  agent: 'OpenAI Agents SDK (js)',
  dialect,
  version: () => packages.version('@openai/agents'),
  start: ({ base }, settings) => agents.conversation({ base, api, stream, ...settings }),
});
const RESPONSES = variant('Responses', 'responses', false);
const RESPONSES_STREAM = variant('Responses stream', 'responses', true);
const CHAT = variant('Chat', 'chat', false);
const CHAT_STREAM = variant('Chat stream', 'chat', true);

/** The writer of the summary has other instructions, and afterwards the summary stands where the first prompt was. */
const SUMMARY_ROOTS = {
  summary: { cause: 'history_differs', detail: { index: 0, role: 'system', part: 'text' } },
  after: { cause: 'history_differs', detail: { index: 1, role: 'user', part: 'text' }, beginsAnew: true },
};

const RESET = 'After a tool it takes a required tool choice back: set `resetToolChoice: false`.';

function isRefusal(error: unknown): void {
  const { status, code } = error as { status: number; code: string };
  assert.deepEqual(
    { name: (error as Error).constructor.name, status, code },
    { name: 'BadRequestError', status: 400, code: 'context_length_exceeded' },
  );
}

describe('OpenAI Agents SDK (js)', { concurrency: 8 }, () => {
  for (const one of [RESPONSES, RESPONSES_STREAM, CHAT, CHAT_STREAM]) {
    test(`${one.dialect}: task`, () => runTask(one, { failure: 'An error occurred while running the tool.' }));
    test(`${one.dialect}: summary and fork`, () => runSummary(one, SUMMARY_ROOTS));
  }
  for (const one of [RESPONSES, CHAT_STREAM]) {
    test(`${one.dialect}: broken arguments`, () => runBrokenArguments(one, { parent: 'b1' }));
    test(`${one.dialect}: picture from a tool`, () => runPicture(one));
    test(`${one.dialect}: required tool`, () => runRequiredTool(one, RESET));
    test(`${one.dialect}: two samples`, () => runTwoSamples(one));
    test(`${one.dialect}: context refusal`, () => runContextRefusal(one, SUMMARY_ROOTS, isRefusal));
  }
  test('Responses: history edits', () => runEdits(RESPONSES));
  test('Responses stream: connection lost, call running', () => runLostConnection(RESPONSES_STREAM, 'running'));
  test('Chat: connection lost, call finished', () => runLostConnection(CHAT, 'finished'));
});
