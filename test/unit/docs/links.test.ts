import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { configKeys } from '../../../config/describe.ts';
import { buildMetrics } from '../../../src/metrics.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const PAGES = globSync(['*.md', 'docs/**/*.md'], { cwd: root });

const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** Without code, which holds brackets and names of its own. */
const prose = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchor that a heading gets where the pages are read. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchorsOf(path: string): string[] {
  const text = read(path).replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading as string));
}

test('anchors are made as the usual readers of Markdown make them', () => {
  assert.equal(anchorOf("An attempt's life"), 'an-attempts-life');
  assert.equal(anchorOf('Responses (`/v1/responses`)'), 'responses-v1responses');
});

test('every link inside the documentation leads to a file, and to a heading of it', () => {
  const broken: string[] = [];
  for (const page of PAGES) {
    for (const [, target] of prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = '', anchor] = (target as string).split('#');
      if (/^https?:/.test(path)) continue;
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, file))) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor))
        broken.push(`${page}: ${target} (no such heading)`);
    }
  }
  assert.deepEqual(broken, []);
});

test('the README names every page of docs/', () => {
  const readme = read('README.md');
  const missing = globSync('docs/*.{md,json}', { cwd: root }).filter((path) => !readme.includes(`](${path})`));
  assert.deepEqual(missing, []);
});

test('every decision stands in the list of decisions', () => {
  const list = read('docs/decisions/README.md');
  const notes = globSync('docs/decisions/2*.md', { cwd: root }).map((path) => path.slice('docs/decisions/'.length));
  assert.ok(notes.length > 0);
  assert.deepEqual(
    notes.filter((note) => !list.includes(`](${note})`) || !/^\d{4}-\d{2}-\d{2}-[a-z0-9-]+\.md$/.test(note)),
    [],
  );
});

test('metrics, variables and keys that the guides name exist', async () => {
  const gauges = { openAttempts: 0, pendingCalls: 0, keptReplyBytes: 0, oldestPendingS: null };
  const { registry } = buildMetrics(
    () => Promise.resolve(gauges),
    () => 0,
  );
  const metrics = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
  const keys = configKeys();
  const sections = new Set(keys.map(({ path }) => path.split('.')[0]));
  const paths = new Set(keys.map(({ path }) => path));
  const variables = new Set(
    keys
      .flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env]))
      .concat('GYM_PROXY_CONFIG', 'GYM_PROXY_URL'),
  );
  const unknown: string[] = [];
  // The tables of request fields hold names of the dialects.
  for (const page of PAGES.filter((path) => path !== 'docs/compatibility.md')) {
    const text = read(page);
    const named = (pattern: RegExp, isKnown: (name: string) => boolean) => {
      for (const [name] of text.matchAll(pattern)) if (!isKnown(name)) unknown.push(`${page}: ${name}`);
    };
    named(/\bgym_proxy_[a-z_]+/g, (name) => metrics.has(name.replace(/_bucket$/, '')));
    named(/\bGYM_PROXY_[A-Z_]+[A-Z]/g, (name) => variables.has(name));
    named(
      /(?<=`)[a-z]+\.[a-z_]+(?=[`:])/g,
      (name) => paths.has(name) || !sections.has(name.split('.')[0] as string) || /\.(db|ts|md|json|yaml)$/.test(name),
    );
  }
  assert.deepEqual(unknown, []);
});
