import { z } from 'zod';

/** Primitive types of the wire (protocol section 4). */

export const id = z.string().min(1);
/** U: an integer from 0 to below 2^53. */
export const unsigned = z.int().nonnegative();
export function isUnsigned(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
/** Hex: 64 lowercase hex digits. */
export const HEX64_PATTERN = /^[0-9a-f]{64}$/;
export const hex64 = z.string().regex(HEX64_PATTERN, 'expected 64 lowercase hex digits');
/** `<attempt>` in URLs (section 2). */
export const ATTEMPT_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,255}$/;
/** `model_call_id`: 32 lowercase hex digits of a UUID. */
export const CALL_ID_PATTERN = /^[0-9a-f]{32}$/;

/** `<capture_key>/<model_call_id>`, the key of a staged call in TransferQueue. */
export function stagingKey(attempt: string, callId: string): string {
  return `${attempt}/${callId}`;
}
