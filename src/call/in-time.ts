import type { Context } from '../context.ts';
import { serviceError } from '../errors.ts';
import type { CallResult, FailedCall } from './running-calls.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for a call until the deadline of who waits (`deadlines.call_s`). After it the agent gets 504, once `onDeadline` is done; the call itself is listened to until
 * it ends (protocol section 1).
 */
export async function inTime<T extends CallResult>(
  ctx: Context,
  settled: Promise<T>,
  onDeadline: () => Promise<void>,
): Promise<T | FailedCall> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<'deadline'>((resolve) => {
    timer = setTimeout(resolve, Math.min(ctx.config.deadlines.call_s * 1000, LONGEST_TIMER_MS), 'deadline' as const);
  });
  const first = await Promise.race([settled, deadline]);
  clearTimeout(timer);
  if (first !== 'deadline') return first;
  await onDeadline();
  const error = serviceError(
    'deadline_exceeded',
    `The call did not finish within ${ctx.config.deadlines.call_s} s; its rollout cannot be used for training.`,
  );
  return { kind: 'failed', error };
}
