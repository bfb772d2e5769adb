-- Takes over the attempts of a replica whose lease ran out. What is taken stays under `orphaned` until it is settled, so that another one can go on with it.
--
-- keys: lease attempts orphaned
-- args: limit
-- reply: attempts, or nothing if the replica lives

if redis.call('EXISTS', lease) == 1 then return false end
if redis.call('EXISTS', attempts) == 1 then
  redis.call('SUNIONSTORE', orphaned, orphaned, attempts)
  redis.call('DEL', attempts)
end
return redis.call('SRANDMEMBER', orphaned, limit)
