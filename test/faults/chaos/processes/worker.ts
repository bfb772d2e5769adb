import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultKind } from '../../../../src/reference-worker/faults.ts';
import { createReferenceWorker } from '../../../../src/reference-worker/reference-worker.ts';
import { seeded } from '../random.ts';
import { ready, settingsOf } from './child-side.ts';
import { canonicalMessage, extend, START, tagsOf } from './conversation-hash.ts';

/** The worker of the chaos harness: the reference worker, slow and faulty by the seed, which also notes which conversation each call was about. */
export interface WorkerSettings {
  readonly port: number;
  readonly seed: string;
  readonly queueFile: string;
  readonly logFile: string;
  /** One line per captured request, and one per answer that was made for it. */
  readonly callsFile: string;
  /** Share of calls with a misbehaviour. */
  readonly faults: number;
}

/** A line of `callsFile`. */
export type CallLine =
  | {
      readonly call: string;
      readonly attempt: string;
      /** `attempt/generation/number` of what the conversation is marked with. */
      readonly tags: readonly string[];
      /** Hash of the conversation after each message. */
      readonly hashes: readonly string[];
      readonly roles: readonly string[];
    }
  /** Hash of the conversation with the answer. */
  | { readonly call: string; readonly answer: string };

const FAULTS = {
  lose_acknowledgement: 2,
  capture_failed: 2,
  foreign_coordinates: 1,
  malformed_coordinates: 1,
  root_instead: 3,
  drop_before_answer: 2,
  stage_and_die: 3,
  drop_mid_body: 2,
  length_refusal: 2,
  abort: 2,
  missing_id: 1,
} as const satisfies Partial<Record<FaultKind, number>>;

/** How long calls take, in ms: mostly little, so that a run sees many of them. */
const LATENCIES_MS = [
  [0, 5],
  [2, 40],
  [2, 40],
  [2, 40],
  [20, 150],
  [20, 150],
  [150, 800],
] as const;
const SLOW_MS = [300, 1500] as const;

const settings = settingsOf<WorkerSettings>();
const worker = createReferenceWorker({
  port: settings.port,
  queueFile: settings.queueFile,
  logFile: settings.logFile,
  keptRequests: 0,
  logLimit: 1,
  leakTokens: true,
  script: {
    rules: [
      { when: { contains: '[tool]' }, tool_calls: [{ name: 'look', arguments: { where: 'here' } }] },
      {
        when: { contains: '[tools]' },
        content: 'Looking twice.',
        tool_calls: [
          { name: 'look', arguments: '{"where":"left"}' },
          { name: 'look', arguments: { where: 'right' } },
        ],
      },
      { when: { contains: '[think]' }, reasoning: 'Let me think.', content: 'Thought about it.' },
      { when: { contains: '[same]' }, content: 'The same again.' },
    ],
  },
});

interface Noted {
  readonly hash: string;
  readonly callId: string;
  readonly afterMs: number;
}
const noted = new WeakMap<object, Noted>();
const note = (line: CallLine) => appendFileSync(settings.callsFile, `${JSON.stringify(line)}\n`);

worker.app.addHook('preHandler', async (request) => {
  if (!request.url.endsWith('/chat/completions')) return;
  const body = JSON.parse((request.body as Buffer).toString()) as {
    messages: Record<string, unknown>[];
    ng_capture?: { capture_key: string; model_call_id: string };
  };
  const capture = body.ng_capture;
  if (capture === undefined) return;
  const callId = capture.model_call_id;
  const hashes: string[] = [];
  for (const message of body.messages) hashes.push(extend(hashes.at(-1) ?? START, canonicalMessage(message)));
  const random = seeded(`${settings.seed}/${createHash('sha256').update(callId).digest('hex')}`);
  note({
    call: callId,
    attempt: capture.capture_key,
    tags: tagsOf(body.messages),
    hashes,
    roles: body.messages.map(({ role }) => String(role)),
  });
  const isSlow = canonicalMessage(body.messages.at(-1) ?? {}).includes('[slow]');
  const [fastest, slowest] = isSlow ? SLOW_MS : random.pick(LATENCIES_MS);
  const latencyMs = random.int(fastest, slowest);
  const beforeMs = Math.floor(latencyMs * random.next());
  noted.set(request, { hash: hashes.at(-1) as string, callId, afterMs: latencyMs - beforeMs });
  if (random.chance(settings.faults)) {
    worker.arm({ kind: random.weighted(FAULTS), match: { model_call_id: callId } });
  }
  await sleep(beforeMs);
});

worker.app.addHook('onSend', async (request, _reply, payload) => {
  const call = noted.get(request);
  if (call === undefined || typeof payload !== 'string') return payload;
  const { choices } = JSON.parse(payload) as { choices?: { message: Record<string, unknown> }[] };
  const answer = choices?.[0]?.message;
  if (answer !== undefined) note({ call: call.callId, answer: extend(call.hash, canonicalMessage(answer)) });
  await sleep(call.afterMs);
  return payload;
});

await worker.listen();
ready();
