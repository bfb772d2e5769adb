-- Calls for one request whose reply was not handed over yet: field `d:<request digest>` of `resends`, ids each followed by a space.
-- There can be thousands of them, each looked at by each: a step costs a few lookups and one copy of the list, no decoding.

local function unhandedCalls(digest)
  return redis.call('HGET', resends, 'd:' .. digest) or ''
end

-- The list without one of its ids.
local function withoutCall(list, id)
  local at = string.find(' ' .. list, ' ' .. id .. ' ', 1, true)
  return at and string.sub(list, 1, at - 1) .. string.sub(list, at + #id + 1) or list
end

local function forgetUnhanded(digest, gone)
  local list = unhandedCalls(digest)
  local left = withoutCall(list, gone)
  if left == '' then
    redis.call('HDEL', resends, 'd:' .. digest)
  elseif left ~= list then
    redis.call('HSET', resends, 'd:' .. digest, left)
  end
end
