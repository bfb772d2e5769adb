-- Ledger.replyOf; writes nothing.
--
-- keys: calls replies
-- args: callId
-- reply: {'running'} {'finished', reply} {'failed'} {'gone'}
-- include: lib/calls.lua

local call = readCall(callId)
if not call then return { 'gone' } end
if call.f or call.s == 'r' then return { 'failed' } end
if call.s == 'p' then return { 'running' } end
local reply = call.k ~= nil and call.k > serverMs() and redis.call('HGET', replies, callId)
return reply and { 'finished', reply } or { 'gone' }
