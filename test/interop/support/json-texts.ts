import fc from 'fast-check';

/** JSON as text, so that spellings, duplicates and escapes that no parsed value shows are among it. */

const NUMBERS = [
  ...[
    '0',
    '-0',
    '0.0',
    '-0.0',
    '1',
    '-1',
    '1.0',
    '1.50',
    '0.1',
    '1e5',
    '1E+5',
    '1e-7',
    '0.00001',
    '0.0001',
    '123456789.125',
  ],
  ...['1e15', '1e16', '1e17', '1e22', '123456789012345680.0', '5e-324', '1.7976931348623157e308', '2.5e-8', '100e-2'],
  ...['9007199254740993', '9223372036854775807', '-9223372036854775808', '9223372036854775808', '18446744073709551615'],
  ...['18446744073709551616', '-9223372036854775809', '1e400', '-1e400'],
];
const STRINGS = [
  ...[
    '""',
    '" "',
    '"a"',
    '"text"',
    '"\\u0000"',
    '"\\n\\t\\r\\b\\f"',
    '"\\/"',
    '"é"',
    '"\\u00e9"',
    '"日本"',
    '"\\u2028"',
    '"😀"',
  ],
  ...[
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\\udc00x"',
    '"\\u007f"',
    '"</script>"',
    '"\\"\\\\"',
    '"  padded  "',
    '"null"',
    '"{}"',
  ],
];

export const numberText = fc.oneof(
  fc.constantFrom(...NUMBERS),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? '-0.0' : String(value))),
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
);
export const stringText = fc.oneof(
  fc.constantFrom(...STRINGS),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
);
const literalText = fc.constantFrom('null', 'true', 'false');
const keyText = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"A"', '"é"', '"😀"', '"\\u0061"', '""', '"10"', '"9"'),
  stringText,
);

export function objectText(members: readonly (readonly [key: string, json: string])[]): string {
  return `{${members.map(([key, json]) => `${key}:${json}`).join(',')}}`;
}
export const arrayText = (parts: readonly string[]) => `[${parts.join(',')}]`;

function jsonOf(strings: fc.Arbitrary<string>, keys: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.oneof(numberText, strings, literalText),
      fc.array(fc.tuple(keys, tie('value')), { maxLength: 4 }).map(objectText),
      fc.array(tie('value'), { maxLength: 4 }).map(arrayText),
    ),
  })).value;
}

/** Any JSON text, duplicate members included. */
export const anyJson: fc.Arbitrary<string> = jsonOf(stringText, keyText);

/** JSON whose strings are printable ASCII: what Python's `str()` writes of others changes with its version's Unicode tables. */
export const asciiJson: fc.Arbitrary<string> = (() => {
  const ascii = fc.string({ unit: 'grapheme-ascii', maxLength: 12 }).map((text) => JSON.stringify(text));
  return jsonOf(ascii, ascii);
})();

/** An object with some of these members, in any order, one of them perhaps twice. */
export function someOf(members: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> {
  const one = fc.oneof(
    ...Object.entries(members).map(([key, value]) => value.map((json) => [JSON.stringify(key), json] as const)),
  );
  return fc
    .uniqueArray(one, { selector: ([key]) => key, maxLength: Object.keys(members).length })
    .chain((list) =>
      list.length === 0
        ? fc.constant('{}')
        : fc.oneof(
            { weight: 9, arbitrary: fc.constant(objectText(list)) },
            { weight: 1, arbitrary: one.map((again) => objectText([...list, again])) },
          ),
    );
}
