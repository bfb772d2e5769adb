import type {
  AdmitOutcome,
  AdmitRequest,
  AttemptSnapshot,
  CommitOutcome,
  CommitRequest,
  Removal,
  ReplyState,
} from '../../src/ledger/ledger.ts';

interface ModelCall {
  readonly request: AdmitRequest;
  readonly outcome: Extract<AdmitOutcome, { kind: 'admitted' }>;
  state: 'pending' | 'committed' | 'refused';
  code?: string;
  commit?: CommitRequest;
  /** Calls that wait for its reply, by id. */
  readonly waiters: Set<string>;
  handedOver: boolean;
  hasReply: boolean;
}

interface ModelAttempt {
  state: 'open' | 'closed' | 'retired';
  readonly calls: Map<string, ModelCall>;
  /** In commit order. */
  readonly committed: ModelCall[];
  failures: { callId: string; reason: string }[];
}

/**
 * The ledger as its interface describes it, in memory and as simply as it can be said: no indexes, no durability, nothing shared with the real ones. Tests run
 * the same operations here and there and compare. `lineage.reasoning: optional`, bounds and time of kept replies are not modelled.
 */
export class LedgerModel {
  readonly #attempts = new Map<string, ModelAttempt>();

  admit(request: AdmitRequest): AdmitOutcome {
    const attempt = this.#attempts.get(request.attempt);
    if (attempt?.state === 'retired') return { kind: 'refused', code: 'attempt_retired' };
    const before = attempt?.calls.get(request.callId);
    if (before) {
      const same = askedFor(before.request) === askedFor(request);
      return same ? before.outcome : { kind: 'refused', code: 'duplicate_call' };
    }
    if (attempt?.failures.some((row) => row.callId === request.callId && row.reason === 'unresolved_parent'))
      return { kind: 'unresolved' };

    const resend = attempt ? this.#findResend(attempt, request) : null;
    if (attempt?.state === 'closed' && (resend === null || resend === 'reused'))
      return { kind: 'refused', code: 'attempt_closed' };
    if (resend === 'reused') return { kind: 'refused', code: 'idempotency_key_reused' };
    if (resend) {
      resend.waiters.add(request.callId);
      return { kind: 'joined', callId: resend.request.callId };
    }
    if (request.afterFailure === 'refuse' && (attempt?.failures.length ?? 0) > 0)
      return { kind: 'refused', code: 'attempt_incomplete' };
    if ((attempt?.calls.size ?? 0) >= request.maxCalls) return { kind: 'refused', code: 'too_many_calls' };

    const outcome = this.#search(attempt, request);
    if (outcome.kind === 'refused') return outcome;
    const target = attempt ?? this.#create(request.attempt, 'open');
    if (outcome.kind === 'unresolved') {
      target.failures.push({ callId: request.callId, reason: 'unresolved_parent' });
    } else if (outcome.kind === 'admitted') {
      const waiters = new Set([request.callId]);
      target.calls.set(request.callId, {
        request,
        outcome,
        state: 'pending',
        waiters,
        handedOver: false,
        hasReply: false,
      });
    }
    return outcome;
  }

  #findResend(attempt: ModelAttempt, { callId, resend }: AdmitRequest): ModelCall | 'reused' | null {
    if (!resend) return null;
    const calls = [...attempt.calls.values()];
    const answerable = (call: ModelCall) =>
      !hasFailed(attempt, call) && (call.state === 'pending' || (call.state === 'committed' && call.hasReply));
    if (resend.idempotencyKey !== null) {
      const keyed = calls.findLast((call) => call.request.resend?.idempotencyKey === resend.idempotencyKey);
      if (keyed && keyed.request.resend?.requestDigest !== resend.requestDigest) return 'reused';
      if (keyed && answerable(keyed)) return keyed;
    }
    const claimable = calls.find(
      (call) =>
        call.request.resend?.requestDigest === resend.requestDigest &&
        !call.handedOver &&
        (call.waiters.size === 0 || call.waiters.has(callId)) &&
        answerable(call),
    );
    return claimable ?? null;
  }

  #search(attempt: ModelAttempt | undefined, request: AdmitRequest): AdmitOutcome {
    const recordsSeen = attempt?.committed.length ?? 0;
    const root = (rootedBy: 'unmatched' | 'ambiguous' | 'named_parent', namedCallId?: string): AdmitOutcome => ({
      kind: 'admitted',
      candidate: null,
      rootedBy,
      ...(namedCallId !== undefined && { namedCallId }),
      recordsSeen,
    });
    const { boundary, namedParent } = request;
    if (namedParent === null) return root('named_parent');
    let records = attempt?.committed ?? [];
    if (namedParent !== undefined) {
      records = records.filter((call) => call.commit!.index.responseId === namedParent);
      if (records.length !== 1) return { kind: 'refused', code: 'unknown_parent' };
    }
    let matches = records.filter(({ commit }) => {
      const index = commit!.index;
      return (
        boundary !== null &&
        index.itemCount === boundary.itemCount &&
        index.renderDigest === boundary.renderDigest &&
        index.emptyToolContentDigest === boundary.emptyToolContentDigest
      );
    });
    if (namedParent !== undefined && matches.length === 0) return root('named_parent', records[0]!.request.callId);
    if (matches.length > 1) {
      const isNamed = ({ commit }: ModelCall) => {
        const ids = commit!.index.outputIds;
        return ids.length > 0 && ids.every((id) => boundary!.echoedIds.includes(id));
      };
      if (matches.some(isNamed)) matches = matches.filter(isNamed);
      const tokens = ({ commit }: ModelCall) => `${commit!.index.cumLen} ${commit!.index.cumulativeHash}`;
      matches = matches.filter((match, at) => !matches.slice(at + 1).some((later) => tokens(later) === tokens(match)));
    }
    if (matches.length === 1) {
      const { request: parent, commit } = matches[0]!;
      const { cumLen, chainHash, itemCount, sourceDigest, emptyToolContentDigest, renderDigest } = commit!.index;
      const candidate = {
        callId: parent.callId,
        cumLen,
        chainHash,
        stagingChain: this.#chain(attempt!, parent.callId),
        itemCount,
        sourceDigest,
        emptyToolContentDigest,
        renderDigest,
        match: sourceDigest === boundary!.sourceDigest ? ('exact' as const) : ('empty_tool_content' as const),
      };
      return { kind: 'admitted', candidate, rootedBy: null, recordsSeen };
    }
    if (matches.length > 1) {
      if (request.onAmbiguous === 'refuse') return { kind: 'refused', code: 'ambiguous_candidate' };
      return request.onAmbiguous === 'root' ? root('ambiguous') : { kind: 'unresolved' };
    }
    const isFresh = recordsSeen === 0 && (attempt?.failures.length ?? 0) === 0;
    return request.onUnmatched === 'root' || isFresh ? root('unmatched') : { kind: 'unresolved' };
  }

  #chain(attempt: ModelAttempt, callId: string): string[] {
    const { parentCallId, stagingKey } = attempt.calls.get(callId)!.commit!.index;
    return [...(parentCallId === null ? [] : this.#chain(attempt, parentCallId)), stagingKey];
  }

  commit(request: CommitRequest): CommitOutcome {
    const attempt = this.#attempts.get(request.attempt);
    const call = attempt?.calls.get(request.callId);
    if (!attempt || !call) return 'dropped';
    if (call.state === 'refused') return 'conflict';
    if (call.commit) return call.commit.recordJson === request.recordJson ? 'already_committed' : 'conflict';
    const { parentCallId } = request.index;
    if (parentCallId !== null && parentCallId !== call.outcome.candidate?.callId) return 'conflict';
    call.commit = request;
    call.state = 'committed';
    call.hasReply = request.replyJson !== null;
    attempt.committed.push(call);
    return 'committed';
  }

  settleRefused(name: string, callId: string, code: string): boolean {
    const attempt = this.#attempts.get(name);
    const call = attempt?.calls.get(callId);
    if (!attempt || !call || call.state === 'committed') return false;
    if (call.state === 'refused') return true;
    call.state = 'refused';
    call.code = code;
    attempt.failures = attempt.failures.filter((row) => row.callId !== callId);
    return true;
  }

  addFailure(name: string, callId: string, reason: string): boolean {
    const attempt = this.#attempts.get(name);
    const call = attempt?.calls.get(callId);
    if (!attempt || !call || call.state === 'refused') return false;
    if (!attempt.failures.some((row) => row.callId === callId && row.reason === reason))
      attempt.failures.push({ callId, reason });
    return true;
  }

  clientGone(name: string, callId: string, waiter?: string): void {
    const waiters = this.#attempts.get(name)?.calls.get(callId)?.waiters;
    if (waiter === undefined) waiters?.clear();
    else waiters?.delete(waiter);
  }

  delivered(name: string, callId: string): void {
    const call = this.#attempts.get(name)?.calls.get(callId);
    if (!call) return;
    call.handedOver = true;
    call.waiters.clear();
    if (call.request.resend?.idempotencyKey == null) call.hasReply = false;
  }

  replyOf(name: string, callId: string): ReplyState {
    const attempt = this.#attempts.get(name);
    const call = attempt?.calls.get(callId);
    if (!attempt || !call) return { kind: 'gone' };
    if (hasFailed(attempt, call) || call.state === 'refused') return { kind: 'failed' };
    if (call.state === 'pending') return { kind: 'running' };
    return call.hasReply ? { kind: 'finished', replyJson: call.commit!.replyJson! } : { kind: 'gone' };
  }

  close(name: string): 'closed' | 'retired' {
    const attempt = this.#attempts.get(name) ?? this.#create(name, 'closed');
    if (attempt.state === 'retired') return 'retired';
    attempt.state = 'closed';
    return 'closed';
  }

  retire(names: readonly string[]): Removal {
    return this.#remove(names, (name) => {
      const before = this.#attempts.get(name);
      this.#create(name, 'retired');
      return before !== undefined && before.state !== 'retired';
    });
  }

  delete(names: readonly string[]): Removal {
    return this.#remove(names, (name) => this.#attempts.delete(name));
  }

  #remove(names: readonly string[], take: (name: string) => boolean): Removal {
    const removal: Removal = { removed: [], absent: [] };
    for (const name of new Set(names)) (take(name) ? removal.removed : removal.absent).push(name);
    return removal;
  }

  unsettled(name: string): number {
    const attempt = this.#attempts.get(name);
    if (!attempt) return 0;
    return [...attempt.calls.values()].filter((call) => call.state === 'pending' && !hasFailed(attempt, call)).length;
  }

  snapshot(name: string): AttemptSnapshot | 'retired' {
    const attempt = this.#attempts.get(name);
    if (attempt?.state === 'retired') return 'retired';
    const calls = [...(attempt?.calls ?? [])];
    const ids = (state: ModelCall['state']) => calls.filter(([, call]) => call.state === state).map(([id]) => id);
    return {
      state: attempt?.state ?? 'open',
      recordCount: attempt?.committed.length ?? 0,
      attemptedCallIds: calls.map(([id]) => id),
      pendingCallIds: ids('pending'),
      failures: attempt?.failures ?? [],
      refused: ids('refused').map((callId) => ({ callId, code: attempt!.calls.get(callId)!.code! })),
      whyRoot: (attempt?.committed ?? []).flatMap(({ commit }) =>
        commit!.whyRootJson === null ? [] : [{ callId: commit!.callId, json: commit!.whyRootJson }],
      ),
    };
  }

  records(name: string): string[] {
    return (this.#attempts.get(name)?.committed ?? []).map(({ commit }) => commit!.recordJson);
  }

  #create(name: string, state: ModelAttempt['state']): ModelAttempt {
    const attempt: ModelAttempt = { state, calls: new Map(), committed: [], failures: [] };
    this.#attempts.set(name, attempt);
    return attempt;
  }
}

function hasFailed(attempt: ModelAttempt, call: ModelCall): boolean {
  return attempt.failures.some((row) => row.callId === call.request.callId);
}

/** What a call id stands for; how the service is set does not count. */
function askedFor({ admittedAtS, boundary, namedParent, resend }: AdmitRequest): string {
  return JSON.stringify({ admittedAtS, boundary, namedParent, resend });
}
