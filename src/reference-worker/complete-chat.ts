import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission } from './admission.ts';
import { callFacts } from './call-facts.ts';
import { type ChatBody, parseChatBody } from './chat-body.ts';
import { buildCompletion, type Completion } from './completion.ts';
import { completionEvents } from './completion-stream.ts';
import type { WorkerContext } from './context.ts';
import { type EngineReply, engineError, lengthRefusal } from './engine-reply.ts';
import type { Fault } from './faults.ts';
import { findCapture, findCaptureConflict } from './find-capture.ts';
import { type Generation, generate } from './generate.ts';
import type { CallFacts } from './match.ts';
import type { ModelAnswer } from './model.ts';
import { preparePrompt } from './prepare-prompt.ts';
import { stageCall } from './stage-call.ts';
import { replyInstead, tamperCompletion, tamperConnection, tamperCoordinates } from './tamper.ts';
import type { WorkerEventDetails, WorkerEventName } from './worker-log.ts';

/** An answer, and the line of the log that belongs to handing it over. */
export interface Answered {
  readonly reply: EngineReply;
  readonly event: WorkerEventName;
  readonly details: WorkerEventDetails;
}

export interface IncomingCall {
  readonly body: Buffer;
  /** `X-Request-Id`, which an engine takes for its completion id. */
  readonly requestId: string | null;
}

/**
 * `POST /v1/chat/completions`: read, admit, decide and restore, check the length, generate, stage, acknowledge (protocol section 5), and wherever a fault
 * was armed for this call, misbehave.
 */
export async function completeChat(worker: WorkerContext, incoming: IncomingCall): Promise<Answered> {
  const parsed = parseChatBody(incoming.body);
  if (!parsed.ok) return refused(engineError(400, parsed.message, { param: parsed.param }), {}, parsed.message);
  const body = parsed.value;
  const capture = findCapture(body, worker.settings);
  if (capture.kind === 'invalid')
    return refused(engineError(400, capture.message, { param: 'ng_capture' }), {}, capture.message);

  const admission = capture.kind === 'captured' ? capture.admission : null;
  const facts = callFacts(worker, 'chat', body, admission);
  const ids = { capture_key: facts.attempt, model_call_id: facts.modelCallId };
  const fault = worker.faults.take(facts);
  if (fault !== null) worker.log.add('fault', { ...ids, detail: fault.kind });

  await worker.pause(fault, 'admission', facts);
  const answered =
    instead(fault, worker, ids) ??
    (capture.kind === 'captured'
      ? await captured({ worker, body, facts, fault, incoming }, capture)
      : await plain({ worker, body, facts, fault, incoming }));
  await worker.pause(fault, 'answer', facts);
  return { ...answered, reply: tamperConnection(answered.reply, fault) };
}

interface Call {
  readonly worker: WorkerContext;
  readonly body: ChatBody;
  readonly facts: CallFacts;
  readonly fault: Fault | null;
  readonly incoming: IncomingCall;
}

function instead(fault: Fault | null, worker: WorkerContext, ids: WorkerEventDetails): Answered | null {
  const reply = replyInstead(fault, worker.settings.maxModelLen);
  return reply === null ? null : refused(reply, ids, fault?.kind ?? null);
}

async function captured(
  call: Call,
  capture: { readonly admission: Admission; readonly place: 'top' | 'offload_params' },
): Promise<Answered> {
  const { worker, body, fault } = call;
  const { admission } = capture;
  const ids = { capture_key: admission.owner, model_call_id: admission.modelCallId };
  const conflict = findCaptureConflict(body, capture);
  if (conflict !== null) return refused(engineError(400, conflict), ids, conflict);
  const weightVersion = worker.weightVersion;
  worker.log.add('admitted', {
    ...ids,
    parent_call_id: admission.parentCallId,
    prev_len: admission.prevLen,
    weight_version: weightVersion,
  });

  const { renderer, queue, settings } = worker;
  const prepared = preparePrompt(body, admission, {
    renderer,
    queue,
    allowEmptyToolContent: settings.allowEmptyToolContent,
    rootInstead: fault?.kind === 'root_instead',
  });
  if (prepared.kind === 'error') return failed(engineError(500, prepared.message), ids, prepared.message);
  const room = outputRoom(body, prepared.prompt.length, settings.maxModelLen);
  if (room.kind === 'too_long') return refused(room.reply, ids, 'maximum context length');

  const { answer, generation } = await run(call, room.maxTokens);
  const staged = stageCall(worker.queue, {
    admission,
    prepared,
    generated: generation.tokens.map(({ id }) => id),
    logprob: answer.logprob ?? settings.logprob,
    weightVersion,
    storingFails: fault?.kind === 'capture_failed',
  });
  const stored = {
    ...ids,
    parent_call_id: prepared.parentCallId,
    prev_len: prepared.prevLen,
    delta_len: staged.coordinates.delta_len,
    cum_len: staged.coordinates.cum_len,
    weight_version: weightVersion,
  };
  if (staged.kind === 'staged') worker.log.add('staged', { ...stored, detail: prepared.warning });

  const completion = complete(call, answer, [generation], prepared.prompt, prepared.prevLen);
  const coordinates = tamperCoordinates({ ...staged.coordinates }, fault);
  const reply: EngineReply = {
    kind: 'json',
    status: 200,
    body: {
      ...tamperCompletion(completion, fault),
      ...(coordinates === undefined ? {} : { ng_commit_coords: coordinates }),
    },
  };
  if (staged.kind === 'capture_failed') return { reply, event: 'failed', details: { ...stored, detail: staged.why } };
  const kept = JSON.stringify(coordinates) === JSON.stringify(staged.coordinates);
  const dies = fault?.kind === 'stage_and_die' || fault?.kind === 'drop_mid_body';
  if (!kept || dies) return { reply, event: 'failed', details: { ...stored, detail: fault?.kind ?? null } };
  return { reply, event: 'acknowledged', details: { ...stored, status: 200 } };
}

async function plain(call: Call): Promise<Answered> {
  const { worker, body, fault } = call;
  const prompt = worker.renderer.render(body, body.add_generation_prompt !== false).tokens;
  const room = outputRoom(body, prompt.length, worker.settings.maxModelLen);
  if (room.kind === 'too_long') return refused(room.reply, {}, 'maximum context length');
  const { answer, generation } = await run(call, room.maxTokens);
  const choices = new Array<Generation>(body.n ?? 1).fill(generation);
  const completion = complete(call, answer, choices, prompt, 0);
  if (body.stream === true) {
    const events = completionEvents(completion, body.stream_options?.include_usage === true);
    return { reply: { kind: 'stream', events }, event: 'plain', details: { status: 200 } };
  }
  const reply: EngineReply = { kind: 'json', status: 200, body: tamperCompletion(completion, fault) };
  return { reply, event: 'plain', details: { status: 200 } };
}

/** How much may be generated; an engine refuses a prompt that leaves no room, or not the room that was asked for. */
function outputRoom(
  body: ChatBody,
  promptTokens: number,
  maxModelLen: number,
): { readonly kind: 'fits'; readonly maxTokens: number } | { readonly kind: 'too_long'; readonly reply: EngineReply } {
  const asked = body.max_completion_tokens ?? body.max_tokens ?? null;
  if (promptTokens + (asked ?? 1) > maxModelLen) {
    return { kind: 'too_long', reply: lengthRefusal(promptTokens, asked ?? 0, maxModelLen) };
  }
  return { kind: 'fits', maxTokens: asked ?? maxModelLen - promptTokens };
}

async function run(call: Call, maxTokens: number): Promise<{ answer: ModelAnswer; generation: Generation }> {
  const { worker, facts, body } = call;
  const answer = worker.model.answer(facts, body.messages);
  const delayMs = worker.settings.latencyMs + answer.delayMs;
  if (delayMs > 0) await sleep(delayMs);
  const template = worker.renderer.eos !== null;
  return { answer, generation: generate(answer, worker.tokenizer, { template, maxTokens }) };
}

function complete(
  { worker, body, incoming }: Call,
  answer: ModelAnswer,
  generations: readonly Generation[],
  prompt: readonly number[],
  cachedTokens: number,
): Completion {
  const { settings } = worker;
  const logprobs = body.return_tokens_as_token_ids === true ? 'token_ids' : 'texts';
  return buildCompletion({
    id: answer.completionId ?? `chatcmpl-${body.request_id ?? incoming.requestId ?? settings.newId()}`,
    createdS: Math.floor(settings.nowS()),
    model: body.model ?? settings.models[0] ?? 'policy',
    generations,
    prompt,
    cachedTokens,
    usage: answer.usage,
    logprobs: body.logprobs === true ? logprobs : 'none',
    logprob: answer.logprob ?? settings.logprob,
    reasoningKey: settings.reasoningKey,
    leakTokens: settings.leakTokens,
    newToolCallId: () => `chatcmpl-tool-${settings.newId()}`,
  });
}

function refused(reply: EngineReply, ids: WorkerEventDetails, detail: string | null): Answered {
  return { reply, event: 'refused', details: { ...ids, status: 'status' in reply ? reply.status : null, detail } };
}

function failed(reply: EngineReply, ids: WorkerEventDetails, detail: string): Answered {
  return { reply, event: 'failed', details: { ...ids, status: 500, detail } };
}
