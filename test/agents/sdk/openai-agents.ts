import type { InstalledPackages } from '../harness/packages.ts';
import type { Conversation } from './conversation.ts';
import { INSTRUCTIONS, SUMMARIZE_NOW, SUMMARIZER, summaryMessage } from './task.ts';
import { PHOTO, TASK_TOOLS } from './tools.ts';

export interface OpenAiAgentOptions {
  /** `http://host:port/ng-rollout/<attempt>`. */
  readonly base: string;
  readonly api: 'responses' | 'chat';
  readonly stream: boolean;
  readonly maxRetries?: number;
  /** A filter of the model's input clears all tool outputs but the newest. */
  readonly edits?: true;
  readonly photo?: true;
  readonly mustCall?: true;
}

/** The OpenAI Agents SDK for JavaScript, set up as its documentation says, with nothing but the base URL changed. */
export async function openAiAgents(packages: InstalledPackages) {
  const sdk = await import(packages.url('@openai/agents'));
  const { OpenAI } = await import(packages.url('openai'));
  const { z } = await import(packages.url('zod'));
  sdk.setTracingDisabled(true);

  const schema = { string: () => z.string(), number: () => z.number() };
  const tools = TASK_TOOLS.map(({ name, description, parameters, run }) =>
    sdk.tool({
      name,
      description,
      parameters: z.object(Object.fromEntries(Object.entries(parameters).map(([key, kind]) => [key, schema[kind]()]))),
      execute: run,
    }),
  );

  const photoTool = sdk.tool({
    name: PHOTO.name,
    description: PHOTO.description,
    parameters: z.object({}),
    execute: () => ({ type: 'image', image: { data: PHOTO.data, mediaType: PHOTO.mediaType } }),
  });

  const conversation = ({
    base,
    api,
    stream,
    edits,
    photo,
    mustCall,
    ...retries
  }: OpenAiAgentOptions): Conversation => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none', ...retries });
    const runOptions = edits ? { callModelInputFilter: clearOutputs } : {};
    const Model = api === 'responses' ? sdk.OpenAIResponsesModel : sdk.OpenAIChatCompletionsModel;
    const model = new Model(client, 'policy');
    const agent = new sdk.Agent({
      name: 'Task',
      instructions: INSTRUCTIONS,
      model,
      tools: photo ? [...tools, photoTool] : tools,
      ...(mustCall ? { modelSettings: { toolChoice: 'required' } } : {}),
    });
    return withSession(new sdk.MemorySession());

    /** One conversation, its history kept in the SDK's own session. */
    function withSession(session: Session): Conversation {
      return {
        ask: async (prompt) => {
          const result = await sdk.run(agent, prompt, { ...runOptions, session, stream });
          if (stream) {
            for await (const _ of result);
            await result.completed;
          }
          return result.finalOutput;
        },
        /** The items of the session are replaced by the summary that an agent without tools makes of them. */
        summarize: async () => {
          const writer = new sdk.Agent({ name: 'Summary', instructions: SUMMARIZER, model });
          const items = [...(await session.getItems()), { role: 'user', content: SUMMARIZE_NOW }];
          const { finalOutput } = await sdk.run(writer, items);
          await session.clearSession();
          await session.addItems([{ role: 'user', content: summaryMessage(finalOutput) }]);
        },
        fork: async () => withSession(new sdk.MemorySession({ initialItems: await session.getItems() })),
      };
    }
  };
  return { sdk, conversation };
}

interface Session {
  getItems(): Promise<unknown[]>;
  addItems(items: unknown[]): Promise<void>;
  clearSession(): Promise<void>;
}

interface ModelInput {
  readonly modelData: { readonly input: readonly { readonly type?: string }[]; readonly instructions?: string };
}

function clearOutputs({ modelData }: ModelInput) {
  const isOutput = ({ type }: { readonly type?: string }) => type === 'function_call_result';
  const newest = modelData.input.findLast(isOutput);
  const input = modelData.input.map((item) =>
    isOutput(item) && item !== newest ? { ...item, output: '[cleared]' } : item,
  );
  return { ...modelData, input };
}
