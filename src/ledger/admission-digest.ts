import { hash } from 'node:crypto';
import type { AdmitRequest } from './ledger.ts';

/** What a call id was admitted for, in 32 hex digits: the same id for anything else is a defect (`duplicate_call`). */
export function admissionDigest(request: AdmitRequest): string {
  const { boundary, namedParent, resend, admittedAtS } = request;
  const parent = namedParent === undefined ? 0 : namedParent;
  return hash('sha256', JSON.stringify([admittedAtS, parent, boundary, resend])).slice(0, 32);
}
