import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Expectation } from '../harness/expectation.ts';
import {
  runBrokenArguments,
  runContextRefusal,
  runEdits,
  runLostConnection,
  runPicture,
  runRequiredTool,
  runSummary,
  runTask,
  runTaskReasoningRequired,
  runTwoSamples,
  type SummaryRoots,
  type Variant,
} from '../sdk/runs.ts';
import { missingPython } from './environment.ts';
import { PythonError, type PythonOptions, type SdkProcess, startSdkProcess } from './sdk-process.ts';

/** Without Python nothing of this can run: a skipped test, which fails a run with CI set (scripts/run-tests.ts). */
const missing = await missingPython();

let sdks: Record<'with_openai_agents' | 'with_pydantic_ai' | 'with_langchain', SdkProcess>;
before(async () => {
  if (missing !== null) return;
  const [with_openai_agents, with_pydantic_ai, with_langchain] = await Promise.all(
    ['with_openai_agents', 'with_pydantic_ai', 'with_langchain'].map(startSdkProcess),
  );
  sdks = { with_openai_agents, with_pydantic_ai, with_langchain } as typeof sdks;
});
after(() => Promise.all(Object.values(sdks ?? {}).map((sdk) => sdk.stop())));

const NAMES = { responses: 'Responses', chat: 'Chat', messages: 'Messages' } as const;

function variants(
  agent: string,
  module: keyof typeof sdks,
  packageName: string,
  dialect: PythonOptions['dialect'],
): readonly [Variant, Variant] {
  const variant = (stream: boolean): Variant => ({
    agent,
    dialect: stream ? `${NAMES[dialect]} stream` : NAMES[dialect],
    version: () => sdks[module].version(packageName),
    start: ({ base }, { maxRetries, mustCall, ...settings }) =>
      sdks[module].conversation({
        dialect,
        stream,
        base,
        ...(maxRetries === undefined ? {} : { max_retries: maxRetries }),
        ...(mustCall === undefined ? {} : { must_call: mustCall }),
        ...settings,
      }),
    neverEchoesReasoning: module === 'with_langchain' && dialect === 'chat',
  });
  return [variant(false), variant(true)];
}

const openaiAgents = (dialect: PythonOptions['dialect']) =>
  variants('OpenAI Agents SDK (python)', 'with_openai_agents', 'openai-agents', dialect);
const pydanticAi = (dialect: PythonOptions['dialect']) =>
  variants('pydantic-ai', 'with_pydantic_ai', 'pydantic-ai-slim', dialect);
const langchain = (dialect: PythonOptions['dialect']) =>
  variants('LangChain (python)', 'with_langchain', 'langchain', dialect);

/** Another agent writes the summary, and afterwards it stands where the first prompt was. */
const SUMMARY_ROOTS = {
  summary: { cause: 'history_differs', detail: { index: 0, role: 'system', part: 'text' } },
  after: { cause: 'history_differs', detail: { index: 1, role: 'user', part: 'text' }, beginsAnew: true },
};
/** LangChain's middleware writes the conversation into one prompt without instructions. */
const MIDDLEWARE_ROOTS = {
  summary: { cause: 'history_differs', detail: { index: 0, role: 'user', part: 'role' }, beginsAnew: true },
  after: SUMMARY_ROOTS.after,
};

/** Checks the class, or one that it derives from, and what the SDK makes of status and code. */
const isError = (type: string, code: string | null) => (error: unknown) => {
  assert.ok(error instanceof PythonError, String(error));
  assert.ok(error.types.includes(type), `${error.types[0]} is no ${type}`);
  assert.deepEqual({ status: error.status, code: error.code }, { status: 400, code });
};

const rewritten = (names: readonly string[], rewrite: string): Expectation => ({
  root: {
    cause: 'history_differs',
    nearest: 'b1',
    detail: { part: 'arguments', call_index: 0, arguments: names },
    rewrite,
  },
});
const CONTINUED: Expectation = { parent: 'b1' };
const WRAPPED = rewritten(['INVALID_JSON'], 'Arguments that are no JSON become `{"INVALID_JSON": text}`.');
const COMPLETED = rewritten(['limit', 'path'], 'Arguments that are cut off are completed and executed.');

const RESET = 'After a tool it takes a required tool choice back: set `reset_tool_choice=False`.';
const SYSTEM_INSERTED: Expectation = {
  root: {
    cause: 'suffix_role',
    nearest: 'p1',
    detail: { role: 'system', index: 4 },
    rewrite: 'A picture from a tool comes in a user message, with a system message before it.',
  },
};

/** What all variants of an SDK have in common, and what is run with some. */
interface Sdk {
  readonly variants: readonly (readonly [Variant, Variant])[];
  readonly failure?: string;
  readonly roots: SummaryRoots;
  /** After broken arguments, by dialect, plain and streamed; null: the agent stops there. */
  readonly broken: Readonly<Record<string, readonly [Expectation | null, Expectation | null]>>;
  /** After a tool answered with a picture, by dialect; default: a continuation. */
  readonly pictured?: Readonly<Record<string, Expectation>>;
  readonly isRefusal: (dialect: string) => (error: unknown) => void;
}

const SDKS: readonly Sdk[] = [
  {
    variants: [openaiAgents('responses'), openaiAgents('chat')],
    failure: 'An error occurred while running the tool.',
    roots: SUMMARY_ROOTS,
    broken: { Responses: [CONTINUED, CONTINUED], Chat: [CONTINUED, CONTINUED] },
    isRefusal: () => isError('BadRequestError', 'context_length_exceeded'),
  },
  {
    variants: [pydanticAi('responses'), pydanticAi('chat'), pydanticAi('messages')],
    roots: SUMMARY_ROOTS,
    broken: { Responses: [WRAPPED, WRAPPED], Chat: [WRAPPED, WRAPPED], Messages: [CONTINUED, CONTINUED] },
    pictured: { Chat: SYSTEM_INSERTED },
    isRefusal: () => isError('ModelContextWindowExceededError', null),
  },
  {
    variants: [langchain('responses'), langchain('chat'), langchain('messages')],
    roots: MIDDLEWARE_ROOTS,
    broken: { Responses: [null, CONTINUED], Chat: [null, COMPLETED], Messages: [CONTINUED, CONTINUED] },
    isRefusal: (dialect) =>
      isError('ContextOverflowError', dialect.startsWith('Messages') ? null : 'context_length_exceeded'),
  },
];

describe('Python SDKs', { concurrency: 8 }, () => {
  if (missing !== null) {
    test('everything', { skip: missing });
    return;
  }
  for (const { variants: all, failure, roots, broken, pictured, isRefusal } of SDKS)
    for (const both of all) {
      const [plain, stream] = both;
      for (const [at, one] of both.entries()) {
        const name = `${one.agent}, ${one.dialect}`;
        const after = broken[plain.dialect]?.[at] ?? null;
        test(`${name}: task`, () => runTask(one, failure === undefined ? {} : { failure }));
        test(`${name}: summary and fork`, () => runSummary(one, roots));
        test(`${name}: broken arguments`, () => runBrokenArguments(one, after ?? CONTINUED, { stops: after === null }));
      }
      const name = `${stream.agent}, ${stream.dialect}`;
      test(`${name}: context refusal`, () => runContextRefusal(stream, roots, isRefusal(stream.dialect)));
      test(`${name}: connection lost, call running`, () => runLostConnection(stream, 'running'));
      test(`${name}: picture from a tool`, () => runPicture(stream, pictured?.[plain.dialect]));
      test(`${name}: two samples`, () => runTwoSamples(stream));
      test(`${plain.agent}, ${plain.dialect}: history edits`, () => runEdits(plain));
    }
  for (const [plain] of [openaiAgents('responses'), pydanticAi('messages'), langchain('messages')])
    test(`${plain.agent}, ${plain.dialect}: connection lost, call finished`, () =>
      runLostConnection(plain, 'finished'));
  for (const [plain] of [openaiAgents('responses'), openaiAgents('chat')])
    test(`${plain.agent}, ${plain.dialect}: required tool`, () => runRequiredTool(plain, RESET));
  const [chat] = langchain('chat');
  test(`${chat.agent}, Chat: task, reasoning required`, () => runTaskReasoningRequired(chat));
});
