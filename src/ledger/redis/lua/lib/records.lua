-- Committed calls: `committed` maps a call id to `<commit number> <chunk> <end> <index>`, the index a JSON list:
--   cum_len, cumulative hash, item count, source digest, second digest, render digest, output ids, response id, chain hash
-- (numbers as text: Lua's are doubles that it prints with 14 digits). `chunks` maps a number to `<chunk before> <entries>`: see ../../ancestry.ts.
-- Lua reads every byte of a string that it makes: texts are passed on whole, and cut where they are used.

local function readCommitted(id)
  local text = redis.call('HGET', committed, id)
  if not text then return nil end
  local chunk, last, index = string.match(text, '^%d+ (%d+) (%d+) (.*)$')
  return { id = id, chunk = chunk, last = tonumber(last), text = text, index = cjson.decode(index) }
end

-- The stored texts of a call's ancestry: its own chunk, up to its place, and those before it.
local function chunksOf(record)
  local text = redis.call('HGET', chunks, record.chunk)
  local last = string.find(text, ' ', 1, true) + record.last
  local texts = { last == #text and text or string.sub(text, 1, last) }
  local before = string.match(text, '^%d+')
  while before ~= '0' do
    text = redis.call('HGET', chunks, before)
    texts[#texts + 1] = text
    before = string.match(text, '^%d+')
  end
  return texts
end

-- Call ids of the records that were filed under a term, in commit order. Terms end with a character that is no part of them.
local function lookUp(term, limit)
  local last = string.sub(term, 1, -2) .. string.char(string.byte(term, -1) + 1)
  local found = redis.call('ZRANGEBYLEX', lookup, '[' .. term, '(' .. last, 'LIMIT', 0, limit)
  local ids = {}
  for _, member in ipairs(found) do ids[#ids + 1] = string.sub(member, #term + 9) end
  return ids
end
