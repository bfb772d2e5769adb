import fc from 'fast-check';
import type { EngineAnswer, EngineToolCall } from '../../src/protocol/conversation.ts';

/** Random answers of an engine, in every shape that a converter must carry. */

/** Text with what breaks renderers: pairs of surrogates, line separators, controls, escapes, white space, lone surrogates. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        '😀',
        '👩‍👩‍👧',
        '\u2028',
        '\u2029',
        '\u0085',
        '\u0000',
        '\u001c',
        '\r\n',
        '\\',
        '"',
        '\ud83d',
        'é',
        ' ',
        '<think>',
        'data: ',
        '\n\n',
      ),
      { maxLength: 300 },
    )
    .map((parts) => parts.join('')),
);

const jsonNumber = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1e0', '1.0e4', '1E+3', '2512292042121000001', '1e400', '-1e-7', '0.1'),
  fc.integer().map(String),
);

/** The text of a JSON object as engines write them: any spacing, any spelling of numbers, keys that JavaScript would move. */
export const objectText: fc.Arbitrary<string> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom('command', '10', '2', 'a', 'é'), fc.string({ unit: 'grapheme', maxLength: 8 })),
      fc.oneof(
        jsonNumber,
        fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => JSON.stringify(text)),
        fc.json({ maxDepth: 3 }),
      ),
    ),
    { maxLength: 5 },
  )
  .chain((members) =>
    fc
      .constantFrom('', ' ', '\n  ')
      .map(
        (space) =>
          `{${members.map(([key, value]) => `${space}${JSON.stringify(key)}:${space}${value}`).join(',')}${space}}`,
      ),
  );

/** Arguments, mostly JSON objects. */
export const anyArguments: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: objectText },
  { weight: 1, arbitrary: fc.constantFrom('', '{"cmd": "ec', '[1]', 'null', '"x"', '{"a":NaN}', 'plain') },
  { weight: 1, arbitrary: anyText },
);

/** Calls of one turn with ids that differ. */
export function anyCalls(callArguments: fc.Arbitrary<string> = anyArguments): fc.Arbitrary<EngineToolCall[]> {
  return fc.uniqueArray(
    fc.record({
      id: fc.oneof(
        fc.uuid().map((id) => `call_${id}`),
        fc.integer({ min: 0, max: 99 }).map((at) => `functions.f:${at}`),
      ),
      name: fc.constantFrom('f', 'Bash', 'mcp__server__tool'),
      arguments: callArguments,
    }),
    { maxLength: 3, selector: (call) => call.id },
  );
}

/** Reasoning is null or holds more than white space, as {@link EngineAnswer} says. */
const anyReasoning = fc.option(anyText.filter((text) => text.trim() !== ''));

export interface AnswerParts {
  readonly text?: fc.Arbitrary<string>;
  readonly callArguments?: fc.Arbitrary<string>;
}

export function anyAnswer({
  text = anyText,
  callArguments = anyArguments,
}: AnswerParts = {}): fc.Arbitrary<EngineAnswer> {
  return fc.record({
    id: fc.uuid().map((id) => `chatcmpl-${id}`),
    model: fc.constant('engine-model'),
    createdS: fc.constant(1_700_000_000),
    content: fc.option(text),
    reasoning: anyReasoning,
    refusal: fc
      .option(
        text.filter((words) => words !== ''),
        { freq: 10 },
      )
      .map((words) => words),
    toolCalls: anyCalls(callArguments),
    finishReason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
    usage: fc.option(
      fc.record({
        promptTokens: fc.nat(100_000),
        completionTokens: fc.nat(10_000),
        cachedTokens: fc.nat(100_000),
        reasoningTokens: fc.nat(1000),
      }),
    ),
  });
}
