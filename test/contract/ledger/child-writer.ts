import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { admission, nowS, record } from './builders.ts';

/**
 * A process that admits and commits, some calls at a time, until it is killed: `node child-writer.ts <ledger url> <attempt> <calls at a time> [most calls]`.
 * Prints one line per answer of the ledger, after it has it: `admitted <id>`, `committed <id>`; `asked <id>` before each commit.
 */
const [url, attempt, atOnce, most] = process.argv.slice(2) as [string, string, string, string | undefined];
const replica = `child-${process.pid}`;
const ledger = await openLedger({
  url,
  replica,
  now: nowS,
  replies: { keepBytes: 1_000_000, keepS: 900 },
  leaseS: 1,
  abandonedAfterS: null,
});
await ledger.start();
process.stdout.write('started\n');
let next = 0;

async function writeCalls(): Promise<void> {
  while (most === undefined || next < Number(most)) {
    const callId = `call-${next++}`;
    await ledger.admit(admission(attempt, callId, { replica }));
    process.stdout.write(`admitted ${callId}\n`);
    const request = record(attempt, callId, ['task', callId], { recordJson: JSON.stringify({ callId }) });
    process.stdout.write(`asked ${callId}\n`);
    await ledger.commit(request);
    process.stdout.write(`committed ${callId}\n`);
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, writeCalls));
await ledger.stop();
