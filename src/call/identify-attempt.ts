import type { ServiceError } from '../errors.ts';
import { serviceError } from '../errors.ts';
import type { Dialect } from '../protocol/conversation.ts';
import { isJsonProblem, parseJsonText } from '../protocol/json/parse-json.ts';
import { ATTEMPT_PATTERN } from '../protocol/wire/primitives.ts';

/** Where a call belongs. `attempt` null: plain proxying, nothing is captured. */
export interface CallTarget {
  readonly attempt: string | null;
  /** `x-nemo-gym-capture-parent`: absent, null (a root without search), or a response id. */
  readonly namedParent: string | null | undefined;
}

export const PARENT_HEADER = 'x-nemo-gym-capture-parent';

/** Checks `<attempt>` of a URL (protocol section 2): the name, or the error to answer. */
export function checkAttempt(name: string): ServiceError | null {
  if (ATTEMPT_PATTERN.test(name)) return null;
  return serviceError(
    'invalid_attempt',
    'The attempt in the URL must be 1 to 256 ASCII letters, digits, ".", "_" or "-", and start with a letter or digit.',
    { param: 'attempt' },
  );
}

/** Reads attempt and parent header of a call (protocol section 2, "Agent side: URLs"). */
export function identifyAttempt(
  attempt: string | null,
  dialect: Dialect | 'measure',
  parentHeader: string | string[] | undefined,
): CallTarget | ServiceError {
  if (attempt !== null) {
    const problem = checkAttempt(attempt);
    if (problem !== null) return problem;
  }
  if (parentHeader === undefined) return { attempt, namedParent: undefined };
  const refuse = (message: string) =>
    serviceError('invalid_parent', `${PARENT_HEADER}: ${message}`, { param: PARENT_HEADER });
  if (attempt === null)
    return refuse('is only valid on a captured call. Remove the header or use a captured base URL.');
  if (dialect === 'messages') return refuse('is not supported on /v1/messages. Remove the header.');
  const node = parseJsonText(Array.isArray(parentHeader) ? parentHeader.join(', ') : parentHeader);
  if (isJsonProblem(node)) return refuse('must be JSON text: null, or the id of an earlier response in double quotes.');
  if (node.isNull()) return { attempt, namedParent: null };
  const responseId = node.string();
  if (responseId === undefined || responseId === '') return refuse('must be null or a non-empty JSON string.');
  return { attempt, namedParent: responseId };
}
