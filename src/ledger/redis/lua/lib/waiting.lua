-- Who waits for which reply: `waited` maps a call to {waiter: replica}; no entry: nobody waits.

local function waitersOf(id)
  local text = redis.call('HGET', waited, id)
  return text and cjson.decode(text) or {}
end

local function writeWaiters(id, waiters)
  if next(waiters) == nil then
    redis.call('HDEL', waited, id)
  else
    redis.call('HSET', waited, id, cjson.encode(waiters))
  end
end
