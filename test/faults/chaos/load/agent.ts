import { setTimeout as sleep } from 'node:timers/promises';
import type { Incarnation, Sent } from '../evidence.ts';
import { mark, marksIn } from '../processes/conversation-hash.ts';
import type { Random } from '../random.ts';
import type { Answer } from './ask.ts';
import { hashOf } from './book.ts';
import type { ClientDialect, Turn } from './dialects.ts';
import type { Json } from './json.ts';
import { judgeReply } from './judge-reply.ts';
import type { LoadWorld } from './world.ts';

/** A conversation of an agent, in one dialect. */
export interface Thread {
  readonly dialect: ClientDialect;
  readonly system: string | null;
  readonly history: readonly Json[];
  /** The turn at the end of the history, received whole; null at the beginning. */
  readonly last: Turn | null;
}

/** What became of a request, its re-sends included. `over`: the attempt takes no calls any more. */
export type Outcome = { readonly kind: 'turn'; readonly thread: Thread } | { readonly kind: 'failed' | 'over' };

export interface CallOptions {
  /** Words that the worker knows: `[tool]`, `[think]`, `[slow]`, ... */
  readonly hint?: string;
  /** Hangs up once the worker has the request. */
  readonly leaves?: boolean;
  /** The same request is sent on purpose more than once. */
  readonly isSample?: boolean;
}

const SENDS = 5;
const PREFIXES = ['v1', 'training-token-capture/v1'];

/** One agent in one incarnation of an attempt: sends its whole history, hangs up now and then, sends again what was lost. */
export class Agent {
  readonly incarnation: Incarnation;
  private readonly world: LoadWorld;
  private readonly random: Random;
  private texts = 0;
  private keys = 0;
  /** Requests of which it is not known whether they will still be admitted, by what marks them: how many copies, and since when. */
  private readonly unknown = new Map<string, { copies: number; sinceMs: number }>();

  constructor(world: LoadWorld, incarnation: Incarnation, random: Random) {
    this.world = world;
    this.incarnation = incarnation;
    this.random = random;
  }

  /** Time in ms after which no request of this agent can be admitted any more, if it sends nothing; 0: now. */
  settledInMs(): number {
    const nowMs = this.world.nowMs();
    const waits = [...this.unknown].map(([text, { copies, sinceMs }]) => {
      // The worker has it, so it was admitted, and there is no other copy.
      if (copies === 1 && this.world.workerSaw(text)) return 0;
      return Math.max(0, sinceMs + this.world.limboMs - nowMs);
    });
    return Math.max(0, ...waits);
  }

  /** Continues a thread: outputs for its tool calls, or a user's message. */
  async proceed(thread: Thread, options: CallOptions = {}): Promise<Outcome> {
    const { dialect, last } = thread;
    const text = this.newText(options.hint ?? '');
    const outputs = last === null || last.toolCalls.length === 0 ? [] : dialect.toolOutputs(last.toolCalls, text);
    const added = outputs.length > 0 ? outputs : [dialect.user(text)];
    return this.send({ ...thread, history: [...thread.history, ...added] }, text, options);
  }

  /** The text of a message, marked so that it can be told from every other. */
  newText(hint: string): string {
    const { attempt, generation } = this.incarnation;
    this.texts += 1;
    return `${mark(attempt, generation, this.texts)} ${hint} ${'words '.repeat(this.random.int(0, 8))}`;
  }

  /** Sends a request until it has an answer, as clients do. `thread.history` ends with what the user or a tool said. */
  async send(thread: Thread, text: string, options: CallOptions): Promise<Outcome> {
    const { random } = this;
    const { dialect } = thread;
    const stream = random.chance(0.35);
    this.keys += 1;
    const key = random.chance(0.3) ? `key-${this.keys}` : null;
    const headers = { ...(key === null ? {} : { 'idempotency-key': key }), ...this.parentHeader(thread) };
    for (let sends = 1; sends <= SENDS; sends += 1) {
      const body = dialect.body(thread.system, thread.history, random.chance(0.9) ? stream : !stream);
      const { attempt } = this.incarnation;
      const path = `/ng-rollout/${attempt}/${random.pick(PREFIXES)}/${dialect.path}`;
      const once = options.isSample === true ? null : text;
      const sent = this.enter(thread, { stream: body.stream === true, key, once }, headers);
      const leaves = options.leaves === true && sends === 1;
      const hangUpAfterMs = leaves ? random.int(40, 200) : random.chance(0.05) ? random.int(0, 60) : null;
      await this.world.whenUp();
      const port = this.world.pickFront(random);
      const answer = await this.world.client.ask({ port, path, body, headers, hangUpAfterMs });
      const turn = this.take(sent, dialect, answer, text);
      if (turn !== null)
        return { kind: 'turn', thread: { ...thread, history: [...thread.history, ...turn.echo], last: turn } };
      const next = this.next(sent, leaves);
      if (next === 'over' || next === 'failed') return { kind: next };
      await sleep(next);
    }
    return { kind: 'failed' };
  }

  /** Now and then an agent names the turn that it goes on from. */
  private parentHeader({ dialect, last }: Thread): Record<string, string> {
    if (dialect.name === 'messages' || !this.random.chance(0.06)) return {};
    return { 'x-nemo-gym-capture-parent': JSON.stringify(last?.responseId ?? null) };
  }

  private enter(
    thread: Thread,
    { stream, key, once }: { stream: boolean; key: string | null; once: string | null },
    headers: object,
  ): Sent {
    const isNamed = 'x-nemo-gym-capture-parent' in headers;
    const hasTurn = thread.last !== null;
    const sent: Sent = {
      incarnation: this.incarnation.number,
      dialect: thread.dialect.name,
      stream,
      key,
      mark: once === null ? null : (marksIn(once)[0] ?? null),
      expects: hasTurn ? 'continuation' : isNamed || !thread.history.some(isAssistant) ? 'root' : null,
      sentMs: this.world.nowMs(),
      endedMs: 0,
      outcome: 'broken',
      status: null,
      code: null,
      callId: null,
      responseId: null,
      replyHash: null,
    };
    this.world.book.sent.push(sent);
    return sent;
  }

  /** Writes down what came back; the turn, if it is a whole reply. */
  private take(sent: Sent, dialect: ClientDialect, answer: Answer, text: string): Turn | null {
    sent.endedMs = this.world.nowMs();
    sent.status = answer.status;
    const callId = answer.headers['x-request-id'];
    sent.callId = typeof callId === 'string' ? callId : null;
    const judged = judgeReply(dialect, sent.stream, answer);
    sent.outcome = judged.outcome;
    sent.code = judged.code;
    sent.responseId = judged.responseId;
    sent.replyHash = judged.turn === null ? null : hashOf(withoutComments(answer.text));
    const { attempt, generation } = this.incarnation;
    const complain = (invariant: number, rule: string, detail: string) =>
      this.world.book.complain({ invariant, rule, attempt, callId: sent.callId, detail });
    if (answer.status === 410 && !this.incarnation.closeAsked)
      complain(0, 'an attempt is open until it is closed', answer.text.slice(0, 200));
    if (judged.problem !== null) complain(judged.problem.invariant, judged.problem.rule, judged.problem.detail);
    const foreign = marksIn(answer.text).find((found) => !found.startsWith(`${attempt}/${generation}/`));
    if (foreign !== undefined) complain(6, 'nothing of one attempt reaches another', `the reply holds {${foreign}}`);
    if (judged.outcome === 'broken' || judged.outcome === 'hung_up') {
      const before = this.unknown.get(text);
      this.unknown.set(text, { copies: (before?.copies ?? 0) + 1, sinceMs: sent.endedMs });
    }
    return judged.turn;
  }

  /** What a client does after no reply: waits so long and sends again, or gives the request up. */
  private next(sent: Sent, leaves: boolean): 'over' | 'failed' | number {
    const { random } = this;
    if (leaves) return 'failed';
    switch (sent.outcome) {
      case 'reply':
        return 'failed';
      case 'broken':
      case 'hung_up':
        return random.chance(0.85) ? random.int(0, 120) : 'failed';
      case 'error':
        if (sent.status === 410) return 'over';
        if (sent.status === 503 || sent.status === 429) return random.int(50, 250);
        // A new call of the same body: what came before has failed.
        if (sent.status === 502 || sent.status === 504) return random.chance(0.5) ? random.int(0, 50) : 'failed';
        return 'failed';
      default:
        return sent.outcome satisfies never;
    }
  }
}

function isAssistant(element: Json): boolean {
  return element.role === 'assistant' || element.type === 'message' || element.type === 'function_call';
}

/** Comments that go out while an answer is awaited are no part of it. */
const withoutComments = (stream: string): string => stream.replace(/^:.*\n\n/gm, '');
