-- Ledger.settleRefused.
--
-- keys: calls pending unsettled failures refused waited
-- args: callId code
-- reply: 1, or 0 if there is no such intent or it has committed
-- include: lib/calls.lua

local call = readCall(callId)
if not call or call.s == 'c' then return 0 end
if call.s == 'r' then return 1 end

if call.f then
  for _, row in ipairs(redis.call('ZRANGE', failures, 0, -1)) do
    if string.sub(row, 1, #callId + 1) == callId .. ' ' then redis.call('ZREM', failures, row) end
  end
  call.f = nil
end
call.s = 'r'
writeCall(callId, call)
redis.call('ZADD', refused, call.n, callId .. ' ' .. code)
redis.call('ZREM', pending, callId)
redis.call('ZREM', unsettled, callId)
redis.call('HDEL', waited, callId)
return 1
