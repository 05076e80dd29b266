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
 * In a group also: its lease, and what a claim of the group alone gave: '', 'held' or 'busy'.
 * Returns the attempt, one of `REFUSALS`, or `GROUP_IS_ELSEWHERE`.
 *
 * The lease of an event names that of its group in a second line. A script may read a key that the
 * client did not name, unless another node of a cluster has it: see `group-lease.ts`.
 */
export const ADMIT = `
local seen = redis.call('GET', KEYS[1])
if seen and seen ~= ARGV[1] then return -2 end
redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2])
if #KEYS == 1 then return 1 end
local group = ARGV[5]
local lease = group and ARGV[1] .. '\\n' .. group or ARGV[1]
local holder = redis.call('GET', KEYS[3])
if holder == lease and ARGV[6] == 'busy' then return -4 end
if holder == lease then return tonumber(redis.call('GET', KEYS[2]) or 1) end
if holder then return -1 end
if redis.call('EXISTS', KEYS[4]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[5]) == 1 then return -3 end
if group and ARGV[6] == 'busy' then return -4 end
if group and ARGV[6] == '' then
  local other = redis.pcall('GET', group)
  if type(other) == 'table' then return -5 end
  if other and other ~= ARGV[1] then return -4 end
  redis.call('SET', group, ARGV[1], 'PX', ARGV[3])
end
local attempt = redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('SET', KEYS[3], lease, 'PX', ARGV[3])
return attempt`;

/** The meaning of results that are not an attempt. */
export const REFUSALS: ReadonlyMap<number, Exclude<Admission['status'], 'admitted'>> = new Map([
  [0, 'duplicate'],
  [-1, 'in-progress'],
  [-2, 'replayed'],
  [-3, 'dead-lettered'],
  [-4, 'group-busy'],
]);

/** The event could be admitted, but another node has its group. The client has to ask that one. */
export const GROUP_IS_ELSEWHERE = -5;

// Those below that end or extend a lease return 1 if it is held, else 0, or, when another node has
// the group, the name of the group's lease: the client has to end or extend it.

const PARTS = `
local function parts(lease)
  if not lease then return nil end
  local at = string.find(lease, '\\n', 1, true)
  if not at then return lease end
  return string.sub(lease, 1, at - 1), string.sub(lease, at + 1)
end`;

const FREE = `${PARTS}
local function free(group)
  if not group then return 1 end
  local holder = redis.pcall('GET', group)
  if type(holder) == 'table' then return group end
  if holder == ARGV[1] then redis.call('DEL', group) end
  return 1
end`;

/**
 * KEYS: lease, one of the done marks, attempts. ARGV: token, memory of events (ms). The lease becomes the done mark
 * and keeps its token, so a completion that is repeated after a lost reply has the same result.
 */
export const COMPLETE = `${FREE}
local token, group = parts(redis.call('GET', KEYS[1]))
if token == ARGV[1] then
  redis.call('RENAME', KEYS[1], KEYS[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  redis.call('DEL', KEYS[3])
  return free(group)
end
if parts(redis.call('GET', KEYS[2])) == ARGV[1] then return 1 end
return 0`;

/** KEYS: lease. ARGV: token. */
export const RELEASE = `${FREE}
local token, group = parts(redis.call('GET', KEYS[1]))
if token ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return free(group)`;

/** KEYS: lease. ARGV: token, lease (ms). */
export const EXTEND = `${PARTS}
local token, group = parts(redis.call('GET', KEYS[1]))
if token ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if not group then return 1 end
local holder = redis.pcall('GET', group)
if type(holder) == 'table' then return group end
if holder ~= token then return 0 end
return redis.call('PEXPIRE', group, ARGV[2])`;

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

/** KEYS: the mark of a dead-lettered event. */
export const REOPEN = `return redis.call('DEL', KEYS[1])`;

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
