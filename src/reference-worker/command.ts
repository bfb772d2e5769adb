import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { scriptUpdate } from './model.ts';
import type { ReferenceWorkerOptions } from './options.ts';
import { type RunningReferenceWorker, startReferenceWorker } from './reference-worker.ts';

const vocabulary = z.record(z.string(), z.array(z.int().nonnegative()));

/** Options of `gym-model-proxy worker`: those of the worker, and files in place of what is too long for a command line. */
export interface WorkerCommandOptions extends Omit<ReferenceWorkerOptions, 'script' | 'vocabulary' | 'nowS' | 'newId'> {
  /** JSON or YAML of what `POST /control/script` takes. */
  readonly scriptFile?: string | null | undefined;
  /** JSON or YAML object: text to token ids. */
  readonly vocabularyFile?: string | null | undefined;
}

/**
 * Starts the reference worker of the command line. The caller says where it listens and closes it on a signal. Rejects with a message for the operator
 * when a file cannot be read or the address is taken.
 */
export async function runReferenceWorker(options: WorkerCommandOptions): Promise<RunningReferenceWorker> {
  const { scriptFile, vocabularyFile, ...worker } = options;
  return startReferenceWorker({
    ...worker,
    script: scriptFile == null ? undefined : readInput(scriptFile, scriptUpdate),
    vocabulary: vocabularyFile == null ? undefined : readInput(vocabularyFile, vocabulary),
  });
}

function readInput<T>(path: string, schema: z.ZodType<T>): T {
  const text = readFileSync(path, 'utf8');
  const value: unknown = ['.yaml', '.yml'].includes(extname(path)) ? parseYaml(text) : JSON.parse(text);
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
