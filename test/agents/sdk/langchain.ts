import type { InstalledPackages } from '../harness/packages.ts';
import type { Conversation } from './conversation.ts';
import { INSTRUCTIONS } from './task.ts';
import { PHOTO, TASK_TOOLS } from './tools.ts';

export type LangchainModel = 'chat' | 'responses' | 'messages';

export interface LangchainOptions {
  /** `http://host:port/ng-rollout/<attempt>`. */
  readonly base: string;
  readonly model: LangchainModel;
  readonly stream: boolean;
  readonly maxRetries?: number;
  /** A middleware clears all tool outputs but the newest. */
  readonly edits?: true;
  readonly photo?: true;
}

/** LangChain.js: `createAgent` on LangGraph with the models of @langchain/openai and @langchain/anthropic. */
export async function langchain(packages: InstalledPackages) {
  const lc = await import(packages.url('langchain'));
  const { ChatOpenAI } = await import(packages.url('@langchain/openai'));
  const { ChatAnthropic } = await import(packages.url('@langchain/anthropic'));
  const { z } = await import(packages.url('zod'));

  const schema = { string: () => z.string(), number: () => z.number() };
  const tools = TASK_TOOLS.map(({ name, description, parameters, run }) =>
    lc.tool(async (args: Record<string, unknown>) => run(args), {
      name,
      description,
      schema: z.object(Object.fromEntries(Object.entries(parameters).map(([key, kind]) => [key, schema[kind]()]))),
    }),
  );

  const chatModel = ({ base, model, maxRetries }: LangchainOptions) =>
    model === 'messages'
      ? new ChatAnthropic({
          model: 'policy',
          apiKey: 'none',
          anthropicApiUrl: base,
          maxTokens: 4096,
          ...(maxRetries === undefined ? {} : { maxRetries }),
        })
      : new ChatOpenAI({
          model: 'policy',
          apiKey: 'none',
          configuration: { baseURL: `${base}/v1` },
          useResponsesApi: model === 'responses',
          ...(maxRetries === undefined ? {} : { maxRetries }),
        });

  /** Tells the model of a tool's error, as the documentation of `wrapToolCall` shows it. */
  const toolErrors = lc.createMiddleware({
    name: 'ToolErrors',
    wrapToolCall: async (request: { toolCall: { id: string } }, handler: (request: unknown) => unknown) => {
      try {
        return await handler(request);
      } catch (error) {
        return new lc.ToolMessage({ content: String(error), tool_call_id: request.toolCall.id, status: 'error' });
      }
    },
  });

  const photoTool = lc.tool(
    async () => [{ type: 'image_url', image_url: { url: `data:${PHOTO.mediaType};base64,${PHOTO.data}` } }],
    { name: PHOTO.name, description: PHOTO.description, schema: z.object({}) },
  );

  /** One conversation, its messages kept by the caller. */
  const conversation = (options: LangchainOptions, history: readonly Message[] = []): Conversation => {
    const build = (middleware: readonly unknown[]) =>
      lc.createAgent({
        model: chatModel(options),
        tools: options.photo ? [...tools, photoTool] : tools,
        systemPrompt: INSTRUCTIONS,
        middleware: [toolErrors, ...middleware],
      });
    const clear = () => new lc.ClearToolUsesEdit({ trigger: { messages: 1 }, keep: { messages: 1 } });
    let agent = build(options.edits ? [lc.contextEditingMiddleware({ edits: [clear()] })] : []);
    let messages = history;
    return {
      ask: async (prompt) => {
        const input = { messages: [...messages, { role: 'user', content: prompt }] };
        if (options.stream) {
          // With the mode `messages` the models stream; the mode `values` gives the state.
          for await (const [mode, chunk] of await agent.stream(input, { streamMode: ['values', 'messages'] }))
            if (mode === 'values') messages = chunk.messages;
        } else messages = (await agent.invoke(input)).messages;
        return messages.at(-1)?.text ?? '';
      },
      /** The middleware writes the summary itself, before the next call of the model. */
      summarize: async () => {
        const trigger = { messages: messages.length + 1 };
        agent = build([lc.summarizationMiddleware({ model: chatModel(options), trigger, keep: { messages: 1 } })]);
      },
      fork: async () => conversation(options, messages),
    };
  };

  return { lc, conversation };
}

interface Message {
  readonly text: string;
}
