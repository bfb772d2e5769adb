-- An intent, as `calls` keeps it under its call id:
--   s  state: p pending, c committed, r refused          n  order of admission
--   a  digest of the admitted request                    r  replica
--   c  proposed parent ('' for a root)                   b  why it is a root ('' for a continuation)
--   m  records that it could see                         p  call that the parent header named but it does not extend, or absent
--   f  1: has a failure row
--   q  request digest of the re-send rule, or absent     i  Idempotency-Key, or absent
--   k  end of its kept reply, ms of the server's clock (it may have gone before)

local function readCall(id)
  local text = redis.call('HGET', calls, id)
  return text and cjson.decode(text) or nil
end

local function writeCall(id, call)
  redis.call('HSET', calls, id, cjson.encode(call))
end

local function serverMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
