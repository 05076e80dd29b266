import type { Admission } from '@call-webhooks/core';

/**
 * What is kept of one event: a few keys, each with a time to live, in one cluster slot. The server
 * counts the times down, so only its clock decides when a lease ends.
 *
 * In each script, writes that need memory come first: a full server refuses the first one, and nothing
 * has changed. Ending a lease (RENAME, DEL, PEXPIRE) needs no memory, so handled events can be
 * committed on a full server.
 */

/**
 * KEYS: the webhook id, and for an event with a key its attempts, its lease and its two done marks.
 * ARGV: token, when the id may be forgotten (ms since the epoch), lease (ms), memory of events (ms).
 * Returns the attempt, or one of `REFUSALS`.
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
if redis.call('EXISTS', KEYS[5]) == 1 then return -3 end
local attempt = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[3])
return attempt`;

/** The meaning of results that are not an attempt. */
export const REFUSALS: ReadonlyMap<number, Exclude<Admission['status'], 'admitted'>> = new Map([
  [0, 'duplicate'],
  [-1, 'in-progress'],
  [-2, 'replayed'],
  [-3, 'dead-lettered'],
]);

/**
 * KEYS: lease, one of the done marks, attempts. ARGV: token, memory of events (ms). The lease becomes the done mark
 * and keeps its token, so a completion that is repeated after a lost reply has the same result.
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

/** KEYS: the mark of a dead-lettered event. */
export const REOPEN = `return redis.call('DEL', KEYS[1])`;

/** KEYS: a key for this. It writes, since a full or read-only server still answers reads. */
export const PING = `
redis.call('SET', KEYS[1], '1', 'PX', 1000)
return 1`;

/** What the server says about its memory, or nothing if this user may not ask. */
export const MEMORY = `
local memory = redis.pcall('INFO', 'memory')
if type(memory) == 'table' then return '' end
return memory`;
