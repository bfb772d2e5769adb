import type { Dialect, EngineMessage, RequestRefusal } from './conversation.ts';
import type { JsonNode } from './json/json-node.ts';

/** Refusals before inference (protocol section 2): 400, nothing recorded, the field named in the message and in `param`. */

/** A request that is malformed. The message should begin with the field's path. */
export function invalid(param: string | null, message: string): RequestRefusal {
  return { refused: true, code: 'invalid_request', message: param === null ? message : `${param}: ${message}`, param };
}

/** A request that is well-formed and asks for something that is not supported here. */
export function unsupported(param: string, message: string, details?: object): RequestRefusal {
  return { refused: true, code: 'unsupported_field', message: `${param}: ${message}`, param, details };
}

/** `messages: expected an array, got a string`. */
export function wrongType(param: string, expected: string, got: JsonNode | undefined): RequestRefusal {
  return invalid(param, `expected ${expected}, got ${kindName(got)}`);
}

/** What a value is, for a message. */
export function kindName(node: JsonNode | undefined): string {
  if (node === undefined) return 'nothing';
  switch (node.kind) {
    case 'object':
      return 'an object';
    case 'array':
      return 'an array';
    case 'string':
      return 'a string';
    case 'number':
      return 'a number';
    case 'true':
    case 'false':
      return 'a boolean';
    case 'null':
      return 'null';
    case 'skipped':
      return 'something else';
    default: {
      const never: never = node.kind;
      return never;
    }
  }
}

export interface RefusalScope {
  readonly dialect: Dialect;
  readonly captured: boolean;
  readonly allowChatTemplate: boolean;
}

const KEEPS_NO_STATE = 'not supported: this proxy keeps no conversation; send the full history in every request';

/**
 * The fields that section 2 refuses, in any dialect: those that need a stored conversation on every path; under capture also those that change
 * which tokens are the prompt or how many answers there are. Null and the default value are not a use. Null if nothing is refused.
 */
export function sharedRefusal(body: JsonNode, scope: RefusalScope): RequestRefusal | null {
  for (const name of ['previous_response_id', 'conversation'])
    if (body.present(name) !== undefined) return unsupported(name, KEEPS_NO_STATE);

  const background = flag(body, 'background');
  if (background !== null && typeof background !== 'boolean') return background;
  if (background === true) return unsupported('background', 'not supported: answers are not stored');

  const sampling = engineRefusal(body);
  if (sampling !== null) return sampling;
  if (body.present('chat_template') !== undefined && !scope.allowChatTemplate)
    return unsupported(
      'chat_template',
      'not accepted from agents by this proxy; remove it, or have the operator allow it',
    );

  const kwargs = templateKwargsRefusal(body.present('chat_template_kwargs'), scope);
  if (kwargs !== null) return kwargs;
  const n = body.present('n');
  if (n !== undefined && (scope.captured || scope.dialect === 'responses') && n.number() !== 1)
    return n.number() === undefined
      ? wrongType('n', 'a number', n)
      : unsupported('n', scope.captured ? 'only 1 is supported while calls are captured' : 'only 1 is supported');
  return scope.captured ? capturedRefusal(body) : null;
}

/** What an engine could do, but this proxy never lets it. */
function engineRefusal(body: JsonNode): RequestRefusal | null {
  const bestOf = body.present('best_of');
  if (bestOf !== undefined && bestOf.number() !== 1) return unsupported('best_of', 'only 1 is supported');
  const processors = body.present('logits_processors');
  if (processors !== undefined && !(processors.isArray() && processors.elements().length === 0))
    return unsupported('logits_processors', 'not accepted from agents: it names code that the engine would run');
  if (body.present('vllm_xargs')?.present('kv_transfer_params') !== undefined)
    return unsupported('vllm_xargs.kv_transfer_params', 'not accepted from agents');
  return null;
}

/** Some engines let these variables of a template override the fields of the same name, so they must not say what those must not. */
function templateKwargsRefusal(kwargs: JsonNode | undefined, scope: RefusalScope): RequestRefusal | null {
  const path = 'chat_template_kwargs';
  if (kwargs?.present('chat_template') !== undefined && !scope.allowChatTemplate)
    return unsupported(`${path}.chat_template`, 'not accepted from agents by this proxy');
  if (!scope.captured || kwargs === undefined) return null;
  const why = 'is not supported while calls are captured';
  if (
    kwargs.present('continue_final_message') !== undefined &&
    kwargs.get('continue_final_message')?.boolean() !== false
  )
    return unsupported(`${path}.continue_final_message`, `anything but false ${why}`);
  if (kwargs.present('add_generation_prompt') !== undefined && kwargs.get('add_generation_prompt')?.boolean() !== true)
    return unsupported(`${path}.add_generation_prompt`, `anything but true ${why}`);
  return null;
}

function capturedRefusal(body: JsonNode): RequestRefusal | null {
  const why = 'is not supported while calls are captured';
  if (body.present('truncate_prompt_tokens') !== undefined)
    return unsupported('truncate_prompt_tokens', `${why}: a prompt that was cut cannot be continued`);
  const truncation = body.present('truncation');
  if (truncation !== undefined && truncation.string() !== 'disabled')
    return truncation.string() === 'auto'
      ? unsupported('truncation', `"auto" ${why}: a prompt that was cut cannot be continued`)
      : invalid('truncation', 'expected "auto" or "disabled"');

  const continueFinal = flag(body, 'continue_final_message');
  if (continueFinal !== null && typeof continueFinal !== 'boolean') return continueFinal;
  if (continueFinal === true) return unsupported('continue_final_message', `true ${why}`);
  const addPrompt = flag(body, 'add_generation_prompt');
  if (addPrompt !== null && typeof addPrompt !== 'boolean') return addPrompt;
  if (addPrompt === false) return unsupported('add_generation_prompt', `false ${why}`);
  const echo = flag(body, 'echo');
  if (echo !== null && typeof echo !== 'boolean') return echo;
  if (echo === true) return unsupported('echo', `true ${why}`);
  return logprobsRefusal(body, why);
}

function logprobsRefusal(body: JsonNode, why: string): RequestRefusal | null {
  const logprobs = flag(body, 'logprobs');
  if (logprobs !== null && typeof logprobs !== 'boolean') return logprobs;
  if (logprobs === true) return unsupported('logprobs', `asking for log probabilities ${why}`);
  const top = body.present('top_logprobs');
  if (top !== undefined) {
    const count = top.number();
    if (count === undefined) return wrongType('top_logprobs', 'a number', top);
    if (count !== 0) return unsupported('top_logprobs', `asking for log probabilities ${why}`);
  }
  for (const wanted of body.present('include')?.elements() ?? [])
    if (wanted.string() === 'message.output_text.logprobs')
      return unsupported('include', `message.output_text.logprobs: asking for log probabilities ${why}`);
  return null;
}

/** A boolean member; null where it is absent or null; a refusal where it is something else. */
export function flag(body: JsonNode, name: string): boolean | null | RequestRefusal {
  const node = body.present(name);
  if (node === undefined) return null;
  return node.boolean() ?? wrongType(name, 'a boolean', node);
}

/** A choice of a tool that the request does not have. */
export function notAmongTools(name: string): RequestRefusal {
  return invalid('tool_choice', `names ${JSON.stringify(name)}, which is not among the tools`);
}

/** The `type` of a part, a tool or a call. Null is none, as where it is absent; no engine takes null for one. */
export function saidType(node: JsonNode, path: string): { readonly type: string | undefined } | RequestRefusal {
  const type = node.present('type');
  if (type === undefined || type.isString()) return { type: type?.string() };
  return wrongType(`${path}.type`, 'a string', type);
}

/** Assistant prefill: under capture a history must not end in an assistant turn. `param` is the dialect's list of messages. */
export function prefillRefusal(messages: readonly EngineMessage[], param: string): RequestRefusal | null {
  if (messages.at(-1)?.role !== 'assistant') return null;
  return unsupported(
    param,
    'a history that ends in an assistant turn (prefill) is not supported while calls are captured; end it with a user or tool message',
  );
}
