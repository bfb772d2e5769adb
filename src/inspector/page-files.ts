import { readFileSync } from 'node:fs';

/** The inspector page: plain files, sent as they are. It holds no content of its own, so it needs no token. */

export interface PageFile {
  readonly type: string;
  readonly text: string;
}

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

const NAMES = [
  'index.html',
  'style.css',
  'main.js',
  'control-api.js',
  'forest-layout.js',
  'draw-attempts.js',
  'draw-forest.js',
  'elements.js',
] as const;

/** Nothing but the page's own files, nothing inline, nobody who frames it. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
} as const;

/** All files by name, read once. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map(
    NAMES.map((name) => {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1) as keyof typeof TYPES];
      return [name, { type, text: readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8') }];
    }),
  );
}
