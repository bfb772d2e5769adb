import fc from 'fast-check';
import type { StagedCall } from '../../../src/lineage/staged-digests.ts';

/** A sound staged call, with what its hashes are made of. */
export interface StagedCallSample {
  readonly call: Omit<StagedCall, 'schemaVersion'> & { readonly tokenIds: number[]; readonly logProbs: number[] };
  readonly parentChainHash: string | null;
  /** All tokens of the call, its ancestors' first. */
  readonly tokenIds: number[];
}

const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const token = fc.oneof(fc.nat(200_000), fc.nat(2 ** 31 - 1), fc.maxSafeNat());
const logProb = fc.oneof(
  fc.constantFrom(0, -0, -1e-45, -0.25, -1e30),
  fc.float({ max: 0, noNaN: true, noDefaultInfinity: true }),
);

export const stagedCalls: fc.Arbitrary<StagedCallSample> = fc
  .record({
    owner: id,
    modelCallId: id,
    parent: fc.option(fc.record({ id, chain: hash, tokens: fc.array(token, { minLength: 1, maxLength: 20 }) })),
    weightVersion: fc.maxSafeNat(),
    carried: fc.array(token, { maxLength: 10 }),
    generated: fc.array(fc.tuple(token, logProb), { minLength: 1, maxLength: 10 }),
    extrasDigest: hash,
    chainHash: hash,
    cumulativeHash: hash,
  })
  .map(({ owner, modelCallId, parent, weightVersion, carried, generated, ...hashes }) => {
    const tokenIds = [...carried, ...generated.map(([one]) => one)];
    const prevLen = parent?.tokens.length ?? 0;
    return {
      parentChainHash: parent?.chain ?? null,
      tokenIds: [...(parent?.tokens ?? []), ...tokenIds],
      call: {
        owner,
        modelCallId,
        parentCallId: parent?.id ?? null,
        mode: parent === null ? 'text' : 'token_in',
        prevLen,
        deltaLen: tokenIds.length,
        cumLen: prevLen + tokenIds.length,
        weightVersion,
        tokenIds,
        tokenMask: [...carried.map(() => 0), ...generated.map(() => 1)],
        logProbs: [...carried.map(() => 0), ...generated.map(([, value]) => value)],
        ...hashes,
      },
    };
  });
