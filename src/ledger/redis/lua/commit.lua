-- Ledger.commit: the record of an admitted call.
--
-- keys: meta calls pending unsettled records committed sketches lookup chunks roots replies
-- args: callId recordJson indexJson parentCallId entry secondDigest responseId whyRoot sketch reply keepMs nowS
-- reply: 'committed' 'already_committed' 'conflict' 'dropped'
--
-- parentCallId, whyRoot, reply: '' for none. entry: see ../../ancestry.ts.
-- include: lib/calls.lua lib/activity.lua

local CHUNK_BYTES = 1024

-- read

local call = readCall(callId)
if not call then return 'dropped' end
if call.s == 'r' then return 'conflict' end
if call.s == 'c' then
  local number = string.match(redis.call('HGET', committed, callId), '^%d+')
  return redis.call('LINDEX', records, number) == recordJson and 'already_committed' or 'conflict'
end
if parentCallId ~= '' and parentCallId ~= call.c then return 'conflict' end

-- decide: a child of the last call of a chunk is appended to it, a child of an inner one starts a chunk with a copy of what is before it

local chunk, text = nil, '0 '
if parentCallId ~= '' then
  local place, last = string.match(redis.call('HGET', committed, parentCallId), '^%d+ (%d+) (%d+) ')
  if tonumber(last) >= CHUNK_BYTES then
    text = place .. ' '
  else
    text = redis.call('HGET', chunks, place)
    local parentEnd = string.find(text, ' ', 1, true) + tonumber(last)
    if #text == parentEnd then chunk = place else text = string.sub(text, 1, parentEnd) end
  end
end
text = text .. entry

-- write

chunk = chunk or redis.call('HINCRBY', meta, 'chunks', 1)
redis.call('HSET', chunks, chunk, text)
local number = redis.call('RPUSH', records, recordJson) - 1
redis.call('RPUSH', sketches, sketch)
local last = #text - string.find(text, ' ', 1, true)
redis.call('HSET', committed, callId, number .. ' ' .. chunk .. ' ' .. last .. ' ' .. indexJson)
local filed = string.format('%08d', number) .. callId
redis.call('ZADD', lookup, 0, 'd' .. string.sub(secondDigest, 1, 32) .. ':' .. filed, 0, 'r' .. responseId .. '\0' .. filed)
if whyRoot ~= '' then redis.call('RPUSH', roots, callId .. ' ' .. whyRoot) end
if reply ~= '' then
  call.k = serverMs() + tonumber(keepMs)
  redis.call('HSET', replies, callId, reply)
  -- Later than k, so that k alone says whether a reply can still be asked for.
  redis.call('PEXPIRE', replies, tonumber(keepMs) + 1000)
end
call.s = 'c'
writeCall(callId, call)
if call.f then redis.call('ZREM', pending, callId) end
redis.call('ZREM', unsettled, callId)
touch(redis.call('HGET', meta, 'last'), nowS)
return 'committed'
