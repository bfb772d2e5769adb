import type { Sent } from '../evidence.ts';
import { CONTROL_TOKEN } from '../settings.ts';
import type { Answer } from './ask.ts';
import type { ClientDialect, Turn } from './dialects.ts';

export interface JudgedReply {
  readonly outcome: Sent['outcome'];
  readonly turn: Turn | null;
  readonly code: string | null;
  readonly responseId: string | null;
  readonly problem: { readonly invariant: number; readonly rule: string; readonly detail: string } | null;
}

/** Refusals that a load like this one may meet. Everything else of status 400 says that the proxy misunderstood a request. */
const EXPECTED_CODES: ReadonlySet<string> = new Set([
  'ambiguous_candidate',
  'context_length_exceeded',
  'attempt_closed',
  'attempt_retired',
  'rate_limit_exceeded',
  'worker_failed',
  'capture_failed',
  'commit_failed',
  'worker_unreachable',
  'ledger_unavailable',
  'shutting_down',
  'deadline_exceeded',
]);

const SECRETS =
  /ng_capture|ng_commit_coords|token_ids|prompt_logprobs|generation_log_probs|routed_experts|predecessor_tail_route|"logprobs":\s*(?:\{|\[\s*[^\]\s])/;

/** What an answer is, and what is wrong with it: it must be a reply or an error of the dialect (invariant 7), and hold nothing token-like (invariant 6). */
export function judgeReply(dialect: ClientDialect, stream: boolean, answer: Answer): JudgedReply {
  const { text } = answer;
  const leak = SECRETS.exec(text)?.[0] ?? (text.includes(CONTROL_TOKEN) ? 'the control token' : undefined);
  const problem = (invariant: number, rule: string, detail: string) => ({ invariant, rule, detail });
  const leaked = leak === undefined ? null : problem(6, 'nothing token-like and no secret reaches an agent', leak);
  const isReplyHead = answer.status === 200;
  if (!answer.whole) {
    const outcome = answer.hungUp ? 'hung_up' : 'broken';
    return { outcome, turn: null, code: null, responseId: isReplyHead ? firstId(text) : null, problem: leaked };
  }
  const turn = isReplyHead ? dialect.read(text, stream) : null;
  if (turn !== null) return { outcome: 'reply', turn, code: null, responseId: turn.responseId, problem: leaked };
  const code = dialect.errorCode(text);
  const malformed =
    code === null
      ? problem(7, 'every answer is a reply or an error of its dialect', `${answer.status}: ${text.slice(0, 300)}`)
      : EXPECTED_CODES.has(code)
        ? null
        : problem(
            7,
            'no request of this load is refused for its form, and nothing fails inside',
            `${code}: ${text.slice(0, 300)}`,
          );
  return { outcome: 'error', turn: null, code, responseId: null, problem: leaked ?? malformed };
}

/** The envelope's id in what arrived of a reply: its first one in every dialect. */
function firstId(text: string): string | null {
  return /"id":\s*"([^"]+)"/.exec(text)?.[1] ?? null;
}
