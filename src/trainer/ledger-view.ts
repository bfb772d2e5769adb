import type { z } from 'zod';
import type { OwnerKey } from '../protocol/wire/coordinates.ts';
import {
  type CallRecord,
  type FailureRow,
  ledgerSchema,
  manifestSchemaV2,
  manifestSchemaV3,
  type WhyRoot,
} from '../protocol/wire/ledger.ts';
import { type Checked, ok, reason, refused } from './reasons.ts';

/** A ledger as the trainer reads it (protocol section 7), checked for shape and nothing else. Records stand in commit order. */
export interface LedgerView {
  readonly attempt: string;
  readonly schemaVersion: 2 | 3;
  /** `unknown`: a bare manifest, as the peers' path serves it, does not say. */
  readonly state: 'open' | 'closed' | 'unknown';
  readonly records: readonly CallRecord[];
  readonly failures: readonly FailureRow[];
  /** In order of admission; null where the manifest has no such list (schema 2, bare manifest). */
  readonly attemptedCallIds: readonly string[] | null;
  readonly pendingCallIds: readonly string[];
  readonly refusedCalls: readonly { readonly model_call_id: string; readonly code: string }[];
  readonly whyRoot: Readonly<Record<string, WhyRoot>>;
}

interface Manifest {
  readonly records: readonly CallRecord[];
  readonly failures: readonly FailureRow[];
  readonly attempted_call_ids?: readonly string[];
  readonly pending_call_ids?: readonly string[];
}

interface Envelope {
  readonly attempt: string;
  readonly state: 'open' | 'closed';
  readonly manifest: Manifest;
  readonly attempted_call_ids?: readonly string[];
  readonly pending_call_ids?: readonly string[];
  readonly refused: readonly { readonly model_call_id: string; readonly code: string }[];
  readonly why_root: Readonly<Record<string, WhyRoot>>;
}

/**
 * Reads `GET /ledger/<attempt>` (or a bare manifest of the peers' path) from parsed JSON. Schema 2 and 3, both spellings of the owner. Anything
 * else is `ledger_malformed`, naming the field; a manifest of another attempt than the envelope's is `foreign_owner`.
 */
export function readLedgerView(json: unknown): Checked<LedgerView> {
  if (!isObject(json)) return malformed('it is no JSON object');
  const bare = json.records !== undefined;
  const manifest = bare ? json : json.manifest;
  if (!isObject(manifest)) return malformed('it has neither records nor a manifest');
  const version = manifest.schema_version;
  if (version !== 2 && version !== 3)
    return malformed(`schema_version is ${JSON.stringify(version) ?? 'missing'}, not 2 or 3`);
  const ownerKey: OwnerKey = manifest.rollout_id !== undefined ? 'rollout_id' : 'capture_key';

  if (bare) {
    const parsed = (version === 3 ? manifestSchemaV3(ownerKey) : manifestSchemaV2(ownerKey)).safeParse(json);
    if (!parsed.success) return malformed(firstIssue(parsed.error));
    const data = parsed.data as unknown as Manifest & Readonly<Record<OwnerKey, string>>;
    return checkUnique({
      ...fromManifest(data, data[ownerKey], version),
      state: 'unknown',
      refusedCalls: [],
      whyRoot: {},
    });
  }
  const parsed = ledgerSchema(version, ownerKey).safeParse(json);
  if (!parsed.success) return malformed(firstIssue(parsed.error));
  const envelope = parsed.data as unknown as Envelope;
  const owner = manifest[ownerKey] as string;
  if (owner !== envelope.attempt) {
    return refused(reason('foreign_owner', `the ledger of attempt ${envelope.attempt} holds the manifest of ${owner}`));
  }
  const lists = { ...envelope.manifest, ...listsOf(envelope) };
  return checkUnique({
    ...fromManifest(lists, owner, version),
    state: envelope.state,
    refusedCalls: envelope.refused,
    whyRoot: envelope.why_root,
  });
}

function listsOf(envelope: Envelope): Pick<Manifest, 'attempted_call_ids' | 'pending_call_ids'> {
  return {
    ...(envelope.attempted_call_ids === undefined ? {} : { attempted_call_ids: envelope.attempted_call_ids }),
    ...(envelope.pending_call_ids === undefined ? {} : { pending_call_ids: envelope.pending_call_ids }),
  };
}

function fromManifest(manifest: Manifest, attempt: string, schemaVersion: 2 | 3) {
  return {
    attempt,
    schemaVersion,
    records: manifest.records,
    failures: manifest.failures,
    attemptedCallIds: manifest.attempted_call_ids ?? null,
    pendingCallIds: manifest.pending_call_ids ?? [],
  };
}

function checkUnique(view: LedgerView): Checked<LedgerView> {
  const seen = new Set<string>();
  for (const { model_call_id: callId } of view.records) {
    if (seen.has(callId)) return malformed(`call ${callId} has two records`);
    seen.add(callId);
  }
  return ok(view);
}

function malformed(why: string) {
  return refused(reason('ledger_malformed', `the ledger cannot be used: ${why}`));
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'it does not fit the schema';
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
