import type { JsonNode } from '../protocol/json/json-node.ts';
import { isJsonProblem, type JsonProblem, parseJson } from '../protocol/json/parse-json.ts';
import { type Checked, ok, type Reason, reason, refused } from './reasons.ts';

/** One returned response: what the harness says the model wrote. Items stay lossless JSON, since they are fingerprinted. */
export interface Envelope {
  /** Where it stands in the result, for messages: `response`, `responses[2]`. */
  readonly path: string;
  readonly id: string | null;
  /** `output`: a list of items, or a list of transition snapshots, each a list of items. */
  readonly output:
    | { readonly kind: 'items'; readonly items: readonly JsonNode[] }
    | { readonly kind: 'snapshots'; readonly snapshots: readonly (readonly JsonNode[])[] };
  /** `incomplete_details.reason`: why the response was cut, or null. */
  readonly incompleteReason: string | null;
}

/** A reference of the trajectory to one captured call. At least one of both is set. */
export interface CallReference {
  readonly path: string;
  readonly responseId: string | null;
  readonly callId: string | null;
}

/** The result of a harness (protocol section 11, "Shapes"), split into the forms in which it may tell its history. */
export interface HarnessResult {
  readonly reward: number | null;
  /** `terminal_response_id`: the scored call, declared. */
  readonly terminalResponseId: string | null;
  readonly response: Envelope | null;
  readonly responses: readonly Envelope[] | null;
  /** References of the trajectory's turns, in order; null where no turn has any. */
  readonly references: readonly CallReference[] | null;
  /** The whole result, for custom policies. */
  readonly json: JsonNode;
}

/** Reads a result from its JSON text. See {@link readHarnessResult}. */
export function parseHarnessResult(text: string | Uint8Array): Checked<HarnessResult> {
  const bytes =
    typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const json: JsonNode | JsonProblem = parseJson(bytes);
  if (isJsonProblem(json)) return malformed(`it is no JSON: ${json.problem} (byte ${json.offset})`);
  return readHarnessResult(json);
}

/** Takes a result apart. Wrong shapes are `result_malformed`; a trajectory that references only some turns' calls is `partial_references`. */
export function readHarnessResult(json: JsonNode): Checked<HarnessResult> {
  if (!json.isObject()) return malformed('it is no JSON object');
  const reasons: Reason[] = [];
  const snapshots = json.get('contains_transitions')?.boolean() === true;
  const take = <T>(checked: Checked<T>, fallback: T): T => {
    if (checked.ok) return checked.value;
    reasons.push(...checked.reasons);
    return fallback;
  };

  const responseNode = json.present('response');
  const response = responseNode === undefined ? null : take(readEnvelope(responseNode, 'response', snapshots), null);
  const responses = take(readResponses(json.present('responses'), snapshots), null);
  const references = take(readReferences(json.present('ng_trajectory')), null);
  const terminal = json.present('terminal_response_id');
  if (terminal !== undefined && !terminal.string()) {
    reasons.push(reason('result_malformed', 'terminal_response_id of the result is no non-empty string'));
  }
  if (reasons.length > 0) return refused(...reasons);
  return ok({
    reward: readReward(json.get('reward')),
    terminalResponseId: terminal?.string() ?? null,
    response,
    responses,
    references,
    json,
  });
}

/** A finite number, else null: what a missing reward means is the caller's decision. */
function readReward(node: JsonNode | undefined): number | null {
  const value = node?.number();
  return value === undefined || !Number.isFinite(value) ? null : value;
}

function readResponses(node: JsonNode | undefined, snapshots: boolean): Checked<readonly Envelope[] | null> {
  if (node === undefined) return ok(null);
  if (!node.isArray()) return malformed('responses is no list');
  const envelopes: Envelope[] = [];
  for (const [at, element] of node.elements().entries()) {
    const envelope = readEnvelope(element, `responses[${at}]`, snapshots);
    if (!envelope.ok) return envelope;
    envelopes.push(envelope.value);
  }
  return ok(envelopes);
}

function readEnvelope(node: JsonNode, path: string, snapshots: boolean): Checked<Envelope> {
  if (!node.isObject()) return malformed(`${path} is no object`);
  const id = node.present('id');
  if (id !== undefined && !id.isString()) return malformed(`${path}.id is no string`);
  const output = node.present('output');
  if (output !== undefined && !output.isArray()) return malformed(`${path}.output is no list`);
  const elements = output?.elements() ?? [];
  const transitions = snapshots || node.get('contains_transitions')?.boolean() === true;
  const wrong = elements.findIndex((element) => (transitions ? !element.isArray() : !element.isObject()));
  if (wrong >= 0) {
    const wanted = transitions
      ? 'a snapshot, that is a list of items'
      : 'an item, that is an object (snapshots need contains_transitions)';
    return malformed(`${path}.output[${wrong}] is not ${wanted}`);
  }
  for (const [at, snapshot] of transitions ? elements.entries() : []) {
    const noItem = snapshot.elements().findIndex((item) => !item.isObject());
    if (noItem >= 0) return malformed(`${path}.output[${at}][${noItem}] is not an item, that is an object`);
  }
  const incomplete = node.present('incomplete_details')?.present('reason')?.string() ?? null;
  return ok({
    path,
    id: id?.string() || null,
    output: transitions
      ? { kind: 'snapshots', snapshots: elements.map((snapshot) => snapshot.elements()) }
      : { kind: 'items', items: elements },
    incompleteReason: node.present('status')?.string() === 'incomplete' ? incomplete : null,
  });
}

function readReferences(trajectory: JsonNode | undefined): Checked<readonly CallReference[] | null> {
  if (trajectory === undefined) return ok(null);
  const turns = trajectory.present('turns');
  if (!trajectory.isObject() || (turns !== undefined && !turns.isArray())) {
    return malformed('ng_trajectory is no object with a list of turns');
  }
  const perTurn: CallReference[][] = [];
  for (const [at, turn] of (turns?.elements() ?? []).entries()) {
    const path = `ng_trajectory.turns[${at}]`;
    const calls = turn.present('model_calls');
    if (!turn.isObject() || (calls !== undefined && !calls.isArray()))
      return malformed(`${path} is no turn with a list of model_calls`);
    const references: CallReference[] = [];
    for (const [position, call] of (calls?.elements() ?? []).entries()) {
      const reference = readReference(call, `${path}.model_calls[${position}]`);
      if (!reference.ok) return reference;
      references.push(reference.value);
    }
    perTurn.push(references);
  }
  const without = perTurn.findIndex((references) => references.length === 0);
  if (perTurn.every((references) => references.length === 0)) return ok(null);
  if (without >= 0) {
    const message = `ng_trajectory.turns[${without}] names no model call while other turns do: every turn must, or none`;
    return refused(reason('partial_references', message));
  }
  return ok(perTurn.flat());
}

function readReference(node: JsonNode, path: string): Checked<CallReference> {
  if (!node.isObject()) return malformed(`${path} is no object`);
  const ids: Record<'response_id' | 'model_call_id', string | null> = { response_id: null, model_call_id: null };
  for (const name of ['response_id', 'model_call_id'] as const) {
    const member = node.present(name);
    if (member === undefined) continue;
    const text = member.string();
    if (!text) return malformed(`${path}.${name} is no non-empty string`);
    ids[name] = text;
  }
  if (ids.response_id === null && ids.model_call_id === null) {
    return refused(reason('partial_references', `${path} has neither response_id nor model_call_id`));
  }
  return ok({ path, responseId: ids.response_id, callId: ids.model_call_id });
}

function malformed(why: string) {
  return refused(reason('result_malformed', `the result cannot be used: ${why}`));
}
