import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdmitOutcome } from '../../../src/ledger/ledger.ts';
import type { LedgerUnderTest } from '../ledger-contract.ts';
import { admission, newAttempt, newCallId, record, refusal } from './builders.ts';

/** Design, "Never twice". */
export function resending(under: LedgerUnderTest): void {
  const send = (attempt: string, requestDigest: string, idempotencyKey: string | null = null, callId = newCallId()) =>
    under.ledger.admit(admission(attempt, callId, { resend: { requestDigest, idempotencyKey } }));
  /** An admitted call that carried a key, or none. */
  const first = async (idempotencyKey: string | null = null) => {
    const [attempt, callId] = [newAttempt(), newCallId()];
    assert.equal((await send(attempt, 'body', idempotencyKey, callId)).kind, 'admitted');
    return { attempt, callId };
  };
  const joins = (callId: string): AdmitOutcome => ({ kind: 'joined', callId });
  const finish = ({ attempt, callId }: { attempt: string; callId: string }) =>
    under.ledger.commit(record(attempt, callId, ['task', callId], { replyJson: '{"the":"reply"}' }));

  describe('a re-send by Idempotency-Key', () => {
    it('joins the running call, any number of times, and records nothing', async () => {
      const call = await first('key');
      for (let time = 0; time < 2; time += 1)
        assert.deepEqual(await send(call.attempt, 'body', 'key'), joins(call.callId));
      const snapshot = await under.ledger.snapshot(call.attempt);
      assert.ok(snapshot !== 'retired');
      assert.deepEqual(snapshot.attemptedCallIds, [call.callId]);
    });

    it('joins the finished call while its reply is kept, also after it was handed over', async () => {
      const call = await first('key');
      await finish(call);
      await under.ledger.delivered(call.attempt, call.callId);
      assert.deepEqual(await send(call.attempt, 'body', 'key'), joins(call.callId));
      assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), {
        kind: 'finished',
        replyJson: '{"the":"reply"}',
      });
    });

    it('is refused with another body, whatever became of the call', async () => {
      const call = await first('key');
      assert.deepEqual(await send(call.attempt, 'another body', 'key'), refusal('idempotency_key_reused'));
      await under.ledger.addFailure(call.attempt, call.callId, 'worker_capture_failed');
      assert.deepEqual(await send(call.attempt, 'another body', 'key'), refusal('idempotency_key_reused'));
      assert.equal((await send(newAttempt(), 'another body', 'key')).kind, 'admitted');
    });

    it('is a new call once the call failed or was refused, and the key then names the new one', async () => {
      const failed = await first('key');
      await under.ledger.addFailure(failed.attempt, failed.callId, 'worker_capture_failed');
      const second = newCallId();
      assert.equal((await send(failed.attempt, 'body', 'key', second)).kind, 'admitted');
      assert.deepEqual(await send(failed.attempt, 'body', 'key'), joins(second));
      await under.ledger.settleRefused(failed.attempt, second, 'context_length_exceeded');
      assert.equal((await send(failed.attempt, 'body', 'key')).kind, 'admitted');
    });

    it('is a new call where no reply is kept', async () => {
      const call = await first('key');
      await under.ledger.commit(record(call.attempt, call.callId, ['task', 'a'], { replyJson: null }));
      assert.equal((await send(call.attempt, 'body', 'key')).kind, 'admitted');
    });
  });

  describe('a re-send after the client went away', () => {
    it('claims the reply of the running call: one request, no more', async () => {
      const call = await first();
      await under.ledger.clientGone(call.attempt, call.callId);
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
      assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
    });

    it('claims the kept reply of the finished call', async () => {
      const call = await first();
      await finish(call);
      await under.ledger.clientGone(call.attempt, call.callId);
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
      assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), {
        kind: 'finished',
        replyJson: '{"the":"reply"}',
      });
    });

    it('is a deliberate sample while the client waits, and after it has its reply', async () => {
      const call = await first();
      assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
      await finish(call);
      assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
      await under.ledger.delivered(call.attempt, call.callId);
      await under.ledger.clientGone(call.attempt, call.callId);
      assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
    });

    it('must be the same request of the same attempt', async () => {
      const call = await first();
      await under.ledger.clientGone(call.attempt, call.callId);
      assert.equal((await send(call.attempt, 'another body')).kind, 'admitted');
      assert.equal((await send(newAttempt(), 'body')).kind, 'admitted');
      assert.equal((await under.ledger.admit(admission(call.attempt, newCallId()))).kind, 'admitted');
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
    });

    it('gives the same outcome when it is run again', async () => {
      const [call, joiner] = [await first(), newCallId()];
      await under.ledger.clientGone(call.attempt, call.callId);
      for (let time = 0; time < 2; time += 1)
        assert.deepEqual(await send(call.attempt, 'body', null, joiner), joins(call.callId));
    });

    it('can claim again once the one who claimed went away too', async () => {
      const [call, joiner] = [await first(), newCallId()];
      await under.ledger.clientGone(call.attempt, call.callId);
      await send(call.attempt, 'body', null, joiner);
      await under.ledger.clientGone(call.attempt, call.callId, joiner);
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
      await under.ledger.clientGone(call.attempt, call.callId);
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
    });

    it('claims nothing while the first client still waits, though a second one left', async () => {
      const [call, joiner] = [await first('key'), newCallId()];
      assert.deepEqual(await send(call.attempt, 'body', 'key', joiner), joins(call.callId));
      await under.ledger.clientGone(call.attempt, call.callId, joiner);
      assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
      await under.ledger.clientGone(call.attempt, call.callId, call.callId);
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
    });

    it('takes the oldest of several calls that can be claimed', async () => {
      const call = await first();
      const second = newCallId();
      await send(call.attempt, 'body', null, second);
      for (const callId of [second, call.callId]) await under.ledger.clientGone(call.attempt, callId);
      assert.deepEqual(await send(call.attempt, 'body'), joins(call.callId));
      assert.deepEqual(await send(call.attempt, 'body'), joins(second));
    });

    it('is a new call once the call failed or was refused', async () => {
      for (const settle of [
        (attempt: string, callId: string) => under.ledger.addFailure(attempt, callId, 'worker_capture_failed'),
        (attempt: string, callId: string) => under.ledger.settleRefused(attempt, callId, 'worker_unreachable'),
      ]) {
        const call = await first();
        await under.ledger.clientGone(call.attempt, call.callId);
        await settle(call.attempt, call.callId);
        assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
      }
    });

    it('may become a call of its own under the same id when the call that it joined fails', async () => {
      const [call, joiner] = [await first(), newCallId()];
      await under.ledger.clientGone(call.attempt, call.callId);
      assert.deepEqual(await send(call.attempt, 'body', null, joiner), joins(call.callId));
      await under.ledger.addFailure(call.attempt, call.callId, 'worker_capture_failed');
      assert.equal((await send(call.attempt, 'body', null, joiner)).kind, 'admitted');
    });

    it('is answered after close, for calls that were admitted before', async () => {
      const call = await first('key');
      await finish(call);
      await under.ledger.close(call.attempt);
      assert.deepEqual(await send(call.attempt, 'body', 'key'), joins(call.callId));
      assert.deepEqual(await send(call.attempt, 'another body', 'key'), refusal('attempt_closed'));
      assert.deepEqual(await send(call.attempt, 'another body'), refusal('attempt_closed'));
    });

    it('comes before the limits: it is no call', async () => {
      const call = await first();
      await under.ledger.clientGone(call.attempt, call.callId);
      const resend = { requestDigest: 'body', idempotencyKey: null };
      const outcome = await under.ledger.admit(admission(call.attempt, newCallId(), { resend, maxCalls: 1 }));
      assert.deepEqual(outcome, joins(call.callId));
    });
  });

  it('a reply that was handed over just now is not given to the request that follows at once', async () => {
    const call = await first();
    await finish(call);
    await under.ledger.clientGone(call.attempt, call.callId);
    const told = under.ledger.delivered(call.attempt, call.callId);
    assert.equal((await send(call.attempt, 'body')).kind, 'admitted');
    await told;
    assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), { kind: 'gone' });
  });

  describe('replyOf', () => {
    it('follows the call: running, finished, gone once it was handed over', async () => {
      const call = await first();
      assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), { kind: 'running' });
      await finish(call);
      assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), {
        kind: 'finished',
        replyJson: '{"the":"reply"}',
      });
      await under.ledger.delivered(call.attempt, call.callId);
      assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), { kind: 'gone' });
    });

    it('says failed for a call with a failure row, also when it commits late, and for a refused one', async () => {
      const failed = await first();
      await under.ledger.addFailure(failed.attempt, failed.callId, 'worker_capture_failed');
      assert.deepEqual(await under.ledger.replyOf(failed.attempt, failed.callId), { kind: 'failed' });
      await finish(failed);
      assert.deepEqual(await under.ledger.replyOf(failed.attempt, failed.callId), { kind: 'failed' });
      const refused = await first();
      await under.ledger.settleRefused(refused.attempt, refused.callId, 'worker_unreachable');
      assert.deepEqual(await under.ledger.replyOf(refused.attempt, refused.callId), { kind: 'failed' });
    });

    it('says gone for what is unknown, retired or deleted', async () => {
      const gone = { kind: 'gone' };
      assert.deepEqual(await under.ledger.replyOf(newAttempt(), newCallId()), gone);
      const [retired, deleted] = [await first('key'), await first('key')];
      for (const call of [retired, deleted]) await finish(call);
      await under.ledger.retire([retired.attempt]);
      await under.ledger.delete([deleted.attempt]);
      for (const call of [retired, deleted])
        assert.deepEqual(await under.ledger.replyOf(call.attempt, call.callId), gone);
      assert.equal((await send(deleted.attempt, 'another body', 'key')).kind, 'admitted');
    });
  });

  it('clientGone and delivered do nothing to calls that are not known', async () => {
    const attempt = newAttempt();
    await under.ledger.clientGone(attempt, newCallId());
    await under.ledger.delivered(attempt, newCallId());
    const snapshot = await under.ledger.snapshot(attempt);
    assert.ok(snapshot !== 'retired');
    assert.deepEqual(snapshot.attemptedCallIds, []);
  });
}
