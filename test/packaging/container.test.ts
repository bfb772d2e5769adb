import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { loadConfig } from '../../config/load.ts';
import { livenessUrl } from '../../scripts/healthcheck.mjs';

const root = join(import.meta.dirname, '..', '..');
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

type Instruction = { name: string; value: string };

/** The instructions with their continuation lines joined and comments left out. */
function instructions(text: string): Instruction[] {
  const lines = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  return lines.split('\n').flatMap((line) => {
    const match = /^([A-Z]+)\s+(.*)$/.exec(line);
    return match === null ? [] : [{ name: match[1]!, value: match[2]! }];
  });
}

function last(name: string): string {
  const found = instructions(dockerfile).findLast((instruction) => instruction.name === name);
  assert.ok(found, `the Dockerfile has ${name}`);
  return found.value;
}

/** The files and folders of the project that the Dockerfile copies. */
function copied(): string[] {
  return instructions(dockerfile)
    .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from'))
    .flatMap(({ value }) => value.split(/\s+/).slice(0, -1));
}

test('the Dockerfile is valid', () => {
  assert.deepEqual(
    validate(dockerfile).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`),
    [],
  );
});

test('the image runs as a numbered user that is not root, and keeps its ledger on a volume', () => {
  assert.equal(last('USER'), '10001:10001');
  assert.equal(last('VOLUME'), '/data');
  // The default ledger is ./data/ledger.db.
  assert.equal(last('WORKDIR'), '/');
  assert.equal(loadConfig().ledger.url, 'sqlite:./data/ledger.db');
});

test('every stage stands on the base image of the argument', () => {
  const all = instructions(dockerfile);
  assert.deepEqual(all[0], { name: 'ARG', value: 'NODE_IMAGE=node:24-bookworm-slim' });
  const bases = all.filter(({ name }) => name === 'FROM').map(({ value }) => value.split(' ')[0]);
  assert.equal(bases.length, 3);
  for (const base of bases) assert.match(base!, /^\$\{NODE_IMAGE\}$/);
});

test('the environment of the image is one that the proxy accepts', () => {
  const env = Object.fromEntries(
    last('ENV')
      .split(/\s+/)
      .map((pair) => pair.split('=') as [string, string]),
  );
  assert.equal(env.NODE_ENV, 'production');
  assert.equal(loadConfig({ env }).server.host, '0.0.0.0');
});

test('what the image copies exists and is not held back by .dockerignore', () => {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  assert.equal(rules[0], '*');
  const admitted = rules.slice(1).map((rule) => rule.replace(/^!/, ''));
  const missing = copied().filter((path) => !existsSync(join(root, path)));
  assert.deepEqual(missing, []);
  assert.deepEqual([...new Set(copied())].sort(), admitted.sort());
  for (const path of [
    ...last('HEALTHCHECK').matchAll(/\/app\/([^"]+)/g),
    ...last('ENTRYPOINT').matchAll(/\/app\/([^"]+)/g),
  ]) {
    assert.ok(
      copied().some((source) => path[1]!.startsWith(source)),
      `${path[1]} is in the image`,
    );
  }
});

test('the health check asks the port that serves health', () => {
  assert.match(last('HEALTHCHECK'), /CMD \["node", "\/app\/scripts\/healthcheck\.mjs"\]$/);
  assert.equal(livenessUrl({}), 'http://127.0.0.1:8080/health/live');
  assert.equal(livenessUrl({ GYM_PROXY_PORT: '9000' }), 'http://127.0.0.1:9000/health/live');
  assert.equal(
    livenessUrl({ GYM_PROXY_PORT: '9000', GYM_PROXY_CONTROL_PORT: '9001' }),
    'http://127.0.0.1:9001/health/live',
  );
  const file = { server: { host: '0.0.0.0', port: 9100 }, control: { port: 9101 } };
  assert.equal(livenessUrl({}, file), 'http://127.0.0.1:9101/health/live');
  assert.equal(livenessUrl({}, { server: { port: 9100 }, control: null }), 'http://127.0.0.1:9100/health/live');
  assert.equal(livenessUrl({ GYM_PROXY_CONTROL_PORT: '9001' }, file), 'http://127.0.0.1:9001/health/live');
  assert.equal(
    livenessUrl({}, { ...file, control: { host: '10.0.0.5', port: 9101 } }),
    'http://10.0.0.5:9101/health/live',
  );
  assert.equal(livenessUrl({ GYM_PROXY_HOST: '::1' }), 'http://[::1]:8080/health/live');
});

async function healthcheck(
  env: Record<string, string>,
  args: string[] = [],
): Promise<{ code: number; stderr: string }> {
  const script = join(root, 'scripts', 'healthcheck.mjs');
  const child: ChildProcess = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  let stderr = '';
  child.stderr!.on('data', (chunk) => {
    stderr += String(chunk);
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, stderr })));
}

async function listening(status: number): Promise<{ server: Server; port: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: String((server.address() as AddressInfo).port), asked };
}

test('the health check passes on 200, and fails on an error and on a closed port', async () => {
  const healthy = await listening(200);
  const sick = await listening(503);
  try {
    assert.deepEqual(await healthcheck({ GYM_PROXY_PORT: healthy.port }), { code: 0, stderr: '' });
    assert.deepEqual(healthy.asked, ['/health/live']);
    const config = join(mkdtempSync(join(tmpdir(), 'gym-proxy-health-')), 'proxy.yaml');
    writeFileSync(config, `server:\n  port: 9\ncontrol:\n  port: ${healthy.port}\n`);
    assert.deepEqual(await healthcheck({ GYM_PROXY_CONFIG: config }), { code: 0, stderr: '' });
    const url = `http://127.0.0.1:${sick.port}/v1/models`;
    assert.deepEqual(await healthcheck({}, [url]), { code: 1, stderr: `${url}: answered 503\n` });
  } finally {
    healthy.server.close();
    sick.server.close();
  }
  const refused = await healthcheck({ GYM_PROXY_PORT: healthy.port });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /ECONNREFUSED/);
});

type ComposeService = {
  environment?: Record<string, string>;
  command?: string[];
  ports?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
};

test('compose starts two proxies on one durable Redis, in front of the reference worker', () => {
  const compose = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true });
  const services = compose.services as Record<string, ComposeService>;
  assert.deepEqual(Object.keys(services), ['proxy-1', 'proxy-2', 'worker', 'redis']);
  assert.deepEqual(services.redis!.command, ['redis-server', '--appendonly', 'yes', '--appendfsync', 'always']);
  for (const name of ['proxy-1', 'proxy-2']) {
    const { environment, depends_on, read_only, cap_drop, stop_grace_period } = services[name]!;
    const { GYM_PROXY_CONTROL_TOKEN: token, ...env } = environment!;
    assert.match(token!, /^\$\{GYM_PROXY_CONTROL_TOKEN:\?/);
    const config = loadConfig({ env });
    assert.equal(config.ledger.url, 'redis://redis:6379');
    assert.deepEqual(config.workers, ['http://worker:8000']);
    assert.ok(Number.parseInt(stop_grace_period!, 10) > config.deadlines.drain_s);
    assert.deepEqual(Object.keys(depends_on!), ['redis', 'worker']);
    assert.deepEqual([read_only, cap_drop], [true, ['ALL']]);
  }
  assert.notDeepEqual(services['proxy-1']!.ports, services['proxy-2']!.ports);
});
