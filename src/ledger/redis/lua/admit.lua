-- Ledger.admit: records an intent and proposes its parent.
--
-- keys: meta calls admitted pending unsettled failures committed lookup chunks resends waited voided gone replies
-- args: callId replica isRegistered admittedAtS admission maxCalls afterFailure onAmbiguous onUnmatched requestDigest idempotencyKey
--       parentKind parentResponse secondDigest renderDigest itemCount echoedIds reasoning delivered
-- reply: {'admitted', why root or '', call named by the header but not extended or '', records seen, [candidate: see describe in lib/search.lua]}
--        {'joined', call id} {'unresolved'} {'refused', code}
--        {'register'}: no intent was recorded; the caller registers the attempt for its replica and comes back with isRegistered 1
--        {'voided'}: this admission was given up before it arrived
--
-- idempotencyKey: '' or '=' and the key. parentKind: search, none, named. secondDigest: '' without a boundary. echoedIds: JSON list.
-- reasoning: '' or a JSON list. delivered: calls of the attempt whose replies have been handed over, separated by spaces; that is written first,
-- whatever the reply.
-- include: lib/calls.lua lib/activity.lua lib/failures.lua lib/waiting.lua lib/resends.lua lib/records.lua lib/search.lua lib/delivered.lua

-- read

local registration = 'by:' .. replica
local state, last, rows, registered = unpack(redis.call('HMGET', meta, 'state', 'last', 'rows', registration))
if state == 'retired' then return { 'refused', 'attempt_retired' } end

for id in string.gmatch(delivered, '%S+') do handOver(id) end

local isFenced = redis.call('EXISTS', voided, gone) > 0
if isFenced and redis.call('HEXISTS', voided, callId) == 1 then return { 'voided' } end

local earlier = readCall(callId)
if earlier then
  if earlier.a ~= admission then return { 'refused', 'duplicate_call' } end
  local reply = { 'admitted', earlier.b, earlier.p or '', earlier.m }
  return earlier.c == '' and reply or describe(reply, readCommitted(earlier.c))
end
if rows and redis.call('ZSCORE', failures, callId .. ' unresolved_parent') then return { 'unresolved' } end

-- decide

local function answerable(call)
  if not call or call.f then return false end
  return call.s == 'p' or (call.s == 'c' and call.k ~= nil and call.k > serverMs())
end

-- Calls for this request whose reply may still be handed over; those that never will are left out.
local unhanded = ''
local AT_ONCE = 1000

-- The re-send rule (design, "Never twice"): the call to join, or nil and whether the key was used for another request.
local function findResend()
  if requestDigest == '' then return nil, false end
  if idempotencyKey ~= '' then
    local digest, id = string.match(redis.call('HGET', resends, 'k:' .. idempotencyKey) or '', '^(%S+) (%S+)$')
    if digest and digest ~= requestDigest then return nil, true end
    if digest and answerable(readCall(id)) then return id end
  end
  unhanded = unhandedCalls(requestDigest)
  local ids = {}
  for id in string.gmatch(unhanded, '%S+') do ids[#ids + 1] = id end
  for from = 1, #ids, AT_ONCE do
    local waiting = redis.call('HMGET', waited, unpack(ids, from, math.min(from + AT_ONCE - 1, #ids)))
    for at = 1, #waiting do
      -- What somebody else waits for is nobody's to claim.
      if not waiting[at] or string.find(waiting[at], '"' .. callId .. '":', 1, true) then
        local id = ids[from + at - 1]
        if answerable(readCall(id)) then return id end
        unhanded = withoutCall(unhanded, id)
      end
    end
  end
  return nil, false
end

local joined, isKeyReused = findResend()
local candidate, reason, named
if not joined then
  if state == 'closed' then return { 'refused', 'attempt_closed' } end
  if isKeyReused then return { 'refused', 'idempotency_key_reused' } end
  if afterFailure == 'refuse' and redis.call('ZCARD', failures) > 0 then return { 'refused', 'attempt_incomplete' } end
  if redis.call('LLEN', admitted) >= tonumber(maxCalls) then return { 'refused', 'too_many_calls' } end
  candidate, reason, named = search()
end

local records = redis.call('HLEN', committed)
local isUnresolved = false
if reason == 'unknown_parent' then return { 'refused', 'unknown_parent' } end
if reason == 'ambiguous' and onAmbiguous == 'refuse' then return { 'refused', 'ambiguous_candidate' } end
if reason == 'ambiguous' then isUnresolved = onAmbiguous == 'unresolved' end
if reason == 'unmatched' and onUnmatched == 'root_if_fresh' then isUnresolved = records > 0 or redis.call('ZCARD', failures) > 0 end

-- Registered, and then taken for dead and out of the lists before this came: a sweep would not find the intent.
if isFenced and redis.call('HEXISTS', gone, replica) == 1 then
  redis.call('HDEL', gone, replica)
  return { 'register' }
end
if isRegistered == '0' and not registered then return { 'register' } end

-- write

if not state or not registered then redis.call('HSET', meta, 'state', state or 'open', registration, '1') end
if joined then
  local waiters = waitersOf(joined)
  waiters[callId] = replica
  writeWaiters(joined, waiters)
  return { 'joined', joined }
end
touch(last, admittedAtS)
if isUnresolved then
  addFailureRow(callId, 'unresolved_parent')
  return { 'unresolved' }
end

local order = redis.call('RPUSH', admitted, callId) - 1
local call = { s = 'p', n = order, a = admission, r = replica, c = candidate and candidate.id or '', b = reason or '', p = named, m = records }
if requestDigest ~= '' then
  call.q = requestDigest
  redis.call('HSET', resends, 'd:' .. requestDigest, unhanded .. callId .. ' ')
  writeWaiters(callId, { [callId] = replica })
end
if idempotencyKey ~= '' then
  call.i = idempotencyKey
  redis.call('HSET', resends, 'k:' .. idempotencyKey, requestDigest .. ' ' .. callId)
end
writeCall(callId, call)
redis.call('ZADD', unsettled, admittedAtS, callId)
local reply = { 'admitted', call.b, named or '', call.m }
return candidate and describe(reply, candidate) or reply
