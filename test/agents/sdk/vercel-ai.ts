import type { InstalledPackages } from '../harness/packages.ts';
import type { Conversation } from './conversation.ts';
import { INSTRUCTIONS, SUMMARIZE_NOW, summaryMessage } from './task.ts';
import { PHOTO, TASK_TOOLS } from './tools.ts';

export type VercelProvider = 'openai.responses' | 'openai.chat' | 'openai-compatible' | 'anthropic';

export interface VercelOptions {
  /** `http://host:port/ng-rollout/<attempt>`. */
  readonly base: string;
  readonly provider: VercelProvider;
  readonly stream: boolean;
  readonly maxRetries?: number;
  /** The messages are pruned before each step. */
  readonly edits?: true;
  readonly photo?: true;
}

const MAX_STEPS = 20;

/** The AI SDK with its providers, set up as their documentation says; of OpenAI's Responses the stateless form (`store: false`). */
export async function vercelAi(packages: InstalledPackages) {
  const ai = await import(packages.url('ai'));
  const { createOpenAI } = await import(packages.url('@ai-sdk/openai'));
  const { createOpenAICompatible } = await import(packages.url('@ai-sdk/openai-compatible'));
  const { createAnthropic } = await import(packages.url('@ai-sdk/anthropic'));
  const { z } = await import(packages.url('zod'));

  // It warns on every call that it does not know the model.
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

  const schema = { string: () => z.string(), number: () => z.number() };
  const tools = Object.fromEntries(
    TASK_TOOLS.map(({ name, description, parameters, run }) => [
      name,
      ai.tool({
        description,
        inputSchema: z.object(
          Object.fromEntries(Object.entries(parameters).map(([key, kind]) => [key, schema[kind]()])),
        ),
        execute: async (args: Record<string, unknown>) => run(args),
      }),
    ]),
  );

  const model = (provider: VercelProvider, base: string) => {
    const settings = { baseURL: `${base}/v1`, apiKey: 'none' };
    switch (provider) {
      case 'openai.responses':
        return createOpenAI(settings).responses('policy');
      case 'openai.chat':
        return createOpenAI(settings).chat('policy');
      case 'openai-compatible':
        return createOpenAICompatible({ ...settings, name: 'gym' }).chatModel('policy');
      case 'anthropic':
        return createAnthropic(settings)('policy');
      default: {
        const never: never = provider;
        return never;
      }
    }
  };

  const withPhoto = {
    ...tools,
    [PHOTO.name]: ai.tool({
      description: PHOTO.description,
      inputSchema: z.object({}),
      execute: async () => 'taken',
      toModelOutput: () => ({
        type: 'content',
        value: [{ type: 'file', data: { type: 'data', data: PHOTO.data }, mediaType: PHOTO.mediaType }],
      }),
    }),
  };

  const conversation = ({ base, provider, stream, edits, photo, ...retries }: VercelOptions): Conversation => {
    const callOptions = { ...retries, ...(edits ? { prepareStep: pruned } : {}) };
    const settings = {
      model: model(provider, base),
      instructions: INSTRUCTIONS,
      // Asks for reasoning that can be sent back without a store; the model's name does not say that it reasons.
      providerOptions: provider === 'openai.responses' ? { openai: { store: false, forceReasoning: true } } : {},
      maxOutputTokens: 4096,
    };
    return withMessages([]);

    /** One conversation, its messages kept by the caller, as the SDK wants it. */
    function withMessages(messages: unknown[]): Conversation {
      return {
        ask: async (prompt) => {
          messages.push({ role: 'user', content: prompt });
          const options = {
            ...settings,
            messages,
            tools: photo ? withPhoto : tools,
            stopWhen: ai.stepCountIs(MAX_STEPS),
            ...callOptions,
          };
          const result = stream ? await streamed(options) : await ai.generateText(options);
          messages.push(...(await result.responseMessages));
          return await result.text;
        },
        summarize: async () => {
          const request = [...messages, { role: 'user', content: SUMMARIZE_NOW }];
          const { text } = await ai.generateText({ ...settings, messages: request });
          messages.splice(0, messages.length, { role: 'user', content: summaryMessage(text) });
        },
        fork: async () => withMessages([...messages]),
      };
    }
  };

  const pruned = ({ messages }: { messages: unknown[] }) => ({
    messages: ai.pruneMessages({ messages, toolCalls: 'before-last-2-messages' }),
  });

  async function streamed(options: Record<string, unknown>) {
    const failures: unknown[] = [];
    const result = ai.streamText({ ...options, onError: ({ error }: { error: unknown }) => failures.push(error) });
    await result.consumeStream();
    if (failures.length > 0) throw failures[0];
    return result;
  }

  return { ai, conversation };
}
