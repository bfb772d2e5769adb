-- Ledger.delivered.
--
-- keys: calls waited resends replies
-- args: callIds
-- reply: nothing. callIds: separated by spaces.
-- include: lib/calls.lua lib/resends.lua lib/delivered.lua

for id in string.gmatch(callIds, '%S+') do handOver(id) end
