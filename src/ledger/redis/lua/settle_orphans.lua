-- Settles in one attempt what a dead replica left: its pending calls get a failure row, and its clients are gone.
--
-- keys: meta calls pending unsettled failures waited gone
-- args: replica reason
-- reply: number of calls that got a failure row
--
-- If that replica lives after all, its next admission here finds that it is not registered any more: also the one that it has just registered for, and that
-- comes after this (`gone`).
-- include: lib/calls.lua lib/failures.lua lib/waiting.lua

-- Longer than any command can lie in a queue on its way to the server.
local GONE_MS = 3600000

local settled = 0
for _, id in ipairs(redis.call('ZRANGE', unsettled, 0, -1)) do
  local call = readCall(id)
  if call.r == replica then
    failCall(id, call, reason)
    settled = settled + 1
  end
end
for _, id in ipairs(redis.call('HKEYS', waited)) do
  local waiters = waitersOf(id)
  for waiter, owner in pairs(waiters) do
    if owner == replica then waiters[waiter] = nil end
  end
  writeWaiters(id, waiters)
end
redis.call('HDEL', meta, 'by:' .. replica)
redis.call('HSET', gone, replica, '1')
redis.call('PEXPIRE', gone, GONE_MS)
return settled
