import fc from 'fast-check';
import { anyJson, arrayText, asciiJson, numberText, objectText, someOf, stringText } from './json-texts.ts';

/** Items of a conversation as JSON text, of all dialects at once: mostly sound, some of them not. */

const word = (...words: string[]) => fc.constantFrom(...words.map((one) => JSON.stringify(one)));
const mostly = (usual: fc.Arbitrary<string>, otherwise: fc.Arbitrary<string> = anyJson) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: otherwise });

const id = mostly(fc.oneof(word('call_1', 'call_2', 'fc_1', 'toolu_1'), stringText, fc.constant('null')), asciiJson);
const name = mostly(word('search', 'bash', 'ns__tool', 'été'), asciiJson);
/** Arguments of a call: text that is JSON, or nearly, or not at all; sometimes an object. */
const argumentsText = fc.oneof(
  { weight: 4, arbitrary: anyJson.map((json) => JSON.stringify(json)) },
  { weight: 1, arbitrary: anyJson.map((json) => JSON.stringify(` ${json} `)) },
  {
    weight: 2,
    arbitrary: word(
      '',
      ' ',
      '{}',
      '{"a": 1, "a": 2}',
      '{"a":1.0}',
      '{bad json',
      '  not json ',
      'NaN',
      '[1e999]',
      '\ufeff{}',
    ),
  },
  { weight: 1, arbitrary: anyJson },
);

const textBlock = someOf({
  type: word('text', 'input_text', 'output_text', ''),
  text: mostly(stringText),
  annotations: anyJson,
});
const toolUse = someOf({ type: word('tool_use'), id, name, input: anyJson });
const toolResult = someOf({
  type: word('tool_result'),
  tool_use_id: id,
  id,
  content: fc.oneof(stringText, anyJson),
});
const otherBlock = someOf({
  type: mostly(word('image', 'input_image', 'image_url', 'refusal', 'document'), asciiJson),
  text: stringText,
  image_url: anyJson,
  detail: stringText,
});
const block = fc.oneof(stringText, textBlock, toolUse, toolResult, otherBlock);
const content = mostly(
  fc.oneof(
    stringText,
    fc.constant('null'),
    fc.array(block, { maxLength: 4 }).map(arrayText),
    fc.array(textBlock, { maxLength: 3 }).map(arrayText),
  ),
);

const calledFunction = mostly(someOf({ name, arguments: argumentsText }));
const toolCall = mostly(someOf({ id, type: word('function'), function: calledFunction }));
const toolCalls = mostly(
  fc.oneof(fc.constant('null'), fc.array(toolCall, { maxLength: 3 }).map(arrayText)),
  fc.oneof(numberText, word('', 'x'), fc.constant('true')),
);

const message = someOf({
  role: mostly(word('user', 'assistant', 'system', 'developer', 'tool'), asciiJson),
  type: word('message'),
  content,
  tool_calls: toolCalls,
  tool_call_id: id,
  reasoning: stringText,
});
const assistant = fc.tuple(content, toolCalls).map(([text, calls]) =>
  objectText([
    ['"role"', '"assistant"'],
    ['"content"', text],
    ['"tool_calls"', calls],
  ]),
);
const functionCall = someOf({
  type: word('function_call'),
  id,
  call_id: id,
  name,
  namespace: mostly(word('ns', ''), asciiJson),
  arguments: argumentsText,
  status: word('completed'),
});
const functionOutput = someOf({
  type: word('function_call_output'),
  call_id: id,
  id,
  output: fc.oneof(stringText, anyJson),
});
const toolMessage = fc.tuple(id, fc.oneof(stringText, content)).map(([call, text]) =>
  objectText([
    ['"role"', '"tool"'],
    ['"tool_call_id"', call],
    ['"content"', text],
  ]),
);
const reasoning = someOf({ type: word('reasoning'), id, summary: anyJson, content, encrypted_content: stringText });
const envelope = fc.tuple(anyJson, anyJson).map(
  ([instructions, tools]) =>
    `{"role":"_ng_request_envelope","content":${JSON.stringify(
      objectText([
        ['"instructions"', instructions],
        ['"tools"', tools],
      ]),
    )}}`,
);

export const itemText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: message },
  { weight: 4, arbitrary: assistant },
  { weight: 4, arbitrary: functionCall },
  { weight: 2, arbitrary: functionOutput },
  { weight: 2, arbitrary: toolMessage },
  { weight: 1, arbitrary: reasoning },
  { weight: 1, arbitrary: envelope },
  { weight: 1, arbitrary: fc.oneof(anyJson, numberText) },
);

/** A list of items as JSON text. */
export const itemsText: fc.Arbitrary<string> = fc.array(itemText, { maxLength: 5 }).map(arrayText);
