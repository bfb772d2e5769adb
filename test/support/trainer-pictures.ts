import { explainGroup } from '../../src/trainer/explain/explain-group.ts';
import { explainRollout } from '../../src/trainer/explain/explain-rollout.ts';
import { DEFAULT_GROUP_OPTIONS, weighGroup } from '../../src/trainer/index.ts';
import { buildWorld, message, resultOf, runWorld } from './trainer-world.ts';
import { workedExample } from './worked-example.ts';

/** The pictures of docs/trainer.md, from real runs. */
export async function trainerPictures(): Promise<Record<'WORKED' | 'FORK' | 'MASKED', string>> {
  return { WORKED: await worked(), FORK: await fork(), MASKED: await masked() };
}

async function worked(): Promise<string> {
  const outcome = await workedExample().run();
  const members = [
    { slot: 0, name: 'group_g0', reward: 1, valid: true, rowIds: ['group_g0_s0', 'group_g0_s1'], codes: [] },
    { slot: 1, name: '(reward only)', reward: 0, valid: true, rowIds: [], codes: [] },
  ];
  const scores = members.map(({ reward, valid }) => ({ reward, valid, countsInBaseline: valid }));
  const verdict = weighGroup('group', scores, DEFAULT_GROUP_OPTIONS);
  return [...explainRollout(outcome), '', ...explainGroup('group', members, verdict, DEFAULT_GROUP_OPTIONS)].join('\n');
}

async function fork(): Promise<string> {
  const tokens = (count: number) => Array.from({ length: count }, (_, at) => at);
  const world = buildWorld(
    [
      { id: 'plan', prompt: tokens(120), generated: tokens(40) },
      { id: 'left', parent: 'plan', prompt: tokens(20), generated: tokens(60) },
      { id: 'right', parent: 'plan', prompt: tokens(20), generated: tokens(30) },
      { id: 'right2', parent: 'right', prompt: tokens(15), generated: tokens(45) },
    ],
    'search_g0',
  );
  const result = resultOf(world, ['plan', 'left', 'right', 'right2']);
  return explainRollout(await runWorld(world, { result })).join('\n');
}

async function masked(): Promise<string> {
  const world = buildWorld(
    [
      { id: 'c1' },
      { id: 'c2', parent: 'c1', output: [message('same')] },
      { id: 'c3', parent: 'c1', output: [message('same')] },
    ],
    'twice_g0',
  );
  const result = resultOf(world, ['c1', 'c2']);
  world.ledger.manifest.attempted_call_ids.push('c4');
  world.ledger.manifest.pending_call_ids.push('c4');
  return explainRollout(await runWorld(world, { result })).join('\n');
}
