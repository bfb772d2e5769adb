import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseLedgerUrl } from '../../../src/ledger/ledger-url.ts';

const open = { tls: false, username: null, password: null, db: 0 };

describe('parseLedgerUrl', () => {
  const accepted: [string, ReturnType<typeof parseLedgerUrl>][] = [
    ['sqlite:./data/ledger.db', { kind: 'sqlite', path: './data/ledger.db' }],
    ['sqlite:/var/lib/ledger.db', { kind: 'sqlite', path: '/var/lib/ledger.db' }],
    ['sqlite:///var/lib/ledger.db', { kind: 'sqlite', path: '/var/lib/ledger.db' }],
    ['sqlite::memory:', { kind: 'sqlite', path: ':memory:' }],
    ['redis://localhost', { kind: 'redis', host: 'localhost', port: 6379, ...open }],
    ['redis://10.0.0.1:6380/3', { kind: 'redis', host: '10.0.0.1', port: 6380, ...open, db: 3 }],
    ['redis://[::1]:6380', { kind: 'redis', host: '::1', port: 6380, ...open }],
    [
      'rediss://user:p%40ss%2F%3A@redis.example:6380/0',
      { kind: 'redis', host: 'redis.example', port: 6380, tls: true, username: 'user', password: 'p@ss/:', db: 0 },
    ],
    ['redis://:secret@h', { kind: 'redis', host: 'h', port: 6379, ...open, password: 'secret' }],
    ['redis://user@h', { kind: 'redis', host: 'h', port: 6379, ...open, username: 'user' }],
    [
      'redis+sentinel://a:26379,b:26380,c/mymaster',
      {
        kind: 'sentinel',
        sentinels: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 26380 },
          { host: 'c', port: 26379 },
        ],
        master: 'mymaster',
        ...open,
      },
    ],
    [
      'rediss+sentinel://:pw@a/my%20master/2',
      {
        kind: 'sentinel',
        sentinels: [{ host: 'a', port: 26379 }],
        master: 'my master',
        tls: true,
        username: null,
        password: 'pw',
        db: 2,
      },
    ],
    [
      'redis+cluster://a:7000,b',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: 'b', port: 6379 },
        ],
        ...open,
      },
    ],
    ['rediss+cluster://a/0', { kind: 'cluster', nodes: [{ host: 'a', port: 6379 }], ...open, tls: true }],
  ];
  for (const [url, expected] of accepted) {
    it(`takes ${url}`, () => assert.deepEqual(parseLedgerUrl(url), expected));
  }

  const refused: [string, RegExp][] = [
    ['', /is none of sqlite:<path>, redis/],
    ['postgres://h/db', /is none of/],
    ['redis:/h', /is none of/],
    ['redis+proxy://h', /is none of/],
    ['sqlite:', /needs a path/],
    ['sqlite://relative/ledger.db', /needs a path/],
    ['redis://', /is none of/],
    ['redis://a,b', /several hosts need redis\+sentinel:\/\/ or redis\+cluster:\/\//],
    ['redis://h:0', /ledger.url: where host:port should stand is something else; /],
    ['redis://h:99999', /ledger.url: where host:port should stand is something else; /],
    ['redis://h:port', /ledger.url: where host:port should stand is something else; /],
    ['redis://h/db', /ledger.url: what stands behind the host is no database number$/],
    ['redis://u:%zz@h', /ledger.url: a % stands for itself somewhere; write it %25$/],
    // A password that was not encoded is not shown, whatever part of it is taken for something else.
    [
      'redis://u:se@cret@h:1',
      /ledger.url: where host:port should stand is something else; in names and passwords @ : \/ and % are written %40 %3A %2F and %25$/,
    ],
    [
      'redis://u:se/cret@h:1',
      /ledger.url: where host:port should stand is something else; in names and passwords @ : \/ and % are written %40 %3A %2F and %25$/,
    ],
    ['redis://u@h/cret', /ledger.url: what stands behind the host is no database number$/],
    ['redis+sentinel://a,b', /needs the name of the master/],
    ['redis+cluster://a/1', /no numbered databases/],
  ];
  for (const [url, message] of refused) {
    it(`refuses ${JSON.stringify(url)}`, () => assert.throws(() => parseLedgerUrl(url), message));
  }

  it('never shows a password', () => {
    for (const url of [
      'redis://user:secret@a,b',
      'redis://user:secret@h/db',
      'redis+sentinel://:secret@a',
      'nothing://:secret@h',
    ]) {
      assert.throws(
        () => parseLedgerUrl(url),
        (error: Error) => !error.message.includes('secret'),
      );
    }
  });
});
