-- Drops a kept reply, to stay within the bounds of what is kept.
--
-- keys: calls replies
-- args: callId
-- reply: nothing
-- include: lib/calls.lua

local call = readCall(callId)
redis.call('HDEL', replies, callId)
if not call or not call.k then return end
call.k = nil
writeCall(callId, call)
