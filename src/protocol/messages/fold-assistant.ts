import { assistantMessage } from '../assistant-message.ts';
import { type AssistantMessage, type EngineToolCall, isRefusal, type RequestRefusal } from '../conversation.ts';
import type { JsonNode } from '../json/json-node.ts';
import { invalid, unsupported, wrongType } from '../refusals.ts';
import { unsealReasoning } from '../seal.ts';
import { blockText } from './fold-content.ts';
import { quoted } from './quoted.ts';
import { argumentsText, type DeclaresRaw } from './tool-input.ts';

/** Several reasoning blocks of one turn are one text, joined so (C68). */
const REASONING_JOINT = '\n';

interface Turn {
  readonly texts: string[];
  readonly reasoning: string[];
  readonly toolCalls: EngineToolCall[];
}

/**
 * One assistant message (its `content` is read, nothing else): texts are concatenated, thinking joined with line breaks, calls kept in order.
 * Beside calls no text is null; alone it is the empty string, as an empty answer is in Chat.
 */
export function foldAssistant(
  content: JsonNode | undefined,
  path: string,
  declaresRaw: DeclaresRaw,
): AssistantMessage | RequestRefusal {
  const turn: Turn = { texts: [], reasoning: [], toolCalls: [] };
  if (content?.isString()) {
    turn.texts.push(content.string() as string);
  } else if (content?.isArray()) {
    for (const [at, block] of content.elements().entries()) {
      const refusal = addBlock(turn, block, `${path}[${at}]`, declaresRaw);
      if (refusal !== null) return refusal;
    }
  } else if (content !== undefined && !content.isNull()) {
    return wrongType(path, 'a string or an array of content blocks', content);
  }
  return turnMessage(turn);
}

function addBlock(turn: Turn, block: JsonNode, path: string, declaresRaw: DeclaresRaw): RequestRefusal | null {
  if (!block.isObject()) return wrongType(path, 'a content block', block);
  const type = block.get('type')?.string();
  switch (type) {
    case 'text':
    case 'output_text':
    case 'input_text':
      return add(turn.texts, blockText(block, path));
    case 'thinking':
      return add(turn.reasoning, thinkingText(block, path));
    case 'redacted_thinking': {
      const text = unsealReasoning(block.get('data')?.string() ?? '');
      return text === null ? null : add(turn.reasoning, text);
    }
    case 'tool_use':
      return add(turn.toolCalls, toolCall(block, path, declaresRaw));
    default:
      return unsupported(
        `${path}.type`,
        `a block of type ${quoted(type)} in an assistant turn cannot be sent to the model from here; leave it out of the history`,
      );
  }
}

function add<T extends string | object>(list: T[], value: T | RequestRefusal): RequestRefusal | null {
  if (typeof value === 'object' && isRefusal(value)) return value as RequestRefusal;
  list.push(value as T);
  return null;
}

/**
 * The visible text counts; our sealed copy in `signature` stands in for it only where a client echoes the signature alone. A signature that is
 * empty or somebody else's says nothing.
 */
function thinkingText(block: JsonNode, path: string): string | RequestRefusal {
  const thinking = block.present('thinking');
  if (thinking !== undefined && !thinking.isString()) return wrongType(`${path}.thinking`, 'a string', thinking);
  const visible = thinking?.string() ?? '';
  if (visible !== '') return visible;
  return unsealReasoning(block.get('signature')?.string() ?? '') ?? '';
}

function toolCall(block: JsonNode, path: string, declaresRaw: DeclaresRaw): EngineToolCall | RequestRefusal {
  const id = block.present('id');
  if (id !== undefined && !id.isString()) return wrongType(`${path}.id`, 'a string', id);
  const name = block.get('name')?.string();
  if (name === undefined || name === '')
    return invalid(`${path}.name`, 'expected the name of the tool that was called');
  return {
    id: id?.string() ?? '',
    name,
    arguments: argumentsText(block.get('input'), name, declaresRaw),
  };
}

function turnMessage({ texts, reasoning, toolCalls }: Turn): AssistantMessage {
  const joined = reasoning.filter((text) => text !== '').join(REASONING_JOINT);
  return assistantMessage({
    content: texts.length === 0 && toolCalls.length > 0 ? null : texts.join(''),
    reasoning: joined.trim() === '' ? null : joined,
    refusal: null,
    toolCalls,
    echoedIds: toolCalls.map((call) => call.id).filter((id) => id !== ''),
  });
}
