import fc from 'fast-check';
import { message, type WorldCall } from './trainer-world.ts';

/** A random attempt and what the agent returned of it. */
export interface RandomRollout {
  readonly calls: readonly WorldCall[];
  /** Accepted calls in the order of the returned history: closed under parents, otherwise any order. */
  readonly accepted: readonly string[];
  /** Per accepted call: whether its items keep their ids. */
  readonly keepsIds: readonly boolean[];
}

const tokens = fc.array(fc.nat(200_000), { minLength: 1, maxLength: 4 });
const logprob = fc.float({ min: -20, max: 0, noNaN: true });
const extras = fc.option(
  fc.record({
    n: fc.integer({ min: -1000, max: 1000 }),
    f: fc.constantFrom(0.5, 1.25),
    s: fc.string({ maxLength: 4 }),
    list: fc.array(fc.nat(9), { maxLength: 3 }),
  }),
  { freq: 3, nil: undefined },
);

const callShape = fc.record({
  parent: fc.nat(),
  prompt: tokens,
  generated: tokens,
  weight: fc.nat(9),
  items: fc.integer({ min: 1, max: 3 }),
  extras,
  accepted: fc.boolean(),
  order: fc.nat(),
  keepsIds: fc.boolean(),
});

/** Forests of up to 14 calls, with answers that differ, and a random accepted part of them. */
export const randomRollout: fc.Arbitrary<RandomRollout> = fc
  .array(callShape, { minLength: 1, maxLength: 14 })
  .chain((shapes) =>
    fc.tuple(
      fc.constant(shapes),
      fc.tuple(
        ...shapes.map((shape) =>
          fc.array(logprob, { minLength: shape.generated.length, maxLength: shape.generated.length }),
        ),
      ),
    ),
  )
  .map(([shapes, logprobs]) => {
    const calls = shapes.map((shape, at): WorldCall => {
      // One in three is a root; others continue an earlier call.
      const parent = at === 0 || shape.parent % 3 === 0 ? undefined : `c${shape.parent % at}`;
      return {
        id: `c${at}`,
        ...(parent === undefined ? {} : { parent }),
        prompt: shape.prompt,
        generated: shape.generated,
        logprobs: (logprobs[at] as number[]).map((value) => Math.fround(value) + 0),
        weight: shape.weight,
        output: Array.from({ length: shape.items }, (_, item) => message(`answer ${at}.${item}`, `msg_${at}_${item}`)),
        extras: shape.extras,
      };
    });
    const accepted = new Set<number>();
    for (const [at, shape] of shapes.entries()) {
      if (!shape.accepted && !(accepted.size === 0 && at === shapes.length - 1)) continue;
      for (let index: number | undefined = at; index !== undefined; index = parentIndex(calls[index] as WorldCall))
        accepted.add(index);
    }
    const ordered = [...accepted].sort((a, b) => (shapes[a]?.order as number) - (shapes[b]?.order as number));
    return {
      calls,
      accepted: ordered.map((at) => `c${at}`),
      keepsIds: ordered.map((at) => shapes[at]?.keepsIds as boolean),
    };
  });

function parentIndex(call: WorldCall): number | undefined {
  return call.parent === undefined ? undefined : Number(call.parent.slice(1));
}
