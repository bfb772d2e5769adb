import { benchCalls } from './calls.ts';
import { benchRows } from './rows.ts';

/** `npm run bench`: speed as ratios within one run; exits non-zero where a stated ratio is missed. `--quick` for a short look. */
const quick = process.argv.includes('--quick');
const missed = [...(await benchCalls(quick)), ...(await benchRows(quick))];
if (missed.length > 0) {
  console.error(`missed:\n${missed.map((line) => `  ${line}`).join('\n')}`);
  process.exitCode = 1;
} else console.log('every stated ratio was reached');
