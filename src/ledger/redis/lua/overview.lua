-- One attempt in numbers; writes nothing.
--
-- keys: meta records pending unsettled failures refused
-- args:
-- reply: {state or '', records, pending, failures, refused, last activity, unsettled, admission of the oldest unsettled call or ''}

local state, last = unpack(redis.call('HMGET', meta, 'state', 'last'))
local inFlight = redis.call('ZCARD', unsettled)
local oldest = redis.call('ZRANGE', unsettled, 0, 0, 'WITHSCORES')
return {
  state or '',
  redis.call('LLEN', records),
  inFlight + redis.call('ZCARD', pending),
  redis.call('ZCARD', failures),
  redis.call('ZCARD', refused),
  last or '0',
  inFlight,
  oldest[2] or '',
}
