-- A reply was handed over in full. What no Idempotency-Key can ask for again goes.

local function handOver(id)
  local call = readCall(id)
  if not call then return end
  if not call.i then redis.call('HDEL', replies, id) end
  redis.call('HDEL', waited, id)
  if call.q then forgetUnhanded(call.q, id) end
end
