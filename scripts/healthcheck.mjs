#!/usr/bin/env node
// The image's HEALTHCHECK, without curl: exits 0 when the given URL (default: this proxy's /health/live) answers 2xx.
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const TIMEOUT_MS = 4000;

/**
 * Where the proxy of this container answers: health is served on the control port when there is a separate one.
 *
 * @param {Record<string, string | undefined>} env
 * @returns {string}
 */
export function livenessUrl(env) {
  const port = env.GYM_PROXY_CONTROL_PORT || env.GYM_PROXY_PORT || '8080';
  return `http://127.0.0.1:${port}/health/live`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  const url = process.argv[2] ?? livenessUrl(process.env);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
  } catch (error) {
    const { message, cause } = /** @type {Error} */ (error);
    process.stderr.write(`${url}: ${cause instanceof Error ? cause.message : message}\n`);
    process.exitCode = 1;
  }
}
