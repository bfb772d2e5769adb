import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Version of this package, from the nearest package.json above: the source and the built form lie at different depths. */
export function packageVersion(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  }
  throw new Error('package.json was not found');
}
