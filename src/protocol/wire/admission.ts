import { z } from 'zod';
import type { OwnerKey } from './coordinates.ts';
import { hex64, id, unsigned } from './primitives.ts';
import { replaySummary, requestReplay } from './replay.ts';

/** `ng_capture`, proxy to worker (protocol sections 4 and 13). The reference worker validates with these; the proxy writes them. */

const shared = {
  model_call_id: id,
  parent_call_id: id.nullable(),
  prev_len: unsigned,
  parent_chain_hash: hex64.nullable(),
  staging_chain: z.array(id),
  required_prefix_token_ids: z.array(z.int()).max(0),
};

/** Name of the statement whether a candidate needed the null/empty equivalence, its two values; null where workers predate it. */
export interface SourceMatchSpelling {
  readonly name: string;
  readonly exact: string;
  readonly emptyToolContent: string;
}

export const DEFAULT_SOURCE_MATCH: SourceMatchSpelling = {
  name: 'source_match',
  exact: 'exact',
  emptyToolContent: 'empty_tool_content',
};

/** CaptureAdmission of schema 3. `statement` null: the statement is left out. */
export function admissionSchemaV3(ownerKey: OwnerKey, statement: SourceMatchSpelling | null) {
  return z.strictObject({
    schema_version: z.literal(3),
    [ownerKey]: id,
    mode: z.literal('candidate'),
    ...shared,
    request_replay: requestReplay.nullable(),
    candidate_replay: replaySummary.nullable(),
    ...(statement === null
      ? {}
      : { [statement.name]: z.enum([statement.exact, statement.emptyToolContent]).nullable().optional() }),
  });
}

/** CaptureAdmission of schema 2: the proxy decides, the worker obeys. */
export function admissionSchemaV2(ownerKey: OwnerKey) {
  return z.strictObject({
    schema_version: z.literal(2),
    [ownerKey]: id,
    mode: z.enum(['text', 'token_in']),
    ...shared,
  });
}
