import { readFileSync } from 'node:fs';
import type { RolloutOutcome } from '../../src/trainer/index.ts';
import { answer, buildWorld, runWorld, type World } from './trainer-world.ts';

interface VectorRow {
  readonly model_call_id: string;
  readonly parent_call_id: string | null;
  readonly token_ids_delta: readonly number[];
  readonly staging_key: string;
  readonly digest_schema_3: string;
  readonly [field: string]: unknown;
}

/** The worked example of protocol section 12, its staged calls straight from the vectors: five calls, the fourth rejected. */
export interface WorkedExample {
  readonly world: World;
  readonly result: {
    readonly response: { readonly id: string; readonly output: readonly unknown[] };
    readonly reward: number;
  };
  run(): Promise<RolloutOutcome>;
}

export function workedExample(): WorkedExample {
  const path = new URL('../vectors/vectors.json', import.meta.url);
  const { rows } = (JSON.parse(readFileSync(path, 'utf8')) as { worked_example: { rows: readonly VectorRow[] } })
    .worked_example;
  const world = buildWorld(
    rows.map(({ model_call_id: id, parent_call_id: parent, token_ids_delta: delta }) => ({
      id,
      ...(parent === null ? {} : { parent }),
      prompt: delta.slice(0, 2),
      generated: delta.slice(2),
      output: answer(id),
    })),
  );
  // The tokens, hashes and digests are those of the vectors, not what the builder computed.
  for (const row of rows) {
    const { digest_schema_3: digest, digest_schema_2: _, ...fields } = row;
    world.staged.set(row.staging_key, { ...fields, digest });
    const record = world.ledger.manifest.records.find((one) => one.model_call_id === row.model_call_id) as object;
    const { chain_hash, cumulative_hash, extras_digest } = row;
    Object.assign(record, { digest, chain_hash, cumulative_hash, extras_digest });
  }
  const output = ['c1', 'c2', 'c3', 'c5'].flatMap(answer);
  const result = { response: { id: 'resp_c5', output }, reward: 1 };
  return { world, result, run: () => runWorld(world, { result }) };
}
