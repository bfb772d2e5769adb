import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configKeys } from '../../../config/describe.ts';
import { ConfigError, type ConfigSources, loadConfig } from '../../../config/load.ts';
import { ownerKeyOf } from '../../../config/schema.ts';

describe('configuration', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gym-config-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function file(text: string): string {
    const path = join(folder, 'config.yaml');
    writeFileSync(path, text);
    return path;
  }

  /** Messages of the fault, one per line. */
  function faults(sources: ConfigSources): string[] {
    try {
      loadConfig(sources);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.message.split('\n').slice(1);
    }
    return [];
  }

  test('nothing set gives the defaults', () => {
    const config = loadConfig();
    assert.deepEqual(config.server, { host: '127.0.0.1', port: 8080 });
    assert.deepEqual(config.control, { port: null, host: null, token: null });
    assert.deepEqual(config.workers, ['http://127.0.0.1:8000']);
    assert.equal(config.ledger.url, 'sqlite:./data/ledger.db');
    assert.deepEqual(config.replies, { keep_bytes: 64 * 1024 * 1024, keep_s: 900 });
    assert.deepEqual([config.deadlines.call_s, config.sse.keepalive_s, config.sse.grace_s], [3600, 15, 10]);
    assert.equal(ownerKeyOf(config), 'capture_key');
  });

  test('a fault of the file is told without the lines around it, which may hold secrets', () => {
    const path = file('control:\n  token: SECRETsecretSECRET12\n  token: SECRETsecretSECRET13\n');
    assert.deepEqual(faults({ file: path }), [`  - ${path}: Map keys must be unique at line 3, column 3`]);
  });

  test('a secret that YAML takes for something else is not shown', () => {
    const path = file('control:\n  token: *SECRETsecretSECRET12\n');
    const fault =
      'Unresolved alias (the anchor must be set before the alias) (put a value that begins with * into quotes)';
    assert.deepEqual(faults({ file: path }), [`  - ${path}: ${fault}`]);
    assert.deepEqual(faults({ env: { GYM_PROXY_WORKER_API_KEYS: '*SECRET1' } }), [
      `  - GYM_PROXY_WORKER_API_KEYS: ${fault}`,
    ]);
  });

  test('a section without keys is empty', () => {
    assert.equal(loadConfig({ file: file('server:\n  # port: 1\nlimits:\n') }).server.port, 8080);
  });

  test('a secret that is given twice is a fault: the order of variables says nothing', () => {
    const env = { GYM_PROXY_CONTROL_TOKEN: 'a'.repeat(16), GYM_PROXY_CONTROL_TOKEN_FILE: file('b'.repeat(16)) };
    const fault = ['  - GYM_PROXY_CONTROL_TOKEN_FILE: GYM_PROXY_CONTROL_TOKEN is set, too; which one is meant?'];
    assert.deepEqual(faults({ env }), fault);
    assert.deepEqual(faults({ env: Object.fromEntries(Object.entries(env).reverse()) }), fault);
  });

  test('a section that is none is a fault, also where the environment sets one of its keys', () => {
    const sources = { file: file('server: 8080\n'), env: { GYM_PROXY_PORT: '1' } };
    assert.deepEqual(faults(sources), ['  - server: Invalid input: expected object, received number']);
  });

  test('secrets lose the line break that files end with; what no header can carry is refused', () => {
    const token = 'token-of-sixteen-chars';
    const config = loadConfig({
      env: {
        GYM_PROXY_CONTROL_TOKEN: `${token}\n`,
        GYM_PROXY_WORKER_API_KEY: 'key\n',
        GYM_PROXY_WORKER_API_KEYS: '{"http://a/v1/": "one "}',
        GYM_PROXY_WORKERS: 'http://a',
        GYM_PROXY_AGENT_KEY_SECRET: `${token}${token}\n`,
      },
    });
    assert.deepEqual([config.control.token, config.worker.api_key], [token, 'key']);
    assert.deepEqual(config.worker.api_keys, { 'http://a': 'one' });
    assert.equal(config.agents.key_secret, token + token);
    for (const bad of ['two words of a token', 'töken-of-sixteen-chars']) {
      assert.deepEqual(faults({ flags: { 'control.token': bad } }), [
        '  - control.token (GYM_PROXY_CONTROL_TOKEN): holds a character that no header can carry as part of a key: only printable ASCII without spaces',
      ]);
    }
  });

  test('a control port that is the agents’ port is none of its own', () => {
    const port = (flags: Record<string, string>) => loadConfig({ flags }).control.port;
    assert.equal(port({ 'server.port': '90', 'control.port': '90' }), null);
    assert.equal(port({ 'server.port': '90', 'control.port': '90', 'control.host': '127.0.0.1' }), null);
    assert.equal(port({ 'server.port': '90', 'control.port': '90', 'control.host': '10.0.0.1' }), 90);
    assert.equal(port({ 'server.port': '90', 'control.port': '91' }), 91);
    assert.equal(port({ 'server.port': '0', 'control.port': '0' }), 0);
  });

  test('a key for a worker that there is not is a fault', () => {
    assert.deepEqual(faults({ flags: { workers: 'http://a', 'worker.api_keys': '{"http://b/": "x"}' } }), [
      '  - worker.api_keys: http://b is none of workers',
    ]);
  });

  test('times that no timer can have are faults; the values that a key can have are told', () => {
    const flags = {
      'deadlines.drain_s': '2592000',
      'worker.connect_s': '3000000',
      'worker.health_s': '3000000',
      'ledger.lease_s': '7000000',
    };
    assert.deepEqual(
      faults({ flags }).map((line) => line.replace(/^ {2}- (\S+) \(\S+\): /, '$1 ')),
      ['ledger.lease_s', 'worker.connect_s', 'worker.health_s', 'deadlines.drain_s'].map(
        (key) => `${key} Too big: expected number to be <=2000000`,
      ),
    );
    assert.deepEqual(faults({ flags: { 'capture.schema_version': '4' } }), [
      '  - capture.schema_version (GYM_PROXY_CAPTURE_SCHEMA_VERSION): Invalid option: expected one of 2|3',
    ]);
    assert.deepEqual(faults({ flags: { 'ledger.url': 'redis://h:port' } }), [
      '  - ledger.url (GYM_PROXY_LEDGER_URL): where host:port should stand is something else; in names and passwords @ : / and % are written %40 %3A %2F and %25',
    ]);
  });

  test('a variable that is named by the pattern of the others leads to the one that is meant', () => {
    assert.deepEqual(faults({ env: { GYM_PROXY_SERVER_PORT: '1', GYM_PROXY_SERVER_HOST: 'h' } }), [
      '  - unknown variable GYM_PROXY_SERVER_PORT; did you mean GYM_PROXY_PORT?',
      '  - unknown variable GYM_PROXY_SERVER_HOST; did you mean GYM_PROXY_HOST?',
    ]);
  });

  test('the file, then the environment, then flags: later ones win', () => {
    const sources = {
      file: file('server: { port: 1000, host: 10.0.0.1 }\nlog: { level: debug }\n'),
      env: { GYM_PROXY_PORT: '2000', GYM_PROXY_LOG_LEVEL: 'warn', HOME: '/root' },
    };
    const config = loadConfig({ ...sources, flags: { 'log.level': 'error' } });
    assert.deepEqual([config.server.host, config.server.port, config.log.level], ['10.0.0.1', 2000, 'error']);
    assert.equal(loadConfig({ ...sources, env: { GYM_PROXY_PORT: '' } }).server.port, 1000, 'empty is not set');
  });

  test('lists are separated by commas, objects are YAML or JSON, workers lose /v1', () => {
    const config = loadConfig({
      env: {
        GYM_PROXY_WORKERS: ' http://a:8000/v1 , http://b:8000/',
        GYM_PROXY_MODEL_ALIASES: '{"gpt": "policy"}',
        GYM_PROXY_SAMPLING_OVERRIDE: 'temperature: 1.0',
        GYM_PROXY_CAPTURE_SOURCE_MATCH: 'null',
      },
    });
    assert.deepEqual(config.workers, ['http://a:8000', 'http://b:8000']);
    assert.deepEqual(config.model.aliases, { gpt: 'policy' });
    assert.deepEqual(config.sampling.override, { temperature: 1 });
    assert.equal(config.capture.source_match, null);
    assert.deepEqual(loadConfig({ env: { GYM_PROXY_WORKERS: '["http://c"]' } }).workers, ['http://c']);
  });

  test('secrets are read from files, too, and only secrets', () => {
    const path = file('a-token-of-some-length\n');
    assert.equal(loadConfig({ env: { GYM_PROXY_CONTROL_TOKEN_FILE: path } }).control.token, 'a-token-of-some-length');
    assert.match(faults({ env: { GYM_PROXY_AGENT_KEY_SECRET_FILE: join(folder, 'none') } })[0] ?? '', /ENOENT/);
    assert.match(faults({ env: { GYM_PROXY_PORT_FILE: path } })[0] ?? '', /unknown variable GYM_PROXY_PORT_FILE/);
  });

  test('text that looks like a number or a boolean stays text where text is wanted', () => {
    assert.equal(loadConfig({ env: { GYM_PROXY_WORKER_API_KEY: '0123' } }).worker.api_key, '0123');
    assert.equal(loadConfig({ env: { GYM_PROXY_MODEL_OVERRIDE: 'true' } }).model.override, 'true');
    assert.equal(loadConfig({ env: { GYM_PROXY_MODEL_OVERRIDE: 'null' } }).model.override, null);
  });

  test('what is not known is an error that names the nearest known one; all faults are told at once', () => {
    const found = faults({
      file: file('server: { prot: 1 }\nledgr: {}\n'),
      env: { GYM_PROXY_LEDGER_URLS: 'x', GYM_PROXY_PORT: 'http' },
      flags: { 'log.levl': 'info' },
    });
    assert.deepEqual(
      found.map((line) => line.replace(/^ {2}- /, '')).sort(),
      [
        'server.port (GYM_PROXY_PORT): Invalid input: expected number, received string',
        'unknown key ledgr; did you mean ledger?',
        'unknown key log.levl; did you mean log.level?',
        'unknown key server.prot; did you mean server.port?',
        'unknown variable GYM_PROXY_LEDGER_URLS; did you mean GYM_PROXY_LEDGER_URL?',
      ].sort(),
    );
  });

  test('values are checked, and the message names key and variable, never a secret', () => {
    const cases: [env: Record<string, string>, message: RegExp][] = [
      [{ GYM_PROXY_CONTROL_TOKEN: 'short' }, /control\.token \(GYM_PROXY_CONTROL_TOKEN\): .*at least 16 characters/],
      [{ GYM_PROXY_WORKERS: 'vllm:8000' }, /workers\.0 \(GYM_PROXY_WORKERS\): expected an http/],
      [{ GYM_PROXY_LEDGER_URL: 'mysql://x' }, /ledger\.url \(GYM_PROXY_LEDGER_URL\): expected sqlite:PATH/],
      [{ GYM_PROXY_CAPTURE_SCHEMA_VERSION: '4' }, /capture\.schema_version \(GYM_PROXY_CAPTURE_SCHEMA_VERSION\)/],
      [{ GYM_PROXY_SAMPLING_OVERRIDE: '{' }, /GYM_PROXY_SAMPLING_OVERRIDE: /],
      [
        { GYM_PROXY_SAMPLING_OVERRIDE: '{"top_p":0.5,"logprobs":false}' },
        /sampling\.override\.logprobs \(GYM_PROXY_SAMPLING_OVERRIDE\): cannot be overridden: this service sets it itself/,
      ],
      [{ GYM_PROXY_SAMPLING_OVERRIDE: '{"model":"m"}' }, /override\.model .*use model\.override/],
      [{ GYM_PROXY_WORKERS: 'http://user:short@h:1' }, /workers\.0 .*holds a user or password/],
      [{ GYM_PROXY_WORKERS: 'http://h:1/v1?x=1' }, /workers\.0 .*has a query or fragment/],
      [{ GYM_PROXY_WORKERS: 'http://h:x' }, /workers\.0 .*is no URL/],
      [
        { GYM_PROXY_CAPTURE_SOURCE_MATCH: '{"name":"mode","exact":"a","empty_tool_content":"b"}' },
        /source_match\.name .*is the name of another member/,
      ],
    ];
    for (const [env, message] of cases) {
      const text = faults({ env }).join('\n');
      assert.match(text, message);
      assert.doesNotMatch(text, /short/);
    }
    assert.match(faults({ file: file('- a\n') })[0] ?? '', /expected a mapping/);
    assert.match(faults({ file: join(folder, 'absent.yaml') })[0] ?? '', /ENOENT/);
  });

  test('schema 2 calls the attempt rollout_id, unless it is told otherwise', () => {
    assert.equal(ownerKeyOf(loadConfig({ flags: { 'capture.schema_version': '2' } })), 'rollout_id');
    const flags = { 'capture.schema_version': '2', 'capture.owner_key': 'capture_key' };
    assert.equal(ownerKeyOf(loadConfig({ flags })), 'capture_key');
  });

  test('every key has a description, and a variable and a flag of its own', () => {
    const keys = configKeys();
    for (const name of ['path', 'env', 'flag'] as const)
      assert.equal(new Set(keys.map((key) => key[name])).size, keys.length);
    for (const key of keys) assert.ok(key.description.length > 10, key.path);
    const one = keys.find(({ path }) => path === 'ledger.commit_retry_s');
    assert.deepEqual([one?.env, one?.flag], ['GYM_PROXY_LEDGER_COMMIT_RETRY_S', '--ledger-commit-retry-s']);
  });
});
