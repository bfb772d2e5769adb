-- Ledger.close.
--
-- keys: meta
-- args: nowS
-- reply: 'closed' 'retired'

local state = redis.call('HGET', meta, 'state')
if state == 'retired' then return 'retired' end
if not state then redis.call('HSET', meta, 'last', nowS) end
if state ~= 'closed' then redis.call('HSET', meta, 'state', 'closed') end
return 'closed'
