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
