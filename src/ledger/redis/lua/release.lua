-- Ends a replica's registration for an attempt in which it has no call and no client any more.
--
-- keys: meta calls unsettled waited
-- args: replica
-- reply: 1 if it ended
-- include: lib/calls.lua lib/waiting.lua

for _, id in ipairs(redis.call('ZRANGE', unsettled, 0, -1)) do
  if readCall(id).r == replica then return 0 end
end
for _, id in ipairs(redis.call('HKEYS', waited)) do
  for _, owner in pairs(waitersOf(id)) do
    if owner == replica then return 0 end
  end
end
redis.call('HDEL', meta, 'by:' .. replica)
return 1
