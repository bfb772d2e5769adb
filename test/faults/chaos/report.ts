import type { Violation } from './evidence.ts';
import type { ChaosReport } from './run-chaos.ts';

const EXAMPLES = 5;

/** The figures of a run as lines for people. */
export function figures(report: ChaosReport): string[] {
  const { kills } = report;
  const total = kills.replicas + kills.redis + kills.worker;
  const share = total === 0 ? 0 : Math.round((100 * kills.inFlight) / total);
  const others = Object.entries(report.faults).filter(([name]) => !name.startsWith('kill'));
  return [
    `seed ${report.seed}, ${Math.round(report.seconds)} s`,
    `calls: ${report.inferences} inferences of ${report.requests} requests, ${report.replies} whole replies`,
    `answers: ${counted(report.answers)}`,
    `ledger: ${report.intents} intents, ${report.records} records, ${report.pending} pending, ${report.refused} refused in ${report.attempts} attempts (${report.removed} removed, ${report.reusedNames} names used again)`,
    `kills: ${total} (${kills.replicas} replicas, ${kills.redis} Redis, ${kills.worker} worker); ${kills.inFlight} (${share} %) hit a replica with calls between intent and record`,
    `other faults: ${counted(Object.fromEntries(others)) || 'none'}`,
  ];
}

function counted(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** What was broken: each rule with its number of cases and some of them, ready to be looked for in logs. */
export function verdict(report: ChaosReport): string[] {
  if (report.violations.length === 0) return ['every invariant held'];
  const rules = Map.groupBy(report.violations, nameOf);
  const files = report.folder === null ? [] : [`logs and files: ${report.folder}`];
  const lines = [...rules].flatMap(([name, cases]) => [
    `BROKEN ${name}: ${cases.length} times (seed ${report.seed})`,
    ...cases
      .slice(0, EXAMPLES)
      .map(({ attempt, callId, detail }) => `  attempt ${attempt}, call ${callId ?? '-'}: ${detail}`),
  ]);
  return [...lines, ...files];
}

function nameOf({ invariant, rule }: Violation): string {
  return invariant === 0 ? rule : `invariant ${invariant}: ${rule}`;
}
