import type { Refusals } from '@call-webhooks/store-tests';
import type { Redis } from 'ioredis';

/** Ways in which a server that answers reads refuses writes. */
export function refusals(admin: () => Redis): Refusals {
  const set = (name: string, value: string) => admin().config('SET', name, value);
  return {
    'it is a replica': async () => {
      await admin().replicaof('127.0.0.1', 1);
      return () => admin().replicaof('NO', 'ONE');
    },
    'it is full': async () => {
      await set('maxmemory', '1');
      return () => set('maxmemory', '0');
    },
    'it lacks the replicas that it requires': async () => {
      await set('min-replicas-to-write', '1');
      return () => set('min-replicas-to-write', '0');
    },
    'its user may write other keys only': async () => {
      await admin().acl('SETUSER', 'default', 'resetkeys', '~other:*');
      return () => admin().acl('SETUSER', 'default', 'allkeys');
    },
    'its user may run no script': async () => {
      await admin().acl('SETUSER', 'default', '-evalsha', '-eval');
      return () => admin().acl('SETUSER', 'default', '+@all');
    },
    'its user may not set': async () => {
      await admin().acl('SETUSER', 'default', '-set', '-hset', '-hmset');
      return () => admin().acl('SETUSER', 'default', '+@all');
    },
  };
}
