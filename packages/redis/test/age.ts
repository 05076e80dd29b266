import type { Redis } from 'ioredis';

const AGE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
  if redis.call('TYPE', key).ok == 'zset' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      local isTime = tonumber(redis.call('ZSCORE', key, member)) > 1e12
      if isTime then redis.call('ZINCRBY', key, -ARGV[1], member) end
    end
  end
end`;

/** As if the time had passed: all that the store keeps of times are times to live, and times of processes in a sorted set. */
export async function age(admin: Redis, ms: number): Promise<void> {
  await admin.eval(AGE, 0, ms);
}
