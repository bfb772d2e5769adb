import { type EngineMessage, isRefusal, type RequestRefusal, type SystemMessage } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { Memo, memoOf } from '../json/memo.ts';
import { invalid } from '../refusals.ts';
import { userText } from '../single-text.ts';
import { convertItem, type Instruction } from './convert-item.ts';
import { asParts, foldTurns, type InputStep } from './fold-turns.ts';
import type { ToolNames } from './tool-names.ts';

/** The conversation of a request, and the item types that the engine does not get to see, one entry per item. */
export interface FoldedInput {
  readonly messages: readonly EngineMessage[];
  readonly leftOut: readonly string[];
}

/**
 * `instructions` and `input` as the messages that the engine sees (protocol section 3, C1 to C38). Instructions and the leading system
 * and developer items are one system message, joined with blank lines; a late one goes up as `user`, where it stands (C16, C17).
 */
export function foldInput(
  instructions: JsonNode | undefined,
  input: JsonNode,
  names: ToolNames,
): FoldedInput | RequestRefusal {
  const leading = instructions === undefined ? [] : instructionsOf(instructions);
  const folded = input.isString() ? textInput(input) : foldItems(input, names, leading);
  if (isRefusal(folded)) return folded;
  const { steps, leftOut } = folded;
  const messages = [...systemMessage(leading), ...foldTurns(steps)];
  return messages.length === 0 ? invalid('input', 'holds no message') : { messages, leftOut };
}

/**
 * The messages of items that stand alone, such as the output of a reply that is echoed. Throws where an item is refused: what this
 * proxy serves, it reads.
 */
export function foldServedItems(items: readonly JsonNode[], names: ToolNames): EngineMessage[] {
  const steps: InputStep[] = [];
  const withs = [names] as const;
  for (const [at, item] of items.entries()) {
    const converted = convertItem(item, 'output', at, withs);
    if (isRefusal(converted)) throw new Error(`a served item cannot be read back: ${converted.message}`);
    if (converted.kind === 'step') steps.push(converted.step);
  }
  return foldTurns(steps);
}

interface Steps {
  readonly steps: readonly InputStep[];
  readonly leftOut: readonly string[];
}

function textInput(input: JsonNode): Steps {
  return { steps: [{ step: 'message', message: userText(input, input) }], leftOut: [] };
}

function foldItems(input: JsonNode, names: ToolNames, leading: Instruction[]): Steps | RequestRefusal {
  const steps: InputStep[] = [];
  const leftOut: string[] = [];
  const withs = [names] as const;
  const items = input.elements();
  for (let at = 0; at < items.length; at++) {
    const converted = convertItem(items[at] as JsonNode, 'input', at, withs);
    if (isRefusal(converted)) return converted;
    switch (converted.kind) {
      case 'none':
        if (converted.leftOut !== null) leftOut.push(converted.leftOut);
        break;
      case 'instruction':
        if (steps.length === 0) leading.push(converted);
        else steps.push({ step: 'message', message: { role: 'user', content: converted.content } });
        break;
      case 'step':
        steps.push(converted.step);
        break;
      default:
        converted satisfies never;
    }
  }
  return { steps, leftOut };
}

const instructionOf = memoOf((node): Instruction => ({ kind: 'instruction', content: node.string() as string }));
const SYSTEM_MESSAGES = new Memo<SystemMessage>();

/** `instructions` of the request; the empty ones are none. */
function instructionsOf(node: JsonNode): Instruction[] {
  const instruction = instructionOf(node);
  return instruction.content === '' ? [] : [instruction];
}

function systemMessage(leading: readonly Instruction[]): SystemMessage[] {
  const [first] = leading;
  return first === undefined ? [] : [SYSTEM_MESSAGES.of(first, leading, () => joined(first, leading))];
}

function joined(first: Instruction, leading: readonly Instruction[]): SystemMessage {
  if (leading.length === 1) return { role: 'system', content: first.content };
  const parts = leading.flatMap(({ content }) => asParts(content));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return { role: 'system', content: texts.length === parts.length ? texts.join('\n\n') : parts };
}
