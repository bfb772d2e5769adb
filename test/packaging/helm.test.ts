import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadConfig } from '../../config/load.ts';
import { buildMetrics } from '../../src/metrics.ts';
import { lintChart, type Manifest, renderChart } from '../support/helm-chart.ts';

const root = join(import.meta.dirname, '..', '..');
const NAME = 'train-gym-model-proxy';

/** The least that the chart asks for. */
const MINIMAL = {
  controlToken: { existingSecret: 'control' },
  config: { workers: ['http://vllm-0:8000', 'http://vllm-1:8000/v1'] },
};

/** Every option on, with a Redis ledger. */
const FULL = {
  replicas: 3,
  image: { repository: 'registry.example/proxy', digest: `sha256:${'a'.repeat(64)}` },
  config: {
    workers: ['http://vllm:8000'],
    ledger: { url: 'redis+sentinel://s-0:26379,s-1:26379/ledger' },
    deadlines: { drain_s: 900.5 },
    server: { port: 9000 },
    control: { port: 9001 },
    capture: { schema_version: 2 },
  },
  controlToken: { value: 'a-control-token-of-some-length' },
  agentKeySecret: { existingSecret: 'agents', key: 'hmac' },
  workerApiKey: { value: 'sk-worker' },
  service: { type: 'LoadBalancer', port: 80, annotations: { 'example.org/scheme': 'internal' } },
  controlService: { port: 81 },
  autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 9 },
  networkPolicy: {
    enabled: true,
    agents: [{ namespaceSelector: { matchLabels: { role: 'sandboxes' } } }],
    control: [{ podSelector: { matchLabels: { app: 'trainer' } } }],
    egress: [{ ports: [{ port: 6379 }] }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, extraRules: [{ alert: 'Mine', expr: 'vector(1)' }] },
  podLabels: { team: 'rl' },
  extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/certificates/ca.pem' }],
  extraVolumes: [{ name: 'certificates', secret: { secretName: 'ca' } }],
  extraVolumeMounts: [{ name: 'certificates', mountPath: '/certificates', readOnly: true }],
};

type Pod = {
  containers: Array<{
    image: string;
    args: string[];
    env: Array<{ name: string; value?: string; valueFrom?: unknown }>;
    ports: Array<{ name: string; containerPort: number }>;
    startupProbe: { httpGet: unknown };
    livenessProbe: { httpGet: unknown };
    readinessProbe: { httpGet: unknown };
    securityContext: unknown;
    volumeMounts: Array<{ name: string; mountPath: string; readOnly?: boolean }>;
  }>;
  volumes: Array<Record<string, unknown>>;
  [key: string]: unknown;
};

type Deployment = {
  replicas?: number;
  strategy: { type: string };
  template: { metadata: Manifest['metadata']; spec: Pod };
};

function get(chart: Map<string, Manifest>, id: string): Manifest {
  const manifest = chart.get(id);
  assert.ok(manifest, `${id} is rendered; there are ${[...chart.keys()].join(', ')}`);
  return manifest;
}

function deployment(chart: Map<string, Manifest>): Deployment {
  return get(chart, `Deployment/${NAME}`).spec as Deployment;
}

function container(chart: Map<string, Manifest>): Pod['containers'][0] {
  return deployment(chart).template.spec.containers[0]!;
}

test('helm lint finds nothing, with the default, the least and all values', async () => {
  for (const values of [{}, MINIMAL, FULL]) {
    const { code, stdout, stderr } = await lintChart(values);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /1 chart\(s\) linted, 0 chart\(s\) failed/);
  }
});

test('the least values give one replica with a SQLite ledger on a volume', async () => {
  const chart = await renderChart(MINIMAL);
  assert.deepEqual([...chart.keys()].sort(), [
    `ConfigMap/${NAME}`,
    `Deployment/${NAME}`,
    `PersistentVolumeClaim/${NAME}`,
    `Pod/${NAME}-test-health`,
    `PodDisruptionBudget/${NAME}`,
    `Service/${NAME}`,
    `Service/${NAME}-control`,
    `ServiceAccount/${NAME}`,
  ]);
  const { replicas, strategy, template } = deployment(chart);
  assert.equal(replicas, 1);
  assert.deepEqual(strategy, { type: 'Recreate' });
  assert.deepEqual(
    template.spec.volumes.find(({ name }) => name === 'data'),
    { name: 'data', persistentVolumeClaim: { claimName: NAME } },
  );
  assert.equal(template.spec.terminationGracePeriodSeconds, 5 + 300 + 15);
  assert.deepEqual(container(chart).env, [
    { name: 'GYM_PROXY_HOST', value: '0.0.0.0' },
    { name: 'GYM_PROXY_CONTROL_TOKEN', valueFrom: { secretKeyRef: { name: 'control', key: 'control-token' } } },
  ]);
});

test('pods meet the restricted pod security standard', async () => {
  const chart = await renderChart(MINIMAL);
  const pods = [deployment(chart).template.spec, get(chart, `Pod/${NAME}-test-health`).spec as Pod];
  for (const pod of pods) {
    assert.equal(pod.automountServiceAccountToken, false);
    // Kubernetes would set GYM_PROXY_PORT for a Service named gym-proxy, and the proxy would take it for its own setting.
    assert.equal(pod.enableServiceLinks, false);
    assert.deepEqual(pod.securityContext, {
      runAsNonRoot: true,
      runAsUser: 10001,
      runAsGroup: 10001,
      fsGroup: 10001,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    });
    assert.deepEqual(pod.containers[0]!.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
  const writable = container(chart).volumeMounts.filter(({ readOnly }) => !readOnly);
  assert.deepEqual(
    writable.map(({ mountPath }) => mountPath),
    ['/tmp', '/data'],
  );
});

test('probes ask the control port for liveness and readiness', async () => {
  const separate = container(await renderChart(MINIMAL));
  assert.deepEqual(separate.startupProbe.httpGet, { path: '/health/live', port: 'control' });
  assert.deepEqual(separate.livenessProbe.httpGet, { path: '/health/live', port: 'control' });
  assert.deepEqual(separate.readinessProbe.httpGet, { path: '/health/ready', port: 'control' });

  const chart = await renderChart({ ...MINIMAL, config: { ...MINIMAL.config, control: { port: null } } });
  const shared = container(chart);
  assert.deepEqual(shared.ports, [{ name: 'agents', containerPort: 8080 }]);
  assert.deepEqual(shared.readinessProbe.httpGet, { path: '/health/ready', port: 'agents' });
  assert.equal(chart.has(`Service/${NAME}-control`), false);
});

test('all values are rendered', async () => {
  const chart = await renderChart(FULL);
  const { replicas, strategy, template } = deployment(chart);
  assert.equal(replicas, undefined, 'the autoscaler sets the number');
  assert.equal(strategy.type, 'RollingUpdate');
  assert.equal(template.metadata.labels.team, 'rl');
  assert.equal(template.spec.terminationGracePeriodSeconds, 5 + 901 + 15);
  assert.deepEqual(template.spec.volumes, [
    { name: 'config', configMap: { name: NAME } },
    { name: 'tmp', emptyDir: {} },
    { name: 'data', emptyDir: {} },
    { name: 'certificates', secret: { secretName: 'ca' } },
  ]);
  assert.equal(chart.has(`PersistentVolumeClaim/${NAME}`), false);

  const { image, args, env, ports } = container(chart);
  assert.equal(image, `registry.example/proxy@sha256:${'a'.repeat(64)}`);
  assert.deepEqual(args, ['serve', '--config', '/etc/gym-model-proxy/config.yaml']);
  assert.deepEqual(ports, [
    { name: 'agents', containerPort: 9000 },
    { name: 'control', containerPort: 9001 },
  ]);
  assert.deepEqual(Object.fromEntries(env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom])), {
    GYM_PROXY_HOST: '0.0.0.0',
    GYM_PROXY_CONTROL_TOKEN: { secretKeyRef: { name: NAME, key: 'control-token' } },
    GYM_PROXY_AGENT_KEY_SECRET: { secretKeyRef: { name: 'agents', key: 'hmac' } },
    GYM_PROXY_WORKER_API_KEY: { secretKeyRef: { name: NAME, key: 'worker-api-key' } },
    NODE_EXTRA_CA_CERTS: '/certificates/ca.pem',
  });
  assert.deepEqual(get(chart, `Secret/${NAME}`).data, {
    'control-token': Buffer.from('a-control-token-of-some-length').toString('base64'),
    'worker-api-key': Buffer.from('sk-worker').toString('base64'),
  });
  assert.deepEqual((get(chart, `Service/${NAME}`).spec as { ports: unknown }).ports, [
    { name: 'agents', port: 80, targetPort: 'agents', appProtocol: 'http' },
  ]);
  assert.deepEqual((get(chart, `Service/${NAME}-control`).spec as { ports: unknown }).ports, [
    { name: 'control', port: 81, targetPort: 'control', appProtocol: 'http' },
  ]);
  const scaler = get(chart, `HorizontalPodAutoscaler/${NAME}`).spec as Record<string, unknown>;
  assert.deepEqual([scaler.minReplicas, scaler.maxReplicas], [3, 9]);
});

test('the network policy lets agents reach only their port', async () => {
  const { spec } = get(await renderChart(FULL), `NetworkPolicy/${NAME}`) as Manifest & {
    spec: Record<string, unknown>;
  };
  assert.deepEqual(spec.policyTypes, ['Ingress', 'Egress']);
  assert.deepEqual(spec.ingress, [
    { ports: [{ port: 'agents' }], from: [{ namespaceSelector: { matchLabels: { role: 'sandboxes' } } }] },
    { ports: [{ port: 'control' }], from: [{ podSelector: { matchLabels: { app: 'trainer' } } }] },
  ]);
  assert.deepEqual(spec.egress, [{ ports: [{ port: 6379 }] }]);

  const closed = await renderChart({ ...MINIMAL, networkPolicy: { enabled: true, agents: [], control: [] } });
  const policy = get(closed, `NetworkPolicy/${NAME}`).spec as Record<string, unknown>;
  assert.deepEqual([policy.policyTypes, policy.ingress], [['Ingress'], []]);
});

test('every Service and monitor selects the pods of the release, and not the test pod', async () => {
  const chart = await renderChart({ ...MINIMAL, serviceMonitor: { enabled: true } });
  const { labels } = deployment(chart).template.metadata;
  const testLabels = get(chart, `Pod/${NAME}-test-health`).metadata.labels;
  for (const id of [`Service/${NAME}`, `Service/${NAME}-control`]) {
    const { selector } = get(chart, id).spec as { selector: Record<string, string> };
    assert.ok(Object.entries(selector).every(([key, value]) => labels[key] === value));
    assert.ok(Object.entries(selector).some(([key, value]) => testLabels[key] !== value));
  }
  const monitor = get(chart, `ServiceMonitor/${NAME}`).spec as { selector: { matchLabels: Record<string, string> } };
  const matching = [...chart.values()].filter(
    ({ kind, metadata }) =>
      kind === 'Service' &&
      Object.entries(monitor.selector.matchLabels).every(([key, value]) => metadata.labels[key] === value),
  );
  assert.deepEqual(
    matching.map(({ metadata }) => metadata.name),
    [`${NAME}-control`],
  );
});

test('alerts ask only for metrics that the proxy has', async () => {
  const rule = get(await renderChart(FULL), `PrometheusRule/${NAME}`);
  const { groups } = rule.spec as { groups: Array<{ rules: Array<{ alert: string; expr: string }> }> };
  const rules = groups.flatMap((group) => group.rules);
  assert.equal(rules.at(-1)!.alert, 'Mine');
  const { registry } = buildMetrics(
    async () => ({ openAttempts: 0, pendingCalls: 0, keptReplyBytes: 0, oldestPendingS: null }),
    () => 0,
  );
  const known = new Set((await registry.getMetricsAsJSON()).map(({ name }) => name));
  const asked = rules.flatMap(({ expr }) => expr.match(/gym_proxy_[a-z_]+/g) ?? []);
  assert.ok(asked.length >= 8);
  assert.deepEqual(
    asked.filter((name) => !known.has(name.replace(/_bucket$/, ''))),
    [],
  );
});

test('a changed configuration or secret restarts the pods', async () => {
  const annotations = async (values: unknown) =>
    (deployment(await renderChart(values)).template.metadata as unknown as { annotations: Record<string, string> })
      .annotations;
  const before = await annotations(FULL);
  const config = { ...FULL.config, log: { level: 'debug' } };
  const changed = await annotations({ ...FULL, config });
  assert.notEqual(changed['checksum/config'], before['checksum/config']);
  assert.equal(changed['checksum/secret'], before['checksum/secret']);
  const rotated = await annotations({ ...FULL, controlToken: { value: 'another-control-token' } });
  assert.notEqual(rotated['checksum/secret'], before['checksum/secret']);
});

test('the proxy accepts the rendered configuration and environment', async () => {
  const chart = await renderChart(FULL);
  const dir = mkdtempSync(join(tmpdir(), 'helm-config-'));
  try {
    const file = join(dir, 'config.yaml');
    writeFileSync(file, (get(chart, `ConfigMap/${NAME}`).data as Record<string, string>)['config.yaml']!);
    // As the kubelet fills in the secrets.
    const env = Object.fromEntries(
      container(chart).env.map(({ name, value }) => [name, value ?? 'a-secret-of-some-length']),
    );
    const config = loadConfig({ file, env });
    assert.deepEqual(config.server, { host: '0.0.0.0', port: 9000 });
    assert.equal(config.control.port, 9001);
    assert.equal(config.control.token, 'a-secret-of-some-length');
    assert.equal(config.agents.key_secret, 'a-secret-of-some-length');
    assert.equal(config.worker.api_key, 'a-secret-of-some-length');
    assert.deepEqual(config.workers, ['http://vllm:8000']);
    assert.equal(config.ledger.url, 'redis+sentinel://s-0:26379,s-1:26379/ledger');
    assert.equal(config.deadlines.drain_s, 900.5);
    assert.equal(config.capture.schema_version, 2);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("without a configured port or drain time the chart assumes the program's defaults", async () => {
  const config = { ...MINIMAL.config, server: { port: null }, control: { port: null }, deadlines: { drain_s: null } };
  const chart = await renderChart({ ...MINIMAL, config });
  const { server, deadlines } = loadConfig();
  assert.deepEqual(container(chart).ports, [{ name: 'agents', containerPort: server.port }]);
  assert.equal(deployment(chart).template.spec.terminationGracePeriodSeconds, 5 + deadlines.drain_s + 15);
});

const REFUSED: Array<[why: string, values: unknown, message: RegExp]> = [
  ['no control token', { ...MINIMAL, controlToken: {} }, /No control token\. Make one and name it/],
  ['no workers', { ...MINIMAL, config: {} }, /config\.workers is empty: list the base URLs/],
  ['replicas on SQLite', { ...MINIMAL, replicas: 2 }, /More than one replica cannot share a SQLite ledger/],
  [
    'autoscaling on SQLite',
    { ...MINIMAL, autoscaling: { enabled: true, minReplicas: 1, maxReplicas: 2 } },
    /More than one replica cannot share a SQLite ledger/,
  ],
  [
    'SQLite in a Secret of the chart, with replicas',
    { ...MINIMAL, replicas: 2, ledgerUrl: { value: 'sqlite:/data/x.db' } },
    /More than one replica cannot share a SQLite ledger/,
  ],
  [
    'SQLite outside of the volume',
    { ...MINIMAL, config: { ...MINIMAL.config, ledger: { url: 'sqlite:./ledger.db' } } },
    /sqlite:\.\/ledger\.db does not begin with sqlite:\/data\//,
  ],
  [
    'a secret in the ConfigMap',
    { ...MINIMAL, config: { ...MINIMAL.config, control: { token: 'a-control-token-of-some-length' } } },
    /config\.control\.token is a secret .* use controlToken instead/,
  ],
  [
    'a password in the ConfigMap',
    { ...MINIMAL, config: { ...MINIMAL.config, ledger: { url: 'rediss://:secret@redis:6379' } } },
    /config\.ledger\.url holds a password/,
  ],
  [
    'a worker with a password',
    { ...MINIMAL, config: { ...MINIMAL.config, workers: ['http://user:secret@vllm:8000'] } },
    /config\.workers holds a URL with a user/,
  ],
  [
    'a control port that nobody knows',
    { ...MINIMAL, config: { ...MINIMAL.config, control: { port: 0 } } },
    /config\.control\.port is 0/,
  ],
  ['a short control token', { ...MINIMAL, controlToken: { value: 'short' } }, /at least 16 characters/],
  [
    'an alert that every long call would raise',
    {
      ...MINIMAL,
      config: { ...MINIMAL.config, deadlines: { call_s: 7200 } },
      prometheusRule: { enabled: true },
    },
    /pendingCallSeconds is not more than config\.deadlines\.call_s \(7200\)/,
  ],
  [
    'two sources of one secret',
    { ...MINIMAL, controlToken: { existingSecret: 'control', value: 'a-control-token-of-some-length' } },
    /controlToken has both existingSecret and value/,
  ],
  [
    'a network policy over one port',
    { ...MINIMAL, config: { ...MINIMAL.config, control: { port: 8080 } }, networkPolicy: { enabled: true } },
    /networkPolicy\.enabled needs config\.control\.port/,
  ],
  ['a misspelt value', { ...MINIMAL, replicaCount: 2 }, /additional properties 'replicaCount' not allowed/],
  ['a misspelt nested value', { ...MINIMAL, service: { prot: 80 } }, /additional properties 'prot' not allowed/],
  [
    'a misspelt configuration key',
    { ...MINIMAL, config: { ...MINIMAL.config, log: { levle: 'info' } } },
    /at '\/config\/log': additional properties 'levle' not allowed/,
  ],
  ['a wrong type', { ...MINIMAL, replicas: 'two' }, /at '\/replicas': got string, want integer/],
  ['a digest that is none', { ...MINIMAL, image: { digest: 'latest' } }, /at '\/image\/digest'/],
];

for (const [why, values, message] of REFUSED) {
  test(`rendering refuses ${why}`, async () => {
    await assert.rejects(renderChart(values), message);
  });
}

test('a ledger URL from a Secret of the user allows replicas and needs no volume', async () => {
  const chart = await renderChart({ ...MINIMAL, replicas: 2, ledgerUrl: { existingSecret: 'redis', key: 'url' } });
  assert.equal(deployment(chart).replicas, 2);
  assert.equal(deployment(chart).strategy.type, 'RollingUpdate');
  assert.equal(chart.has(`PersistentVolumeClaim/${NAME}`), false);
  assert.deepEqual(
    container(chart).env.find(({ name }) => name === 'GYM_PROXY_LEDGER_URL'),
    { name: 'GYM_PROXY_LEDGER_URL', valueFrom: { secretKeyRef: { name: 'redis', key: 'url' } } },
  );
});

test('the chart carries the version of the package', () => {
  const chart = parse(readFileSync(join(root, 'helm', 'gym-model-proxy', 'Chart.yaml'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
});
