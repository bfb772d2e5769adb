-- Lists an attempt and the replica that is about to admit to it. Written before the first admission, so that whoever sweeps finds both.
--
-- keys: names live replicas
-- args: attempt replica
-- reply: nothing. replica '': the attempt is closed or retired unseen; it only gets its place in the lists.

local time = redis.call('TIME')
redis.call('ZADD', names, 0, attempt)
redis.call('ZADD', live, time[1], attempt)
if replica ~= '' then redis.call('SADD', replicas, replica) end
