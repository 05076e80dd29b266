import type { Redis } from 'ioredis';

const AGE = `
local ms = tonumber(ARGV[1])
local rows = {batches = 'rows', ['failed-batches'] = 'failures'}
local function ageStream(key)
  local log, name = string.match(key, '^(.*:)([^:]+)$')
  local entries = redis.call('XRANGE', key, '-', '+')
  redis.call('DEL', key)
  for _, entry in ipairs(entries) do
    local at, sequence = string.match(entry[1], '^(%d+)-(%d+)$')
    local id, fields = string.format('%d-%d', at - ms, sequence), entry[2]
    for i = 1, #fields, 2 do
      if fields[i] == 'first' or fields[i] == 'last' then
        fields[i + 1] = string.format('%d', fields[i + 1] - ms)
      end
    end
    redis.call('XADD', key, id, unpack(fields))
    local kept = redis.call('HGET', log .. rows[name], entry[1])
    if kept then
      redis.call('HDEL', log .. rows[name], entry[1])
      redis.call('HSET', log .. rows[name], id, kept)
    end
  end
end
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left, kind = redis.call('PTTL', key), redis.call('TYPE', key).ok
  if kind == 'stream' then ageStream(key) end
  if kind == 'zset' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      local isTime = tonumber(redis.call('ZSCORE', key, member)) > 1e12
      if isTime then redis.call('ZINCRBY', key, -ms, member) end
    end
  end
  if left >= 0 then redis.call('PEXPIRE', key, left - ms) end
end`;

/** As if the time had passed: times to live, times in sorted sets, and the ids of streams are times. */
export async function age(admin: Redis, ms: number): Promise<void> {
  await admin.eval(AGE, 0, ms);
}

const SIZE = `
local sizes, size = {stream = 'XLEN', hash = 'HLEN', zset = 'ZCARD', list = 'LLEN'}, 0
for _, key in ipairs(redis.call('KEYS', '*')) do
  local command = sizes[redis.call('TYPE', key).ok]
  size = size + (command and redis.call(command, key) or 1)
end
return size`;

/** How much there is in the database: each key, and of lists, hashes, sets and streams each entry. */
export const size = async (admin: Redis): Promise<number> => Number(await admin.eval(SIZE, 0));
