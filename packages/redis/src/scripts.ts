/**
 * The store's state of one event, each part a key with a time to live, which the server counts down:
 * no clock but its own decides when a lease ends. All of them lie in one cluster slot.
 *
 * Writes that need memory come first in each script: a full server refuses the first of them and has
 * changed nothing. What ends a lease (RENAME, DEL, PEXPIRE) needs none, so that handled events can
 * be committed on a full server.
 */

/**
 * KEYS: the webhook id; and for an event with a key its attempts, its lease, its mark of being done.
 * ARGV: token, until when the id is remembered (ms since the epoch), lease (ms), memory of events (ms).
 * Gives the attempt, or one of `REFUSALS`.
 */
export const ADMIT = `
local seen = redis.call('GET', KEYS[1])
if seen and seen ~= ARGV[1] then return -2 end
redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2])
if #KEYS == 1 then return 1 end
local holder = redis.call('GET', KEYS[3])
if holder == ARGV[1] then return tonumber(redis.call('GET', KEYS[2]) or 1) end
if holder then return -1 end
if redis.call('EXISTS', KEYS[4]) == 1 then return 0 end
local attempt = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[3])
return attempt`;

/** What the numbers mean that are no attempt. */
export const REFUSALS: ReadonlyMap<number, 'duplicate' | 'in-progress' | 'replayed'> = new Map([
  [0, 'duplicate'],
  [-1, 'in-progress'],
  [-2, 'replayed'],
]);

/**
 * KEYS: lease, done, attempts. ARGV: token, memory of events (ms). The lease becomes the mark of
 * being done, token and all: who repeats a completion whose reply was lost is told the same again.
 */
export const COMPLETE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('RENAME', KEYS[1], KEYS[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('DEL', KEYS[3])
  return 1
end
if redis.call('GET', KEYS[2]) == ARGV[1] then return 1 end
return 0`;

/** KEYS: lease. ARGV: token. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** KEYS: lease. ARGV: token, lease (ms). */
export const EXTEND = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** KEYS: a key for this. A write, as a full or read-only server answers reads and takes no claim. */
export const PING = `
redis.call('SET', KEYS[1], '1', 'PX', 1000)
return 1`;

/** What the server says about its memory, or nothing if this user may not ask. */
export const MEMORY = `
local memory = redis.pcall('INFO', 'memory')
if type(memory) == 'table' then return '' end
return memory`;
