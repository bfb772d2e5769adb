-- Calls for one request whose reply was not handed over yet: field `d:<request digest>` of `resends`, ids each followed by a space.
local function unhandedCalls(digest)
  local ids = {}
  for id in string.gmatch(redis.call('HGET', resends, 'd:' .. digest) or '', '%S+') do ids[#ids + 1] = id end
  return ids
end

local function forgetUnhanded(digest, gone)
  local left = ''
  for _, id in ipairs(unhandedCalls(digest)) do
    if id ~= gone then left = left .. id .. ' ' end
  end
  if left == '' then
    redis.call('HDEL', resends, 'd:' .. digest)
  else
    redis.call('HSET', resends, 'd:' .. digest, left)
  end
end
