-- Ledger.clientGone.
--
-- keys: waited
-- args: callId waiter
-- reply: nothing. waiter '': nobody waits any more.
-- include: lib/waiting.lua

local waiters = waiter ~= '' and waitersOf(callId) or {}
waiters[waiter] = nil
writeWaiters(callId, waiters)
