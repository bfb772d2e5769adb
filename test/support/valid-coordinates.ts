import assert from 'node:assert/strict';
import { type Coordinates, coordinatesReader, type OwnerKey } from '../../src/protocol/wire/coordinates.ts';

/** Coordinates that must be of the wire form. */
export function validCoordinates(
  value: unknown,
  schemaVersion: 2 | 3 = 3,
  ownerKey: OwnerKey = 'capture_key',
): Coordinates {
  const read = coordinatesReader(schemaVersion, ownerKey)(value);
  if ('problem' in read) assert.fail(read.problem);
  return read;
}
