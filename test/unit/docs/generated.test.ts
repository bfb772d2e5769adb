import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configKeys } from '../../../config/describe.ts';
import { errorsDoc } from '../../../scripts/docs/errors-doc.ts';
import { metricsDoc } from '../../../scripts/docs/metrics-doc.ts';
import { withConfigTable } from '../../../scripts/docs/readme.ts';
import { withConfigSchema } from '../../../scripts/docs/values-schema.ts';
import { generatedFiles, staleFiles } from '../../../scripts/generate-docs.ts';
import { CATALOGUE } from '../../../src/errors.ts';
import { FAILURE_REASONS } from '../../../src/protocol/wire/ledger.ts';

test('what is generated of the documentation is as it should be (else run: node scripts/generate-docs.ts)', async () => {
  assert.deepEqual(await staleFiles(), []);
  assert.deepEqual(
    (await generatedFiles()).map(({ path }) => path),
    [
      'README.md',
      'docs/errors.md',
      'docs/metrics.md',
      'docs/compatibility.md',
      'docs/openapi.json',
      'helm/gym-model-proxy/values.schema.json',
    ],
  );
});

const BEGIN = '<!-- configuration table: begin (made by scripts/generate-docs.ts) -->';
const END = '<!-- configuration table: end -->';

test('the table of the README replaces what stands between its marks, and nothing else', () => {
  const made = withConfigTable(`head\n${BEGIN}\nstale text\n${END}\ntail\n`);
  assert.ok(made.startsWith(`head\n${BEGIN}\n\n| key | environment | default | meaning |\n`));
  assert.ok(made.endsWith(`|\n\n${END}\ntail\n`));
  assert.ok(!made.includes('stale text'));
  assert.equal(withConfigTable(made), made);
  assert.throws(() => withConfigTable('no marks'), /lacks the marks/);
});

test('every configuration key has a row with its variable, its default and its allowed values', () => {
  const rows = withConfigTable(`${BEGIN}${END}`)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  assert.equal(rows.length, configKeys().length);
  const row = (path: string) => rows.find((line) => line.startsWith(`| \`${path}\` |`));
  assert.equal(
    row('server.port'),
    "| `server.port` | `GYM_PROXY_PORT` | `8080` | the agents' port; 0 takes a free one |",
  );
  assert.match(
    row('control.token') ?? '',
    /^\| `control\.token` \| `GYM_PROXY_CONTROL_TOKEN`, `\.\.\._FILE` \| none \| /,
  );
  assert.match(row('requests.chat_template') ?? '', / \(`refuse`, `allow`\) \|$/);
});

test('every error code and every failure reason has a row', () => {
  const text = errorsDoc();
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  assert.equal(rows.length, Object.keys(CATALOGUE).length + FAILURE_REASONS.length);
  assert.ok(rows.some((line) => line.startsWith('| `worker_unreachable` | 503 | yes | ')));
  assert.ok(rows.some((line) => line.startsWith('| `attempt_closed` | 410 | no | ')));
  for (const reason of FAILURE_REASONS) assert.ok(text.includes(`| \`${reason}\` | `), reason);
});

test('every metric has a row with its labels', async () => {
  const text = await metricsDoc();
  assert.match(text, /\| `gym_proxy_calls_total` \| counter \| `dialect`, `captured`, `outcome` \| Finished calls \|/);
  assert.match(text, /\| `gym_proxy_pending_calls` \| gauge \| {2}\| /);
  assert.match(text, /\| `outcome` \| `ok`/);
  assert.match(text, /`nodejs_eventloop_lag_seconds`/);
});

test("the chart's schema takes the configuration as the program does", () => {
  const made = JSON.parse(withConfigSchema('{"title":"kept","properties":{"replicas":{},"config":{"type":"object"}}}'));
  assert.deepEqual([made.title, made.properties.replicas], ['kept', {}]);
  const { config } = made.properties;
  assert.equal(config.additionalProperties, false);
  assert.deepEqual([...new Set(configKeys().map(({ path }) => path.split('.')[0]))], Object.keys(config.properties));
  // The chart's default is an empty list, which it refuses with a message of its own.
  assert.equal(config.properties.workers.minItems, undefined);
  assert.deepEqual(config.properties.log.properties.level.enum, [
    'fatal',
    'error',
    'warn',
    'info',
    'debug',
    'trace',
    'silent',
  ]);
  assert.equal(config.properties.log.additionalProperties, false);
  assert.doesNotMatch(JSON.stringify(config), /\$ref|"secret"|"env"|"list"/);
});
