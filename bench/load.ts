import { Agent, request as httpRequest } from 'node:http';

/** Load like rollouts make it: each client runs one rollout after the other, each turn sends the whole history and the answer of the turn before. */
export interface LoadOptions {
  /** Base URL, without a path. */
  readonly url: string;
  readonly mode: LoadMode;
  /** False: the plain path, with the same bodies. */
  readonly captured: boolean;
  readonly clients: number;
  readonly calls: number;
  readonly turns: number;
  /** Bytes that each turn adds to the history beside the answer. */
  readonly turnBytes: number;
}

export type LoadMode = 'chat' | 'chat-stream' | 'responses' | 'responses-stream' | 'messages' | 'messages-stream';

export interface LoadResult {
  readonly calls: number;
  readonly seconds: number;
  readonly callsPerSecond: number;
  /** Request bytes per call, on average. */
  readonly bodyBytes: number;
}

const PATHS: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};

let rollouts = 0;
const run = Date.now().toString(36);

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients });
  let left = options.calls;
  let bytes = 0;
  const startedMs = performance.now();
  const client = async () => {
    while (left > 0) {
      const attempt = `bench-${run}-${rollouts++}`;
      const rollout = history(options);
      for (let turn = 0; turn < options.turns && left > 0; turn++) {
        left--;
        const body = rollout.next();
        bytes += body.length;
        const path = PATHS[options.mode.replace('-stream', '')] as string;
        const answer = await post(
          agent,
          options.url + (options.captured ? `/ng-rollout/${attempt}${path}` : path),
          body,
        );
        rollout.answered(answer);
      }
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  const seconds = (performance.now() - startedMs) / 1000;
  agent.destroy();
  return {
    calls: options.calls,
    seconds,
    callsPerSecond: options.calls / seconds,
    bodyBytes: Math.round(bytes / options.calls),
  };
}

function post(agent: Agent, url: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', 'content-length': body.length } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${response.statusCode}: ${text.slice(0, 300)}`));
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const TOOLS = Array.from({ length: 6 }, (_, at) => ({
  name: `tool_${at}`,
  description:
    `Tool ${at} of the bench: it reads, writes or runs something in the sandbox and gives back what it said. `.repeat(
      2,
    ),
  schema: {
    type: 'object',
    properties: { path: { type: 'string', description: 'where' }, lines: { type: 'integer', minimum: 1 } },
    required: ['path'],
  },
}));

/** The growing body of one rollout, as text that is appended to. */
function history(options: LoadOptions) {
  const filler = 'The quick brown fox "jumps" over the lazy dog;\nline after line of tool output, as agents see it. ';
  const turnText = filler.repeat(Math.ceil(options.turnBytes / filler.length)).slice(0, options.turnBytes);
  const dialect = options.mode.replace('-stream', '');
  const stream = options.mode.endsWith('-stream');
  const user = (turn: number) => JSON.stringify({ role: 'user', content: `turn ${turn}: ${turnText}` });
  const items: string[] = [user(0)];
  let turn = 0;
  const tools = JSON.stringify(
    TOOLS.map(({ name, description, schema }) =>
      dialect === 'chat'
        ? { type: 'function', function: { name, description, parameters: schema } }
        : dialect === 'responses'
          ? { type: 'function', name, description, parameters: schema, strict: false }
          : { name, description, input_schema: schema },
    ),
  );
  const head = `{"model":"policy",${dialect === 'messages' ? '"max_tokens":4096,' : ''}"stream":${stream},"tools":${tools},"${dialect === 'responses' ? 'input' : 'messages'}":[`;
  return {
    next: () => Buffer.from(`${head}${items.join(',')}]}`),
    answered(text: string) {
      const said = /answer\d+(?: word)*/.exec(stream ? streamedText(text) : text)?.[0] ?? 'nothing';
      items.push(JSON.stringify({ role: 'assistant', content: said }), user(++turn));
    },
  };
}

/** The text of an event stream, its pieces joined: a history that repeats less than all of it continues nothing. */
function streamedText(events: string): string {
  let said = '';
  for (const [, data] of events.matchAll(/^data: (\{.*\})$/gm)) {
    const event = JSON.parse(data as string) as StreamedEvent;
    if (typeof event.delta === 'string') said += event.delta;
    else said += event.delta?.text ?? event.choices?.[0]?.delta.content ?? '';
  }
  return said;
}

/** What holds a piece of text: a Responses event, a Messages event, a Chat chunk. */
interface StreamedEvent {
  readonly delta?: string | { readonly text?: string };
  readonly choices?: readonly { readonly delta: { readonly content?: string | null } }[];
}
