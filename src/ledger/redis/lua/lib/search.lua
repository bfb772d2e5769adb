-- Protocol section 3, "The rule", and the named parent of section 2. The same in TypeScript: ../../candidates.ts and ../../sqlite/search.ts.

-- lineage.reasoning `optional`: whatever reasoning the request carries is what the turn was served with.
local function reasoningAgrees(record)
  if reasoning == '' then return true end
  local texts = chunksOf(record)
  local stored = {}
  for part = #texts, 1, -1 do
    local entries = string.match(texts[part], ' (.*),$')
    for _, entry in ipairs(cjson.decode('[' .. entries .. ']')) do
      if type(entry) == 'table' then
        for _, digest in ipairs(entry.reasoning) do stored[#stored + 1] = digest end
      end
    end
  end
  for position, digest in ipairs(cjson.decode(reasoning)) do
    if digest ~= cjson.null and digest ~= stored[position] then return false end
  end
  return true
end

local function isExtended(record)
  local index = record.index
  return secondDigest ~= '' and index[5] == secondDigest and index[6] == renderDigest and index[3] == itemCount and reasoningAgrees(record)
end

local function settleMatches(matches)
  if #matches < 2 then return matches end
  local echoed = {}
  for _, id in ipairs(cjson.decode(echoedIds)) do echoed[id] = true end
  local named = {}
  for _, record in ipairs(matches) do
    local all = #record.index[7] > 0
    for _, id in ipairs(record.index[7]) do all = all and echoed[id] == true end
    if all then named[#named + 1] = record end
  end
  -- Matches come in commit order: of twins the last one stays.
  local twins, order = {}, {}
  for _, record in ipairs(#named > 0 and named or matches) do
    local tokens = record.index[1] .. ' ' .. record.index[2]
    if not twins[tokens] then order[#order + 1] = tokens end
    twins[tokens] = record
  end
  local left = {}
  for _, tokens in ipairs(order) do left[#left + 1] = twins[tokens] end
  return left
end

-- Returns a record, or nil and what to make of it: 'unmatched', 'ambiguous', 'named_parent' (and the call that was named) or
-- 'unknown_parent'.
local function search()
  if parentKind == 'none' then return nil, 'named_parent' end
  if parentKind == 'named' then
    local named = lookUp('r' .. parentResponse .. '\0', 2)
    if #named ~= 1 then return nil, 'unknown_parent' end
    local record = readCommitted(named[1])
    if isExtended(record) then return record end
    return nil, 'named_parent', record.id
  end
  if secondDigest == '' then return nil, 'unmatched' end
  local matches = {}
  for _, id in ipairs(lookUp('d' .. string.sub(secondDigest, 1, 32) .. ':', -1)) do
    local record = readCommitted(id)
    if isExtended(record) then matches[#matches + 1] = record end
  end
  matches = settleMatches(matches)
  if #matches == 1 then return matches[1] end
  return nil, #matches == 0 and 'unmatched' or 'ambiguous'
end

-- The candidate's part of a reply: call id, what `committed` has of it, the texts of its ancestry, the last one first.
local function describe(reply, record)
  reply[#reply + 1] = record.id
  reply[#reply + 1] = record.text
  for _, text in ipairs(chunksOf(record)) do reply[#reply + 1] = text end
  return reply
end
