-- Committed calls: `committed` maps a call id to `<commit number> <chunk> <end> <index>`, the index a JSON list:
--   cum_len, cumulative hash, item count, source digest, second digest, render digest, output ids, response id, chain hash
-- (numbers as text: Lua's are doubles that it prints with 14 digits). Chunks hold the ancestry: see ../../ancestry.ts.

local function readPlace(id)
  local text = redis.call('HGET', committed, id)
  if not text then return nil end
  local number, chunk, last, index = string.match(text, '^(%d+) (%d+) (%d+) (.*)$')
  return { id = id, number = tonumber(number), chunk = chunk, last = tonumber(last), text = index }
end

local function readCommitted(id)
  local record = readPlace(id)
  if record then record.index = cjson.decode(record.text) end
  return record
end

local function readChunk(number)
  local before, body = string.match(redis.call('HGET', chunks, number), '^(%d+) (.*)$')
  return before, body
end

-- The texts of a call's ancestry, its own chunk first.
local function ancestryOf(record)
  local before, body = readChunk(record.chunk)
  local bodies = { string.sub(body, 1, record.last) }
  while before ~= '0' do
    before, body = readChunk(before)
    bodies[#bodies + 1] = body
  end
  return bodies
end

-- Call ids of the records that were filed under a term, in commit order. Terms end with a character that is no part of them.
local function lookUp(term, limit)
  local last = string.sub(term, 1, -2) .. string.char(string.byte(term, -1) + 1)
  local found = redis.call('ZRANGEBYLEX', lookup, '[' .. term, '(' .. last, 'LIMIT', 0, limit)
  local ids = {}
  for _, member in ipairs(found) do ids[#ids + 1] = string.sub(member, #term + 9) end
  return ids
end
