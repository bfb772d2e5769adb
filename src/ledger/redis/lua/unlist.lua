-- Takes an attempt from the lists if nobody has registered for it in the last seconds: an admission may be on its way behind a registration.
--
-- keys: names live
-- args: attempt quietS isGone
-- reply: nothing
--
-- isGone 1: nothing is known of the attempt, it leaves the list of names too. 0: it is not live any more.

local registeredAt = redis.call('ZSCORE', live, attempt)
if registeredAt and redis.call('TIME')[1] - registeredAt < tonumber(quietS) then return end
redis.call('ZREM', live, attempt)
if isGone == '1' then redis.call('ZREM', names, attempt) end
