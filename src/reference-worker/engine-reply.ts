/** What goes back over the connection: an answer, or a misbehaviour of the connection itself. */
export type EngineReply =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A body that is sent as it is, whatever it holds. */
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'stream'; readonly events: readonly string[] }
  /** The connection is closed without an answer. */
  | { readonly kind: 'drop' }
  /** A head, half of the body, and the end of the connection. */
  | { readonly kind: 'drop_mid_body'; readonly reply: EngineReply };

const ERROR_TYPES = new Map([
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [404, 'NotFoundError'],
  [429, 'RateLimitError'],
  [503, 'ServiceUnavailableError'],
]);

/** An error in the engine's own shape: OpenAI's object with an integer code. */
export function engineError(
  status: number,
  message: string,
  options: { type?: string; param?: string | null; headers?: Readonly<Record<string, string>> } = {},
): EngineReply {
  const fallback = status < 500 ? 'BadRequestError' : 'InternalServerError';
  const type = options.type ?? ERROR_TYPES.get(status) ?? fallback;
  return {
    kind: 'json',
    status,
    body: { error: { message, type, param: options.param ?? null, code: status } },
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  };
}

/** The refusal before generation of a prompt that is too long (protocol section 5). */
export function lengthRefusal(inputTokens: number, outputTokens: number, maxModelLen: number): EngineReply {
  const output = outputTokens > 0 ? ` and asks for ${outputTokens} output tokens` : '';
  const message = `The maximum context length of this model is ${maxModelLen} tokens, but the request has ${inputTokens} input tokens${output}.`;
  return engineError(400, message, { type: 'invalid_request_error', param: 'input_tokens' });
}
