#!/usr/bin/env node
// The image's HEALTHCHECK, without curl: exits 0 when the given URL (default: this proxy's /health/live) answers 2xx.
import { readFileSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const TIMEOUT_MS = 4000;

/** @typedef {{ readonly host?: string | null, readonly port?: number | null }} Place */

/**
 * Where the proxy of this container answers: health is served on the control port when there is a separate one.
 *
 * @param {Record<string, string | undefined>} env
 * @param {{ readonly server?: Place | null, readonly control?: Place | null }} file what the configuration file says
 * @returns {string}
 */
export function livenessUrl(env, file = {}) {
  const agentsPort = env.GYM_PROXY_PORT || file.server?.port || 8080;
  const agentsHost = env.GYM_PROXY_HOST || file.server?.host || '127.0.0.1';
  const controlPort = env.GYM_PROXY_CONTROL_PORT || file.control?.port;
  const controlHost = (controlPort && (env.GYM_PROXY_CONTROL_HOST || file.control?.host)) || agentsHost;
  const host = ANY_ADDRESS.has(controlHost) ? '127.0.0.1' : controlHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${controlPort || agentsPort}/health/live`;
}

/** What a server listens on that listens everywhere. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** @param {string | undefined} path */
async function readConfig(path) {
  if (!path) return {};
  const { parse } = await import('yaml');
  return parse(readFileSync(path, 'utf8'), { logLevel: 'error' }) ?? {};
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const url = process.argv[2] ?? livenessUrl(process.env, await readConfig(process.env.GYM_PROXY_CONFIG));
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
  } catch (error) {
    const { message, cause } = /** @type {Error} */ (error);
    process.stderr.write(`${url}: ${cause instanceof Error ? cause.message : message}\n`);
    process.exitCode = 1;
  }
}
