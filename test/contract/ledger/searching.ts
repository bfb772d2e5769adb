import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmitRequest, Candidate } from '../../../src/ledger/ledger.ts';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { addCall, admission, boundary, digest, newAttempt, newCallId, parentOf, RENDER, refusal } from './builders.ts';

export function searching(under: LedgerUnderTest): void {
  const admit = (attempt: string, changes: Partial<AdmitRequest>) =>
    under.ledger.admit(admission(attempt, newCallId(), changes));
  const candidateFor = async (attempt: string, changes: Partial<AdmitRequest>): Promise<Candidate | null> => {
    const outcome = await admit(attempt, changes);
    assert.ok(outcome.kind === 'admitted', JSON.stringify(outcome));
    return outcome.candidate;
  };

  describe('the candidate search', () => {
    it('proposes the call whose history the request extends, with all that the admission says of it', async () => {
      const attempt = newAttempt();
      const callId = await addCall(under.ledger, attempt, ['task', 'answer'], {
        index: { cumLen: 4_503_599_627_370_497 },
      });
      assert.deepEqual(await candidateFor(attempt, { boundary: boundary(['task', 'answer']) }), {
        callId,
        cumLen: 4_503_599_627_370_497,
        chainHash: digest(['chain', callId]),
        stagingChain: [`${attempt}/${callId}`],
        itemCount: 2,
        sourceDigest: digest(['task', 'answer']),
        emptyToolContentDigest: digest(['task', 'answer']),
        renderDigest: RENDER,
        match: 'exact',
      });
    });

    it('proposes the longest: each prefix has one boundary', async () => {
      const attempt = newAttempt();
      const first = await addCall(under.ledger, attempt, ['task', 'a']);
      const second = await addCall(under.ledger, attempt, ['task', 'a', 'more', 'b'], { parent: first });
      const candidate = await candidateFor(attempt, { boundary: boundary(['task', 'a', 'more', 'b']) });
      assert.equal(candidate?.callId, second);
      assert.deepEqual(candidate?.stagingChain, [`${attempt}/${first}`, `${attempt}/${second}`]);
    });

    it('proposes a root where history or rendering differ, or nothing follows the boundary', async () => {
      const attempt = newAttempt();
      await addCall(under.ledger, attempt, ['task', 'answer']);
      for (const changes of [
        { boundary: boundary(['task', 'another answer']) },
        { boundary: boundary(['task', 'answer'], { render: digest('another model') }) },
        { boundary: null },
      ]) {
        assert.deepEqual(await admit(attempt, changes), {
          kind: 'admitted',
          candidate: null,
          rootedBy: 'unmatched',
          recordsSeen: 1,
        });
      }
    });

    it('never proposes a call without a record', async () => {
      const [attempt, pending, failed, refused] = [newAttempt(), newCallId(), newCallId(), newCallId()];
      for (const callId of [pending, failed, refused]) await under.ledger.admit(admission(attempt, callId));
      await under.ledger.addFailure(attempt, failed, 'worker_capture_failed');
      await under.ledger.settleRefused(attempt, refused, 'context_length_exceeded');
      assert.equal(await candidateFor(attempt, { boundary: boundary(['task', 'answer']) }), null);
    });

    it('declares that it needed the second digest, and says exact whenever the exact ones agree', async () => {
      const attempt = newAttempt();
      const second = ['task', 'call with ""'];
      await addCall(under.ledger, attempt, ['task', 'call with null'], { second });
      const exact = await candidateFor(attempt, { boundary: boundary(['task', 'call with null'], { second }) });
      assert.equal(exact?.match, 'exact');
      const other = await candidateFor(attempt, { boundary: boundary(['task', 'call with ""'], { second }) });
      assert.equal(other?.match, 'empty_tool_content');
      assert.equal(other?.sourceDigest, digest(['task', 'call with null']));
    });

    it('refuses an ambiguity, roots it or leaves it unresolved, as it is told', async () => {
      const attempt = newAttempt();
      for (let sample = 0; sample < 2; sample += 1) await addCall(under.ledger, attempt, ['task', 'answer']);
      const request = { boundary: boundary(['task', 'answer']) };
      assert.deepEqual(await admit(attempt, { ...request, onAmbiguous: 'refuse' }), refusal('ambiguous_candidate'));
      const root = { kind: 'admitted', candidate: null, rootedBy: 'ambiguous', recordsSeen: 2 };
      assert.deepEqual(await admit(attempt, { ...request, onAmbiguous: 'root' }), root);
      assert.deepEqual(await admit(attempt, { ...request, onAmbiguous: 'unresolved' }), { kind: 'unresolved' });
      const snapshot = await under.ledger.snapshot(attempt);
      assert.ok(snapshot !== 'retired');
      assert.equal(snapshot.attemptedCallIds.length, 3);
    });

    it('settles an ambiguity by echoed ids: all of a call, and at least one', async () => {
      const attempt = newAttempt();
      const answer = ['task', 'answer'];
      const one = await addCall(under.ledger, attempt, answer, { index: { outputIds: ['m1', 'f1'] } });
      const two = await addCall(under.ledger, attempt, answer, { index: { outputIds: ['m2'] } });
      await addCall(under.ledger, attempt, answer);
      const echoing = (...echoedIds: string[]) => admit(attempt, { boundary: boundary(answer, { echoedIds }) });
      assert.equal(parentOf(await echoing('f1', 'm1', 'x')), one);
      assert.equal(parentOf(await echoing('m2')), two);
      assert.deepEqual(await echoing('m1'), refusal('ambiguous_candidate'));
      assert.deepEqual(await echoing('m1', 'f1', 'm2'), refusal('ambiguous_candidate'));
      assert.deepEqual(await echoing('unknown'), refusal('ambiguous_candidate'));
      assert.deepEqual(await echoing(), refusal('ambiguous_candidate'));
    });

    it('takes ids of any characters', async () => {
      const attempt = newAttempt();
      const answer = ['task', 'answer'];
      const odd = ['\ud800', '"\\ud800"', 'a\0b', 'a', '"', 'é\n', '\udc00'];
      const calls: string[] = [];
      for (const id of odd)
        calls.push(
          await addCall(under.ledger, attempt, answer, { index: { outputIds: [id], responseId: `resp${id}` } }),
        );
      for (const [at, id] of odd.entries()) {
        const echoing = { boundary: boundary(answer, { echoedIds: [id, 'another\ud801'] }) };
        assert.equal(parentOf(await admit(attempt, echoing)), calls[at], JSON.stringify(id));
      }
      assert.deepEqual(await admit(attempt, { namedParent: 'resp' }), refusal('unknown_parent'));
      assert.equal(parentOf(await admit(attempt, { boundary: boundary(answer), namedParent: 'respa\0b' })), calls[2]);
    });

    it('does not ask for echoed ids where only one call matches', async () => {
      const attempt = newAttempt();
      const only = await addCall(under.ledger, attempt, ['task', 'answer'], { index: { outputIds: ['m1'] } });
      assert.equal(
        parentOf(await admit(attempt, { boundary: boundary(['task', 'answer'], { echoedIds: ['m9'] }) })),
        only,
      );
    });

    it('takes the one committed last for its twins, which hold the same tokens', async () => {
      const attempt = newAttempt();
      const twin = { cumLen: 20, cumulativeHash: digest('the same tokens') };
      const [late, early] = [newCallId(), newCallId()];
      for (const callId of [late, early]) await under.ledger.admit(admission(attempt, callId));
      await addCall(under.ledger, attempt, ['task', 'answer'], {
        callId: early,
        index: { ...twin, outputIds: ['m1'] },
      });
      await addCall(under.ledger, attempt, ['task', 'answer'], { callId: late, index: twin });
      assert.equal(parentOf(await admit(attempt, { boundary: boundary(['task', 'answer']) })), late);
      // Echoed ids come first: they name a call, not its tokens.
      const named = boundary(['task', 'answer'], { echoedIds: ['m1'] });
      assert.equal(parentOf(await admit(attempt, { boundary: named })), early);
      await addCall(under.ledger, attempt, ['task', 'answer'], { index: { cumLen: 20 } });
      assert.deepEqual(
        await admit(attempt, { boundary: boundary(['task', 'answer']) }),
        refusal('ambiguous_candidate'),
      );
    });

    it('wants whatever reasoning the request carries to be what each turn was served with', async () => {
      const attempt = newAttempt();
      const one = await addCall(under.ledger, attempt, ['task', 'a'], { index: { reasoning: ['r1'] } });
      const history = ['task', 'a', 'more', 'b'];
      const two = await addCall(under.ledger, attempt, history, {
        parent: one,
        admit: { boundary: boundary(['task', 'a']) },
        index: { reasoning: ['r2'] },
      });
      const parentWith = async (...reasoning: (string | null)[]) =>
        parentOf(await admit(attempt, { boundary: boundary(history, { reasoning }) }));
      assert.equal(await parentWith('r1', 'r2'), two);
      assert.equal(await parentWith(null, 'r2'), two);
      assert.equal(await parentWith(null, null), two);
      assert.equal(await parentWith('r2', null), null);
      assert.equal(await parentWith('r1', 'r9'), null);
      const chain = await candidateFor(attempt, { boundary: boundary(history, { reasoning: ['r1', 'r2'] }) });
      assert.deepEqual(chain?.stagingChain, [`${attempt}/${one}`, `${attempt}/${two}`]);
    });

    it('tells calls apart by the reasoning that the request carries', async () => {
      const attempt = newAttempt();
      const one = await addCall(under.ledger, attempt, ['task', 'a'], { index: { reasoning: ['r1'] } });
      await addCall(under.ledger, attempt, ['task', 'a'], { index: { reasoning: ['r2'] } });
      const withR1 = boundary(['task', 'a'], { reasoning: ['r1'] });
      assert.equal(parentOf(await admit(attempt, { boundary: withR1 })), one);
    });

    it('gives the ancestry in order through long chains and forks, each fork with its own', async () => {
      const attempt = newAttempt();
      const chains = new Map<string, string[]>();
      const histories = new Map<string, string[]>();
      let tip: string | null = null;
      const extend = async (parent: string | null, index: Partial<{ stagingKey: string }> = {}): Promise<string> => {
        const callId = newCallId();
        const before: string[] = parent ? histories.get(parent)! : [];
        const history = [...before, `user ${callId}`, `answer ${callId}`];
        const stagingKey = index.stagingKey ?? `${attempt}/${callId}`;
        await addCall(under.ledger, attempt, history, {
          parent,
          callId,
          admit: { boundary: boundary(before) },
          index: { stagingKey },
        });
        chains.set(callId, [...(parent ? chains.get(parent)! : []), stagingKey]);
        histories.set(callId, history);
        return callId;
      };
      const trunk: string[] = [];
      for (let turn = 0; turn < 70; turn += 1) {
        tip = await extend(tip, turn === 3 ? { stagingKey: 'another owner/"näme"' } : {});
        trunk.push(tip);
      }
      for (const at of [0, 28, 29, 30, 31, 45, 68]) {
        const fork = await extend(await extend(trunk[at]!));
        await extend(fork);
        await extend(trunk[at]!);
      }
      for (const [callId, chain] of chains) {
        const candidate = await candidateFor(attempt, { boundary: boundary(histories.get(callId)!) });
        assert.deepEqual(candidate?.stagingChain, chain);
      }
    });
  });

  describe('the named parent', () => {
    it('is the only record that is looked at', async () => {
      const attempt = newAttempt();
      const [one] = [
        await addCall(under.ledger, attempt, ['task', 'answer']),
        await addCall(under.ledger, attempt, ['task', 'answer']),
      ];
      const request = { boundary: boundary(['task', 'answer']), namedParent: `response-${one}` };
      assert.equal(parentOf(await admit(attempt, request)), one);
    });

    it('gives a root that says so where the request does not extend it, or where it is null', async () => {
      const attempt = newAttempt();
      const other = await addCall(under.ledger, attempt, ['other', 'answer']);
      await addCall(under.ledger, attempt, ['task', 'answer']);
      const root = { kind: 'admitted', candidate: null, rootedBy: 'named_parent', recordsSeen: 2 };
      const named = { ...root, namedCallId: other };
      const namedParent = `response-${other}`;
      assert.deepEqual(await admit(attempt, { boundary: boundary(['task', 'answer']), namedParent }), named);
      assert.deepEqual(await admit(attempt, { boundary: null, namedParent }), named);
      assert.deepEqual(await admit(attempt, { boundary: boundary(['task', 'answer']), namedParent: null }), root);
      const again = admission(attempt, newCallId(), { namedParent });
      assert.deepEqual(await under.ledger.admit(again), await under.ledger.admit(again));
    });

    it('is unknown where no record, or more than one, of this attempt has that response id', async () => {
      const [attempt, pending] = [newAttempt(), newCallId()];
      assert.deepEqual(await admit(attempt, { namedParent: 'nobody' }), refusal('unknown_parent'));
      await under.ledger.admit(admission(attempt, pending));
      assert.deepEqual(await admit(attempt, { namedParent: `response-${pending}` }), refusal('unknown_parent'));
      for (let sample = 0; sample < 2; sample += 1)
        await addCall(under.ledger, attempt, ['task', 'a'], { index: { responseId: 'twice' } });
      await addCall(under.ledger, attempt, ['task', 'a'], { index: { responseId: 'twice:longer' } });
      assert.deepEqual(
        await admit(attempt, { boundary: boundary(['task', 'a']), namedParent: 'twice' }),
        refusal('unknown_parent'),
      );
      assert.deepEqual(await admit(newAttempt(), { namedParent: 'twice:longer' }), refusal('unknown_parent'));
    });
  });

  describe('propose', () => {
    it('gives what admit would, records nothing, and answers on a closed attempt too', async () => {
      const attempt = newAttempt();
      const callId = await addCall(under.ledger, attempt, ['task', 'answer']);
      await under.ledger.close(attempt);
      const before = await under.ledger.snapshot(attempt);
      const request = {
        attempt,
        boundary: boundary(['task', 'answer']),
        namedParent: undefined,
        onAmbiguous: 'refuse',
      } as const;
      const proposed = await under.ledger.propose(request);
      assert.ok(proposed.kind === 'proposed');
      assert.equal(proposed.candidate?.callId, callId);
      assert.deepEqual(proposed.candidate?.stagingChain, [`${attempt}/${callId}`]);
      assert.deepEqual(await under.ledger.propose({ ...request, boundary: null }), {
        kind: 'proposed',
        candidate: null,
      });
      assert.deepEqual(await under.ledger.propose({ ...request, namedParent: 'x' }), {
        kind: 'refused',
        code: 'unknown_parent',
      });
      assert.deepEqual(await under.ledger.snapshot(attempt), before);
    });

    it('refuses a retired attempt and an ambiguity', async () => {
      const attempt = newAttempt();
      for (let sample = 0; sample < 2; sample += 1) await addCall(under.ledger, attempt, ['task', 'answer']);
      const request = { attempt, boundary: boundary(['task', 'answer']), namedParent: undefined } as const;
      const refused = { kind: 'refused', code: 'ambiguous_candidate' };
      assert.deepEqual(await under.ledger.propose({ ...request, onAmbiguous: 'refuse' }), refused);
      const root = { kind: 'proposed', candidate: null };
      assert.deepEqual(await under.ledger.propose({ ...request, onAmbiguous: 'root' }), root);
      assert.deepEqual(await under.ledger.propose({ ...request, onAmbiguous: 'unresolved' }), root);
      await under.ledger.retire([attempt]);
      const retired = { kind: 'refused', code: 'attempt_retired' };
      assert.deepEqual(await under.ledger.propose({ ...request, onAmbiguous: 'root' }), retired);
    });
  });
}
