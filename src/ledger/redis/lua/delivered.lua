-- Ledger.delivered.
--
-- keys: calls waited resends replies
-- args: callId
-- reply: nothing
-- include: lib/calls.lua lib/resends.lua

local call = readCall(callId)
if not call then return end
call.h = 1
if not call.i then
  call.k = nil
  redis.call('HDEL', replies, callId)
end
writeCall(callId, call)
redis.call('HDEL', waited, callId)
if call.q then forgetUnhanded(call.q, callId) end
