import type { Admission } from '@call-webhooks/core';

/**
 * What is kept of one event: a few keys, each with a time to live, in one cluster slot. The server
 * counts the times down, so only its clock decides when a lease ends.
 *
 * In each call, writes that need memory come first: a full server refuses the first one, and nothing
 * has changed. Ending a lease (RENAME, DEL, PEXPIRE) needs no memory, so handled events can be
 * committed on a full server.
 *
 * The lease of an event names that of its group in a second line. A script may read a key that the
 * client did not name, unless another node of a cluster has it: see `group-leases.ts`.
 */

/**
 * keys: the webhook id. args: token, when the id may be forgotten (ms since the epoch).
 * Returns 1, or -2 of `REFUSALS`.
 */
const REMEMBER = `
local function remember(seen, keys, args)
  if seen and seen ~= args[1] then return -2 end
  redis.call('SET', keys[1], args[1], 'PXAT', args[2])
  return 1
end
calls.remember = { keys = 1, args = 2, run = function(keys, args)
  return remember(redis.call('GET', keys[1]), keys, args)
end }`;

/**
 * keys: the webhook id, and of the event its attempts, its lease and its two done marks.
 * args: token, when the id may be forgotten (ms since the epoch), lease (ms). In a group also: its
 * lease, and what a claim of the group alone gave: '', 'held' or 'busy'.
 * Returns the attempt, one of `REFUSALS`, or `GROUP_IS_ELSEWHERE`.
 */
const ADMIT = `
local function admit(keys, args)
  local seen, past, holder, done, deadLettered = unpack(redis.call('MGET', unpack(keys)))
  if remember(seen, keys, args) < 0 then return -2 end
  local group = args[4]
  local lease = group and args[1] .. '\\n' .. group or args[1]
  if holder == lease and args[5] == 'busy' then return -4 end
  if holder == lease then return tonumber(past or 1) end
  if holder then return -1 end
  if done then return 0 end
  if deadLettered then return -3 end
  if group and args[5] == 'busy' then return -4 end
  if group and args[5] == '' then
    local other = redis.pcall('GET', group)
    if type(other) == 'table' then return -5 end
    if other and other ~= args[1] then return -4 end
    redis.call('SET', group, args[1], 'PX', args[3])
  end
  local attempt = tonumber(past or 0) + 1
  redis.call('SET', keys[2], attempt, 'PX', memory)
  redis.call('SET', keys[3], lease, 'PX', args[3])
  return attempt
end
calls.admit = { keys = 5, args = 3, run = admit }
calls.admitInGroup = { keys = 5, args = 5, run = admit }`;

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

const SHARED = `
local function parts(lease)
  if not lease then return nil end
  local at = string.find(lease, '\\n', 1, true)
  if not at then return lease end
  return string.sub(lease, 1, at - 1), string.sub(lease, at + 1)
end
local function free(group, token)
  if not group then return 1 end
  local holder = redis.pcall('GET', group)
  if type(holder) == 'table' then return group end
  if holder == token then redis.call('DEL', group) end
  return 1
end`;

/**
 * keys: lease, one of the done marks, attempts. args: token. The lease becomes the done mark and keeps
 * its token, so a completion that is repeated after a lost reply has the same result.
 */
const COMPLETE = `
calls.complete = { keys = 3, args = 1, run = function(keys, args)
  local token, group = parts(redis.call('GET', keys[1]))
  if token == args[1] then
    redis.call('RENAME', keys[1], keys[2])
    redis.call('PEXPIRE', keys[2], memory)
    redis.call('DEL', keys[3])
    return free(group, token)
  end
  if parts(redis.call('GET', keys[2])) == args[1] then return 1 end
  return 0
end }`;

/** keys: lease. args: token. */
const RELEASE = `
calls.release = { keys = 1, args = 1, run = function(keys, args)
  local token, group = parts(redis.call('GET', keys[1]))
  if token ~= args[1] then return 0 end
  redis.call('DEL', keys[1])
  return free(group, token)
end }`;

/** keys: lease. args: token, lease (ms). */
const EXTEND = `
calls.extend = { keys = 1, args = 2, run = function(keys, args)
  local token, group = parts(redis.call('GET', keys[1]))
  if token ~= args[1] then return 0 end
  redis.call('PEXPIRE', keys[1], args[2])
  if not group then return 1 end
  local holder = redis.pcall('GET', group)
  if type(holder) == 'table' then return group end
  if holder ~= token then return 0 end
  return redis.call('PEXPIRE', group, args[2])
end }`;

/** The calls of the script. */
export type EventCallName =
  'remember' | 'admit' | 'admitInGroup' | 'complete' | 'release' | 'extend';

/** A call that fails among others has this reply, and the error after it. */
export const FAILED = '!';

/**
 * Makes calls, one after the other, and returns their replies.
 * KEYS: those of all calls. ARGV: memory of events (ms), then for each call its name and its arguments.
 *
 * Each call fails alone. If all fail, for instance on a replica that takes no writes, so does the
 * script, since clients have to see such errors.
 */
export const EVENT_CALLS = `
local calls, memory = {}, ARGV[1]
${SHARED}${REMEMBER}${ADMIT}${COMPLETE}${RELEASE}${EXTEND}
local replies, failed, failure = {}, 0, nil
local key, arg = 0, 2
while arg <= #ARGV do
  local call = calls[ARGV[arg]]
  local keys = { unpack(KEYS, key + 1, key + call.keys) }
  local args = { unpack(ARGV, arg + 1, arg + call.args) }
  local ok, reply = pcall(call.run, keys, args)
  if not ok then
    failed, failure = failed + 1, reply
    reply = '${FAILED}' .. (type(reply) == 'table' and reply.err or tostring(reply))
  end
  replies[#replies + 1] = reply
  key, arg = key + call.keys, arg + 1 + call.args
end
if failed < #replies then return replies end
return type(failure) == 'table' and failure or redis.error_reply(failure)`;
