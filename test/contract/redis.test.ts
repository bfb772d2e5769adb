import { startRedis } from '../support/redis-server.ts';
import { startCluster } from '../support/redis-topologies.ts';
import { openRedisLedger } from './ledger/redis-store.ts';
import { ledgerContract } from './ledger-contract.ts';

ledgerContract('Redis', async () => {
  const server = await startRedis();
  return { open: (options) => openRedisLedger(server.url, options), destroy: () => server.stop() };
});

ledgerContract('Redis Cluster', async () => {
  const cluster = await startCluster(3);
  return { open: (options) => openRedisLedger(cluster.url, options), destroy: () => cluster.stop() };
});
