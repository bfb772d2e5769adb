import fc from 'fast-check';
import type {
  AssistantMessage,
  EngineMessage,
  EnginePart,
  EngineToolCall,
  ToolMessage,
  UserMessage,
} from '../../../src/protocol/conversation.ts';

/** Random conversations as the engine sees them. Texts hold everything that a JSON string can hold, lone surrogates included. */

export const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ' ', '\n', 'é', '→', '\ud800', '�', '{}', '"', 't1:x'),
  fc.string({ minLength: 60, maxLength: 90 }),
);

const jsonValue = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' });

export const argumentsObject = fc.dictionary(fc.string({ maxLength: 5 }), jsonValue, { maxKeys: 4 });

const argumentsText = fc.oneof(
  { weight: 4, arbitrary: argumentsObject.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('', '{}', '{bad', 'NaN', '{"a":1e400}', '{"a":"\\ud800"}', '[1]') },
);

export const toolCall: fc.Arbitrary<EngineToolCall> = fc.record({
  id: fc.constantFrom('', 'call_1', 'call_2', 'functions.f:0'),
  name: fc.constantFrom('f', 'bash', 'mcp__run'),
  arguments: argumentsText,
});

const imageUrl = fc.webUrl();

export const media: fc.Arbitrary<EnginePart> = imageUrl.map((url) => ({
  type: 'media',
  kind: 'image',
  json: JSON.stringify({ type: 'image_url', image_url: { url } }),
}));

const textPart: fc.Arbitrary<EnginePart> = text.map((value) => ({ type: 'text', text: value }));

const content = fc.oneof(text, fc.array(fc.oneof(textPart, media), { minLength: 1, maxLength: 3 }));

const userMessage: fc.Arbitrary<UserMessage> = content.map((value) => ({ role: 'user', content: value }));

const toolMessage: fc.Arbitrary<ToolMessage> = fc.record({
  role: fc.constant('tool'),
  toolCallId: fc.constantFrom('call_1', 'call_2'),
  content,
});

export const assistantMessage: fc.Arbitrary<AssistantMessage> = fc.record({
  role: fc.constant('assistant'),
  content: fc.option(text, { nil: null }),
  reasoning: fc.option(text, { nil: null }),
  refusal: fc.option(text, { nil: null, freq: 8 }),
  toolCalls: fc.array(toolCall, { maxLength: 3 }),
  echoedIds: fc.constant([]),
});

const message: fc.Arbitrary<EngineMessage> = fc.oneof(userMessage, toolMessage, assistantMessage);

export const history: fc.Arbitrary<EngineMessage[]> = fc
  .tuple(text, fc.array(message, { minLength: 1, maxLength: 6 }))
  .map(([instructions, rest]) => [{ role: 'system', content: instructions }, ...rest]);
