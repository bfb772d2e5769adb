import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buildStagedRecord } from './build-staged-record.ts';
import type { WorkerContext } from './context.ts';
import { stagedCoordinates, type WireCoordinates } from './coordinates.ts';
import { hasApiKey } from './http/request.ts';
import { type InstantAdmission, pullCapture } from './instant-admission.ts';
import type { InstantOptions } from './options.ts';
import { FIRST_TEXT_TOKEN, VOCABULARY_SIZE } from './tokenizer.ts';

/** How many different tokens mark the number of a call. */
const NUMBERED_TOKENS = VOCABULARY_SIZE - FIRST_TEXT_TOKEN;

/**
 * The instant worker for benchmarks: every chat completion is answered at once, with true coordinates over made-up tokens. It looks at nothing of the body
 * but `ng_capture` and believes the proposal; it does not decide, tokenize, log or misbehave. Streaming is not spoken. Returns a listener that takes the
 * chat completions and leaves the rest.
 */
export function createInstantHandler(
  worker: WorkerContext,
  options: InstantOptions,
): (...call: Parameters<RequestListener>) => boolean {
  const promptTokens = options.promptTokens ?? 16;
  const generatedTokens = options.generatedTokens ?? 64;
  if (promptTokens < 1 || generatedTokens < 1)
    throw new RangeError('an instant call has at least 1 token of each kind');
  const templates = answerTemplates(worker, generatedTokens);
  // The same lists in every record: the lengths never change.
  const masks = [...new Array<number>(promptTokens).fill(0), ...new Array<number>(generatedTokens).fill(1)];
  const logprobs = masks.map((mask) => (mask === 1 ? worker.settings.logprob : 0));
  let calls = 0;

  const stage = (admission: InstantAdmission, call: number): WireCoordinates | null => {
    const { records, missing } = worker.queue.batch(admission.stagingChain);
    if (missing.length > 0) return null;
    const tokens: number[] = [];
    for (const record of records) for (const token of record.token_ids_delta) tokens.push(token);
    const delta = deltaTokens(call, promptTokens, generatedTokens);
    for (const token of delta) tokens.push(token);
    const record = buildStagedRecord({
      ...admission,
      weightVersion: worker.weightVersion,
      tokens,
      delta,
      masks,
      logprobs,
      extras: null,
    });
    return worker.queue.put(record) ? stagedCoordinates(admission.ownerKey, record) : null;
  };

  const answer = (body: Buffer): { status: number; text: string } => {
    const call = calls++;
    const admission = pullCapture(body);
    if (admission === 'invalid') return { status: 400, text: errorText(400, 'ng_capture is not valid') };
    const coordinates = admission === null ? null : stage(admission, call);
    if (admission !== null && coordinates === null) {
      return {
        status: 500,
        text: errorText(500, 'the staging chain has keys without tokens, or the call is staged already'),
      };
    }
    return { status: 200, text: templates(call, promptTokens + (admission?.prevLen ?? 0), coordinates) };
  };

  return (request, response) => {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') return false;
    if (!hasApiKey(worker.settings.apiKey, request.headers.authorization)) {
      send(response, 401, errorText(401, 'the API key is missing or wrong'));
      return true;
    }
    readBody(request, (body) => {
      const { status, text } = answer(body);
      const { latencyMs } = worker.settings;
      if (latencyMs === 0) send(response, status, text);
      else setTimeout(send, latencyMs, response, status, text);
    });
    return true;
  };
}

function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A request that breaks off has nobody left to answer.
  request.on('error', () => request.destroy());
  request.on('end', () => done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
}

/** `text` must be ASCII: its length is the length of the body. */
function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length });
  response.end(text, 'latin1');
}

function errorText(code: number, message: string): string {
  return JSON.stringify({ error: { message, type: 'BadRequestError', param: null, code } });
}

/** Tokens that tell calls apart by the first of the prompt and the first that is generated. */
function deltaTokens(call: number, promptTokens: number, generatedTokens: number): number[] {
  const delta = new Array<number>(promptTokens + generatedTokens);
  for (let at = 0; at < promptTokens; at++) delta[at] = FIRST_TEXT_TOKEN + at;
  for (let at = 0; at < generatedTokens; at++) delta[promptTokens + at] = FIRST_TEXT_TOKEN + at;
  delta[0] = numbered(call);
  delta[promptTokens] = numbered(call);
  return delta;
}

function numbered(call: number): number {
  return FIRST_TEXT_TOKEN + (call % NUMBERED_TOKENS);
}

/** Writes a completion by joining texts: everything that is the same in every answer is written once. */
function answerTemplates(worker: WorkerContext, generatedTokens: number) {
  const { settings } = worker;
  const model = asciiJson(settings.models[0] ?? 'policy');
  const logprob = (id: number) => {
    const token = `token_id:${id}`;
    return JSON.stringify({ token, logprob: settings.logprob, bytes: [...Buffer.from(token)], top_logprobs: [] });
  };
  const laterLogprobs = Array.from(
    { length: generatedTokens - 1 },
    (_, at) => `,${logprob(FIRST_TEXT_TOKEN + at + 1)}`,
  ).join('');
  const filler = ' word'.repeat(generatedTokens - 1);
  return (call: number, promptLength: number, coordinates: WireCoordinates | null): string => {
    const usage = {
      prompt_tokens: promptLength,
      completion_tokens: generatedTokens,
      total_tokens: promptLength + generatedTokens,
      prompt_tokens_details: null,
    };
    return (
      `{"id":"chatcmpl-${settings.newId()}","object":"chat.completion","created":${Math.floor(settings.nowS())},"model":${model},` +
      `"choices":[{"index":0,"message":{"role":"assistant","content":"answer${call}${filler}","refusal":null,"annotations":null,` +
      '"audio":null,"function_call":null,"tool_calls":[],"reasoning":null},' +
      `"logprobs":{"content":[${logprob(numbered(call))}${laterLogprobs}]},"finish_reason":"stop","stop_reason":null,"token_ids":null}],` +
      `"service_tier":null,"system_fingerprint":null,"usage":${JSON.stringify(usage)},"prompt_logprobs":null,"prompt_token_ids":null,` +
      `"kv_transfer_params":null${coordinates === null ? '' : `,"ng_commit_coords":${asciiJson(coordinates)}`}}`
    );
  };
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
