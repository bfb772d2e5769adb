-- The latest activity of an attempt, to the second: nobody asks for it more exactly, and each write costs.

local function touch(last, nowS)
  if tonumber(nowS) - tonumber(last or '0') >= 1 then redis.call('HSET', meta, 'last', nowS) end
end
