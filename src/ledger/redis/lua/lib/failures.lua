-- Failure rows: members `<call id> <reason>`, scored in the order in which they were added.

local function addFailureRow(id, reason)
  local row = id .. ' ' .. reason
  if redis.call('ZSCORE', failures, row) then return end
  redis.call('ZADD', failures, redis.call('HINCRBY', meta, 'rows', 1), row)
end

-- An intent that is not refused gets a failure row; neither close nor a client waits for it any more.
local function failCall(id, call, reason)
  addFailureRow(id, reason)
  if call.f then return end
  call.f = 1
  writeCall(id, call)
  if call.s == 'p' then redis.call('ZADD', pending, call.n, id) end
  redis.call('ZREM', unsettled, id)
  redis.call('HDEL', waited, id)
end
