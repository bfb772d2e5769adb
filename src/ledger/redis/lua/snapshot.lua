-- Ledger.snapshot; writes nothing.
--
-- keys: meta admitted pending unsettled failures refused records roots
-- args:
-- reply: {state or '', records, admitted ids, unsettled ids, pending ids with a failure row, failure rows, refusals, reasons of roots}

return {
  redis.call('HGET', meta, 'state') or '',
  redis.call('LLEN', records),
  redis.call('LRANGE', admitted, 0, -1),
  redis.call('ZRANGE', unsettled, 0, -1),
  redis.call('ZRANGE', pending, 0, -1),
  redis.call('ZRANGE', failures, 0, -1),
  redis.call('ZRANGE', refused, 0, -1),
  redis.call('LRANGE', roots, 0, -1),
}
