/** KEYS: the lease of a group. ARGV: token, lease (ms). */
export const TAKE_GROUP = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** KEYS: the lease of a group. ARGV: token, and to extend it, ms; without them it is freed. */
export const SETTLE_GROUP = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('DEL', KEYS[1])`;

/** KEYS: the cursor. The reply begins with '=', or Upstash would parse JSON; it is '' if there is none. */
export const LOAD_CURSOR = `
local cursor = redis.call('GET', KEYS[1])
return cursor and '=' .. cursor or ''`;

/** KEYS: the cursor. ARGV: its text, or '' to remove it. */
export const SAVE_CURSOR = `
if ARGV[1] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

/** KEYS: a key for this. It writes, since a full or read-only server still answers reads. */
export const PING = `
redis.call('SET', KEYS[1], '1', 'PX', 1000)
return 1`;

/** What the server says about its memory, or nothing if this user may not ask. */
export const MEMORY = `
local memory = redis.pcall('INFO', 'memory')
if type(memory) == 'table' then return '' end
return memory`;
