import type { Context } from '../context.ts';
import type { AgentChannel } from './agent-channel.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What ends an uncaptured request early. Nothing of it is recorded, so nobody waits for its answer but its agent. */
export interface PlainLimits {
  /** Aborted once the time is up or the agent went away. */
  readonly signal: AbortSignal;
  /** Aborted once `deadlines.call_s` is over: the agent gets 504. */
  readonly deadline: AbortSignal;
}

/** Starts the time of an uncaptured request; without a channel only the time ends it. */
export function plainLimits(ctx: Context, channel?: AgentChannel): PlainLimits {
  const deadline = AbortSignal.timeout(Math.min(ctx.config.deadlines.call_s * 1000, LONGEST_TIMER_MS));
  if (channel === undefined) return { signal: deadline, deadline };
  const gone = new AbortController();
  channel.whenGone(() => gone.abort());
  return { signal: AbortSignal.any([deadline, gone.signal]), deadline };
}
