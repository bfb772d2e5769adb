-- Ledger.propose: the search of admit.lua alone; writes nothing.
--
-- keys: meta committed lookup chunks
-- args: parentKind parentResponse secondDigest renderDigest itemCount echoedIds reasoning
-- reply: {'proposed', [candidate: see describe in lib/search.lua]} {'none', reason} {'retired'}
-- include: lib/records.lua lib/search.lua

if redis.call('HGET', meta, 'state') == 'retired' then return { 'retired' } end
local candidate, reason = search()
return candidate and describe({ 'proposed' }, candidate) or { 'none', reason }
