-- Ledger.retire, Ledger.delete, and the expiry of abandoned attempts.
--
-- keys: meta calls admitted pending unsettled failures refused records committed sketches lookup chunks roots resends waited replies removal
-- args: mode operation nowS beforeS
-- reply: 1 if there were rows, or a fence, for this operation to take away
--
-- mode: retire, delete, abandon (only without calls in flight and without activity since beforeS). operation: names this operation, so that it answers the
-- same when it is run again after its answer was lost.

local state, last = unpack(redis.call('HMGET', meta, 'state', 'last'))
if redis.call('GET', removal) == operation then return 1 end
if mode == 'abandon' and (not state or redis.call('ZCARD', unsettled) > 0 or tonumber(last or '0') >= tonumber(beforeS)) then return 0 end
if mode == 'retire' and state == 'retired' then return 0 end

redis.call('UNLINK', meta, calls, admitted, pending, unsettled, failures, refused, records, committed, sketches, lookup, chunks, roots, resends, waited, replies)
if mode == 'retire' then redis.call('HSET', meta, 'state', 'retired', 'last', nowS) end
if not state then return 0 end
redis.call('SET', removal, operation, 'PX', 60000)
return 1
