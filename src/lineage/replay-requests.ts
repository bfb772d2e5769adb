import { type Dialect, type EngineMessage, isRefusal } from '../protocol/conversation.ts';
import { type JsonFragment, jsonString } from '../protocol/json/fragment.ts';
import type { JsonNode } from '../protocol/json/json-node.ts';
import type { WhyRoot } from '../protocol/wire/ledger.ts';
import { evidenceOf } from './evidence.ts';
import { explainRoot, type RootedBy } from './explain-root.ts';
import { RecordedHistories } from './recorded-histories.ts';
import { renderDigest, renderKeyDigests } from './render-digest.ts';
import { CONVERTERS, OFFLINE, servedTurn } from './served-turn.ts';
import { type ItemSketch, type StoredSketch, sketchJson, sketchOf } from './sketch.ts';
import type { ReasoningPolicy } from './types.ts';

/** A request that an agent made, as somebody wrote it down. */
export interface RecordedRequest {
  /** How it is called in the answers: the line of a file, for example. */
  readonly name: string;
  /** Path or URL; its end tells the dialect. */
  readonly path: string;
  readonly body: JsonNode;
  /** The reply that the agent got, as the complete object of the dialect. */
  readonly response?: JsonNode | undefined;
}

/** What becomes of one request under the rule of protocol section 3, with the requests before it as the recorded calls of one attempt. */
export type ReplayedRequest = { readonly name: string } & (
  | {
      readonly outcome: 'continues';
      readonly parent: string;
      /** The reply of the parent is not there: the turn that this request echoes was taken for it. */
      readonly assumed: boolean;
    }
  /** `why` names requests where a ledger names calls. */
  | { readonly outcome: 'root'; readonly why: WhyRoot }
  /** Several requests are extended alike: 400, unless their tokens turn out to be the same. */
  | { readonly outcome: 'ambiguous'; readonly candidates: readonly string[]; readonly why: WhyRoot }
  | { readonly outcome: 'refused'; readonly message: string }
  /** No model call, or its reply is an error: nothing can continue it. */
  | { readonly outcome: 'no_call'; readonly message: string }
);

const PATHS: readonly (readonly [end: RegExp, dialect: Dialect])[] = [
  [/\/responses\/?(\?.*)?$/, 'responses'],
  [/\/chat\/completions\/?(\?.*)?$/, 'chat'],
  [/\/messages\/?(\?.*)?$/, 'messages'],
];

/** A request that later ones can continue. */
interface Known {
  readonly name: string;
  readonly parent: string | null;
  readonly renderDigest: string;
  readonly render: Readonly<Record<string, string>>;
  /** What it adds to its parent's history; the served turn last, where it is known. */
  items: readonly ItemSketch[];
  isAnswered: boolean;
  /** Ids of the served turn. */
  readonly ids: readonly string[];
}

/**
 * Says of each request which earlier one it would continue, and why not otherwise. Requests are taken in order, each as if the ones before it were recorded. A request
 * without its response can be continued, too: what the next request puts in the place of its reply counts as that.
 */
export function replayRequests(requests: readonly RecordedRequest[], policy: ReasoningPolicy): ReplayedRequest[] {
  const known: Known[] = [];
  return requests.map((request) => ({ name: request.name, ...replay(request, known, policy) }));
}

type Outcome<T = ReplayedRequest> = T extends ReplayedRequest ? Omit<T, 'name'> : never;

function replay(request: RecordedRequest, known: Known[], policy: ReasoningPolicy): Outcome {
  const dialect = PATHS.find(([end]) => end.test(request.path))?.[1];
  if (dialect === undefined) return { outcome: 'no_call', message: `${request.path} is no path of a model call.` };
  const converted = CONVERTERS[dialect].convert(request.body, OFFLINE);
  if (isRefusal(converted)) return { outcome: 'refused', message: converted.message };
  const fields = new Map<string, JsonFragment>(converted.fields);
  if (converted.model !== null) fields.set('model', jsonString(converted.model));
  const render = renderDigest(fields);
  if ('undigestable' in render) return { outcome: 'refused', message: `${render.undigestable} has no digest.` };

  const asked: Asked = {
    messages: converted.messages,
    items: sketches(converted.messages, policy),
    renderDigest: render.digest,
    renderKeys: renderKeyDigests(fields),
  };
  const { outcome, parent } = search(asked, known);
  if (request.response?.present('error') !== undefined && request.response.get('error')?.isObject())
    return { outcome: 'no_call', message: 'It was answered with an error.' };
  const turn = request.response === undefined ? [] : servedTurn(dialect, request.body, request.response);
  known.push({
    name: request.name,
    parent: parent?.name ?? null,
    renderDigest: asked.renderDigest,
    render: asked.renderKeys,
    items: [...asked.items.slice(parent === null ? 0 : boundaryOf(asked.items)), ...sketches(turn, policy)],
    isAnswered: turn.length > 0,
    ids: turn.flatMap((message) => message.echoedIds),
  });
  return outcome;
}

interface Asked {
  readonly messages: readonly EngineMessage[];
  readonly items: readonly ItemSketch[];
  readonly renderDigest: string;
  readonly renderKeys: Readonly<Record<string, string>>;
}

function search(asked: Asked, known: readonly Known[]): { outcome: Outcome; parent: Known | null } {
  const { items } = asked;
  const boundary = boundaryOf(items);
  const echoed = items[boundary - 1];
  const unanswered = new RecordedHistories(known.map(storedSketch), items)
    .matching(boundary - 1)
    .map(({ callId }) => callId);
  const assumed = (one: Known) => !one.isAnswered && unanswered.includes(one.name) && echoed !== undefined;
  const records = known.map((one) =>
    storedSketch(assumed(one) ? { ...one, items: [...one.items, echoed as ItemSketch] } : one),
  );
  const rest = items.slice(boundary);
  const extends_ = boundary > 0 && rest.length > 0 && rest.every(({ role }) => role === 'user' || role === 'tool');
  const matching = extends_
    ? new RecordedHistories(records, items)
        .matching(boundary)
        .filter((history) => history.renderDigest === asked.renderDigest)
        .map(({ callId }) => known.find(({ name }) => name === callId) as Known)
        .filter((one) => one.isAnswered || assumed(one))
    : [];
  const candidates = settledByIds(matching, asked.messages[boundary - 1]);
  const [parent] = candidates;
  const why = (rootedBy: RootedBy): WhyRoot => explainRoot({ rootedBy, ...asked, records });
  if (parent === undefined) return { outcome: { outcome: 'root', why: why({ by: 'search' }) }, parent: null };
  if (candidates.length > 1) {
    const names = candidates.map(({ name }) => name);
    return { outcome: { outcome: 'ambiguous', candidates: names, why: why({ by: 'ambiguous' }) }, parent: null };
  }
  const isAssumed = !parent.isAnswered;
  if (isAssumed) {
    parent.items = [...parent.items, echoed as ItemSketch];
    parent.isAnswered = true;
  }
  return { outcome: { outcome: 'continues', parent: parent.name, assumed: isAssumed }, parent };
}

/** Of several, those whose ids all stand in the turn before the boundary, if there are any. */
function settledByIds(matching: readonly Known[], turn: EngineMessage | undefined): readonly Known[] {
  if (matching.length < 2 || turn?.role !== 'assistant') return matching;
  const named = matching.filter(({ ids }) => ids.length > 0 && ids.every((id) => turn.echoedIds.includes(id)));
  return named.length > 0 ? named : matching;
}

function storedSketch(one: Known): StoredSketch {
  return {
    callId: one.name,
    parentCallId: one.parent,
    renderDigest: one.renderDigest,
    sketchJson: sketchJson(one.items, one.render),
  };
}

function sketches(list: readonly EngineMessage[], policy: ReasoningPolicy): ItemSketch[] {
  return list.map((message) => sketchOf(message, evidenceOf(message, policy)));
}

/** Number of items up to and with the last assistant turn. */
function boundaryOf(items: readonly ItemSketch[]): number {
  return items.findLastIndex(({ role }) => role === 'assistant') + 1;
}
