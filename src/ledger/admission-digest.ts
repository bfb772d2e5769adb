import { hash } from 'node:crypto';
import type { AdmitRequest, Boundary } from './ledger.ts';

/** What a call id was admitted for, in 32 hex digits: the same id for anything else is a defect (`duplicate_call`). */
export function admissionDigest(request: AdmitRequest): string {
  const { boundary, namedParent, resend, admittedAtS } = request;
  const parent = namedParent === undefined ? 0 : namedParent;
  const texts = JSON.stringify([parent, resend?.idempotencyKey]);
  const parts = `${admittedAtS} ${resend?.requestDigest} ${texts} ${boundary && boundaryText(boundary)}`;
  return hash('sha256', parts).slice(0, 32);
}

function boundaryText(it: Boundary): string {
  const lists = JSON.stringify([it.echoedIds, it.reasoning]);
  return `${it.itemCount} ${it.sourceDigest} ${it.emptyToolContentDigest} ${it.renderDigest} ${lists}`;
}
