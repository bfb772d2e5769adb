import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrainingRow } from '../../src/trainer/index.ts';
import { type RowsIo, runRows } from '../../src/trainer/rows-command.ts';
import type { RowsOptions } from '../../src/trainer/rows-run/rows-options.ts';
import type { World } from './trainer-world.ts';

/** A temporary folder with ledgers, results and staged records, in which the rows command is run. */
export class RowsFolder {
  readonly folder = mkdtempSync(join(tmpdir(), 'rows-command-'));

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes JSON, or a text as it is. Gives the path. */
  write(name: string, json: unknown): string {
    writeFileSync(this.path(name), typeof json === 'string' ? json : JSON.stringify(json));
    return this.path(name);
  }

  save(name: string, world: World, result: object): void {
    this.write(`${name}.ledger.json`, world.ledger);
    this.write(`${name}.result.json`, result);
    this.write(
      `${name}.staged.jsonl`,
      [...world.staged.values()].map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
  }

  /** The options for what was saved under a name. */
  files(name: string): RowsOptions {
    const { ledger, staged, result } = this.member(name);
    return { ledger: this.path(ledger), staged: this.path(staged), result: this.path(result) };
  }

  /** The same for a group file in the same folder. */
  member(name: string) {
    return { ledger: `${name}.ledger.json`, staged: `${name}.staged.jsonl`, result: `${name}.result.json` };
  }

  async run(
    options: RowsOptions,
    fetch?: typeof globalThis.fetch,
  ): Promise<{ exit: number; out: string; warned: string }> {
    let out = '';
    let warned = '';
    const io: RowsIo = {
      print: (text) => {
        out += Buffer.from(text as string).toString();
        return Promise.resolve();
      },
      warn: (text) => {
        warned += text;
      },
      directory: this.folder,
      fetch,
    };
    return { exit: await runRows(options, io), out, warned };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function rowsIn(text: string): TrainingRow[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as TrainingRow);
}
