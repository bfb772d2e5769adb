-- Settles in one attempt what a dead replica left: its pending calls get a failure row, and its clients are gone.
--
-- keys: meta calls unsettled failures waited
-- args: replica reason
-- reply: number of calls that got a failure row
--
-- If that replica lives after all, its next admission here finds that it is not registered any more.
-- include: lib/calls.lua lib/failures.lua lib/waiting.lua

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
return settled
