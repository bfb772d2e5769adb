-- Ledger.addFailure.
--
-- keys: meta calls pending unsettled failures waited
-- args: callId reason
-- reply: 1, or 0 if the attempt does not know the call or refused it
-- include: lib/calls.lua lib/failures.lua

local call = readCall(callId)
if not call or call.s == 'r' then return 0 end
failCall(callId, call, reason)
return 1
