import type { Completion } from './completion.ts';
import { type EngineReply, engineError, lengthRefusal } from './engine-reply.ts';
import { applyPatch, type Fault } from './faults.ts';

/** The answer of a call that is not even looked at, or null if this fault lets it run. */
export function replyInstead(fault: Fault | null, maxModelLen: number): EngineReply | null {
  switch (fault?.kind) {
    case 'drop_before_answer':
      return { kind: 'drop' };
    case 'length_refusal':
      return lengthRefusal(fault.input_tokens ?? maxModelLen + 1, 0, maxModelLen);
    case 'status':
      return statusReply(fault);
    default:
      return null;
  }
}

function statusReply(fault: Extract<Fault, { kind: 'status' }>): EngineReply {
  const headers = {
    ...fault.headers,
    ...(fault.retry_after === undefined ? {} : { 'retry-after': String(fault.retry_after) }),
  };
  if (fault.body === undefined) return engineError(fault.status, `told to answer ${fault.status}`, { headers });
  return typeof fault.body === 'string'
    ? { kind: 'text', status: fault.status, body: fault.body, headers }
    : { kind: 'json', status: fault.status, body: fault.body, headers };
}

/** The coordinates as they go out under this fault; undefined: none do. */
export function tamperCoordinates(
  coordinates: Record<string, unknown>,
  fault: Fault | null,
): Record<string, unknown> | undefined {
  switch (fault?.kind) {
    case 'lose_acknowledgement':
      return undefined;
    case 'foreign_coordinates': {
      const owner = 'capture_key' in coordinates ? 'capture_key' : 'rollout_id';
      const set = {
        [owner]: 'somebody-else',
        model_call_id: 'f'.repeat(32),
        staging_key: `somebody-else/${'f'.repeat(32)}`,
      };
      return applyPatch(coordinates, { set });
    }
    case 'malformed_coordinates':
      return applyPatch(coordinates, { set: { prev_len: String(coordinates.prev_len) }, unset: ['digest_version'] });
    case 'diverging_lengths':
      return applyPatch(coordinates, { set: { cum_len: Number(coordinates.cum_len) + 1 } });
    case 'patch_coordinates':
      return applyPatch(coordinates, fault);
    default:
      return coordinates;
  }
}

/** The completion as it goes out under this fault. */
export function tamperCompletion(completion: Completion, fault: Fault | null): Record<string, unknown> {
  switch (fault?.kind) {
    case 'abort': {
      const choices = completion.choices.map((choice) => ({ ...choice, finish_reason: 'abort' }));
      return { ...completion, choices };
    }
    case 'missing_id':
      return applyPatch({ ...completion }, { unset: ['id'] });
    case 'no_choices':
      return { ...completion, choices: [] };
    case 'patch_completion':
      return applyPatch({ ...completion }, fault);
    default:
      return { ...completion };
  }
}

/** What becomes of the connection under this fault. */
export function tamperConnection(reply: EngineReply, fault: Fault | null): EngineReply {
  if (fault?.kind === 'stage_and_die') return { kind: 'drop' };
  if (fault?.kind === 'drop_mid_body') return { kind: 'drop_mid_body', reply };
  return reply;
}
