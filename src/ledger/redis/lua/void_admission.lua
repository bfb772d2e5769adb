-- Gives up an admission whose answer was lost for good: its call never ran. If it has arrived, its intent is settled as refused; if it has not, it finds
-- `voided` when it does. What it joined can be claimed again.
--
-- keys: calls pending unsettled refused waited voided
-- args: callId code keepMs
-- reply: 1 if there was something to take back
-- include: lib/calls.lua lib/waiting.lua

redis.call('HSET', voided, callId, '1')
redis.call('PEXPIRE', voided, keepMs)
for _, id in ipairs(redis.call('HKEYS', waited)) do
  local waiters = waitersOf(id)
  if waiters[callId] then
    waiters[callId] = nil
    writeWaiters(id, waiters)
  end
end
local call = readCall(callId)
if not call or call.s ~= 'p' or call.f then return 0 end
call.s = 'r'
writeCall(callId, call)
redis.call('ZADD', refused, call.n, callId .. ' ' .. code)
redis.call('ZREM', pending, callId)
redis.call('ZREM', unsettled, callId)
return 1
