import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { findHelm } from './helm-binary.ts';

const CHART = join(import.meta.dirname, '..', '..', 'helm', 'gym-model-proxy');

type HelmResult = { code: number; stdout: string; stderr: string };

/** A rendered object. Deep access is what its tests are about, so its members are left open. */
export type Manifest = {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  [key: string]: unknown;
};

/** Runs helm with `values` as a values file on standard input. */
async function helm(args: string[], values: unknown): Promise<HelmResult> {
  const program = await findHelm();
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...args, '--values', '-'], (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
    child.stdin!.end(stringify(values));
  });
}

/** `helm lint --strict` */
export function lintChart(values: unknown): Promise<HelmResult> {
  return helm(['lint', '--strict', CHART], values);
}

/** The objects that `helm template` renders for a release named `train` in the namespace `rl`, by kind and name. */
export async function renderChart(values: unknown): Promise<Map<string, Manifest>> {
  const { code, stdout, stderr } = await helm(['template', 'train', CHART, '--namespace', 'rl'], values);
  if (code !== 0) throw new Error(stderr);
  const manifests = parseAllDocuments(stdout).map((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    return document.toJS() as Manifest;
  });
  return new Map(manifests.map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest]));
}
