import { callFacts } from './call-facts.ts';
import { parseTokenizeBody } from './chat-body.ts';
import type { Answered } from './complete-chat.ts';
import type { WorkerContext } from './context.ts';
import { engineError } from './engine-reply.ts';
import { findCapture } from './find-capture.ts';
import { preparePrompt } from './prepare-prompt.ts';
import { replyInstead, tamperConnection } from './tamper.ts';

/**
 * `POST /tokenize`. With `ng_capture` the exact prompt of a would-be call is measured and only its length is told (protocol section 9); without, it is the
 * engine's ordinary tokenization of a prompt or of messages. Nothing is stored, and no length is refused.
 */
export async function measure(worker: WorkerContext, raw: Buffer): Promise<Answered> {
  const parsed = parseTokenizeBody(raw);
  if (!parsed.ok) {
    const reply = engineError(400, parsed.message, { param: parsed.param });
    return { reply, event: 'refused', details: { status: 400, detail: parsed.message } };
  }
  if (parsed.value.kind === 'prompt') return tokenization(worker, worker.tokenizer.encode(parsed.value.prompt));
  const { body } = parsed.value;

  const capture = findCapture(body, worker.settings);
  if (capture.kind === 'invalid') {
    const reply = engineError(400, capture.message, { param: 'ng_capture' });
    return { reply, event: 'refused', details: { status: 400, detail: capture.message } };
  }
  const admission = capture.kind === 'captured' ? capture.admission : null;
  const facts = callFacts(worker, 'tokenize', body, admission);
  const ids = { capture_key: facts.attempt, model_call_id: facts.modelCallId };
  const fault = worker.faults.take(facts);
  if (fault !== null) worker.log.add('fault', { ...ids, detail: fault.kind });
  await worker.pause(fault, 'admission', facts);
  await worker.pause(fault, 'answer', facts);
  const instead = replyInstead(fault, worker.settings.maxModelLen);
  if (instead !== null) return { reply: instead, event: 'refused', details: { ...ids, detail: fault?.kind ?? null } };

  if (admission === null || fault?.kind === 'not_measured') {
    return tokenization(worker, worker.renderer.render(body, body.add_generation_prompt !== false).tokens);
  }
  const { renderer, queue, settings } = worker;
  const prepared = preparePrompt(body, admission, {
    renderer,
    queue,
    allowEmptyToolContent: settings.allowEmptyToolContent,
    rootInstead: fault?.kind === 'root_instead',
  });
  if (prepared.kind === 'error') {
    const reply = engineError(500, prepared.message);
    return { reply, event: 'failed', details: { ...ids, status: 500, detail: prepared.message } };
  }
  const reply = {
    prompt_token_count: prepared.prompt.length,
    ng_context_measured: true,
    ...(settings.leakTokens ? { tokens: prepared.prompt, count: prepared.prompt.length } : {}),
  };
  return {
    reply: tamperConnection({ kind: 'json', status: 200, body: reply }, fault),
    event: 'measured',
    details: { ...ids, parent_call_id: prepared.parentCallId, prev_len: prepared.prevLen, status: 200 },
  };
}

function tokenization(worker: WorkerContext, tokens: readonly number[]): Answered {
  const body = {
    count: tokens.length,
    max_model_len: worker.settings.maxModelLen,
    tokens,
    token_strs: null,
  };
  return { reply: { kind: 'json', status: 200, body }, event: 'plain', details: { status: 200 } };
}
