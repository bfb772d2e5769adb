import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { World } from '../harness/scenario.ts';
import { installPython } from '../python/environment.ts';

export interface ClientOptions {
  /** The client's own `timeout`, in milliseconds. */
  readonly timeoutMs?: number;
  readonly stream?: boolean;
}

/** A client library by itself: one request, and the text of its answer. */
export interface Client {
  readonly agent: string;
  readonly version: string;
  readonly dialect: string;
  ask(world: World, options: ClientOptions): Promise<string>;
}

const PROMPT = 'Say something.';
const MAX_TOKENS = 100;

/** The official clients that most agents are built on. */
export async function clients(): Promise<Client[]> {
  const python = await installPython();
  const npm = (name: string) => {
    const file = join(import.meta.dirname, '..', '..', '..', 'node_modules', name, 'package.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  };
  const openai = ({ base }: World, { timeoutMs }: ClientOptions) =>
    new OpenAI({ baseURL: `${base}/v1`, apiKey: 'none', ...timeout(timeoutMs) });
  return [
    {
      agent: 'openai-node',
      version: npm('openai'),
      dialect: 'Chat',
      async ask(world, options) {
        const body = { model: 'policy', messages: [{ role: 'user' as const, content: PROMPT }] };
        const { completions } = openai(world, options).chat;
        if (options.stream !== true) return (await completions.create(body)).choices[0]?.message.content ?? '';
        let text = '';
        for await (const { choices } of await completions.create({ ...body, stream: true }))
          text += choices[0]?.delta.content ?? '';
        return text;
      },
    },
    {
      agent: 'openai-node',
      version: npm('openai'),
      dialect: 'Responses',
      async ask(world, options) {
        const body = { model: 'policy', input: PROMPT };
        const { responses } = openai(world, options);
        if (options.stream !== true) return (await responses.create(body)).output_text;
        let text = '';
        for await (const event of await responses.create({ ...body, stream: true }))
          if (event.type === 'response.output_text.delta') text += event.delta;
        return text;
      },
    },
    {
      agent: 'anthropic-sdk-typescript',
      version: npm('@anthropic-ai/sdk'),
      dialect: 'Messages',
      async ask({ base }, { timeoutMs, stream }) {
        const client = new Anthropic({ baseURL: base, apiKey: 'none', ...timeout(timeoutMs) });
        const messages = [{ role: 'user' as const, content: PROMPT }];
        const body = { model: 'policy', max_tokens: MAX_TOKENS, messages };
        if (stream !== true) {
          const { content } = await client.messages.create(body);
          return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        }
        let text = '';
        for await (const event of await client.messages.create({ ...body, stream: true }))
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
        return text;
      },
    },
    {
      agent: 'openai-python',
      version: python.version('openai'),
      dialect: 'Chat',
      ask: (world, options) =>
        script(
          world,
          python.python,
          `import openai
client = openai.OpenAI(base_url="${world.base}/v1", api_key="none"${pythonTimeout(options)})
body = {"model": "policy", "messages": [{"role": "user", "content": "${PROMPT}"}]}
if ${pythonBool(options.stream)}:
    for chunk in client.chat.completions.create(stream=True, **body):
        print((chunk.choices[0].delta.content or "") if chunk.choices else "", end="")
else:
    print(client.chat.completions.create(**body).choices[0].message.content, end="")`,
        ),
    },
    {
      agent: 'anthropic-sdk-python',
      version: python.version('anthropic'),
      dialect: 'Messages',
      ask: (world, options) =>
        script(
          world,
          python.python,
          `import anthropic
client = anthropic.Anthropic(base_url="${world.base}", api_key="none"${pythonTimeout(options)})
body = {"model": "policy", "max_tokens": ${MAX_TOKENS}, "messages": [{"role": "user", "content": "${PROMPT}"}]}
if ${pythonBool(options.stream)}:
    for event in client.messages.create(stream=True, **body):
        print(event.delta.text if event.type == "content_block_delta" else "", end="")
else:
    print(client.messages.create(**body).content[0].text, end="")`,
        ),
    },
  ];
}

async function script(world: World, python: string, text: string): Promise<string> {
  const { code, stdout, stderr } = await world.exec(python, ['-c', text]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

function timeout(timeoutMs: number | undefined): { timeout?: number } {
  return timeoutMs === undefined ? {} : { timeout: timeoutMs };
}

function pythonTimeout({ timeoutMs }: ClientOptions): string {
  return timeoutMs === undefined ? '' : `, timeout=${timeoutMs / 1000}`;
}

function pythonBool(value: boolean | undefined): 'True' | 'False' {
  return value === true ? 'True' : 'False';
}
