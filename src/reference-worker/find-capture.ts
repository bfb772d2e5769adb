import { type Admission, type AdmissionSpelling, readAdmission } from './admission.ts';
import type { ChatBody, PromptBody } from './chat-body.ts';

export type FoundCapture =
  | { readonly kind: 'plain' }
  | { readonly kind: 'captured'; readonly admission: Admission; readonly place: 'top' | 'offload_params' }
  | { readonly kind: 'invalid'; readonly message: string };

export interface FindCaptureOptions extends AdmissionSpelling {
  /** A worker looks in its own place only (protocol section 13, Megatron), `auto` in both. */
  readonly kind: 'auto' | 'vllm' | 'megatron';
}

/** Finds and reads the admission of a body. Without one, or with null, the call is plain. */
export function findCapture(body: PromptBody, options: FindCaptureOptions): FoundCapture {
  const top = options.kind === 'megatron' ? undefined : body.ng_capture;
  const offloaded = options.kind === 'vllm' ? undefined : body.offload_params?.ng_capture;
  if (top != null && offloaded != null) {
    return { kind: 'invalid', message: 'ng_capture stands at the top and in offload_params' };
  }
  const value = top ?? offloaded;
  if (value == null) return { kind: 'plain' };
  const outcome = readAdmission(value, options);
  if (outcome.kind === 'invalid') return outcome;
  return { kind: 'captured', admission: outcome.admission, place: top != null ? 'top' : 'offload_params' };
}

/** What must go along with a captured call (protocol sections 2, 4, 13); the message names what is wrong, null if nothing is. */
export function findCaptureConflict(
  body: ChatBody,
  { admission, place }: { admission: Admission; place: 'top' | 'offload_params' },
): string | null {
  if (body.stream === true) return 'a captured call must not stream';
  if ((body.n ?? 1) !== 1) return 'a captured call must have n 1';
  if (body.add_generation_prompt === false) return 'a captured call needs a generation prompt';
  if (body.continue_final_message === true) return 'a captured call must not continue the final message';
  if (body.logprobs !== true) return 'a captured call needs logprobs: true';
  if ((body.top_logprobs ?? 0) !== 0) return 'a captured call needs top_logprobs: 0';
  if (place === 'top' && body.return_tokens_as_token_ids !== true) {
    return 'a captured call needs return_tokens_as_token_ids: true';
  }
  if (place === 'offload_params' && body.return_tokens_as_token_ids != null) {
    return 'return_tokens_as_token_ids is unknown to this engine';
  }
  const prefix = body.required_prefix_token_ids;
  if (prefix != null && prefix.length > 0)
    return 'required_prefix_token_ids must be empty: the prefix comes from the staging chain';
  if (admission.mode === 'token_in' && prefix == null) return 'mode token_in needs required_prefix_token_ids: []';
  if (admission.schemaVersion === 3 && prefix != null) return 'required_prefix_token_ids has no place beside schema 3';
  return null;
}
