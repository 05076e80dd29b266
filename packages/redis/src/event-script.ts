import type { Admission } from '@call-webhooks/core/stores';

/**
 * What is kept of a webhook id is the token of its claim. What is kept of an event is one text:
 * `leased <attempt> <ends> <lease>`, `attempts <number>`, `done <token>` or `dead-lettered <token>`.
 *
 * Both have a time to live, and each write of an event's text starts it again. A lease is over once no
 * more than `ends` milliseconds of it are left. So the server counts the time down, and only its clock
 * decides.
 *
 * In a claim, writes that need memory come first: a full server refuses the first one, and nothing has
 * changed. Running events can be committed on a full server: see `put`.
 *
 * The lease of an event is its token, and that of its group in a second line. A script may read a key
 * that the client did not name, unless another node of a cluster has it: see `group-leases.ts`.
 */
const EVENT = `
local function event(key, text)
  if not text then return 'attempts', 0 end
  local attempt, ends, lease = string.match(text, '^leased (%d+) (%d+) (.*)$')
  if not attempt then
    local kind, rest = string.match(text, '^(%S+) (.*)$')
    return kind, tonumber(rest), rest
  end
  if call('PTTL', key) <= tonumber(ends) then return 'attempts', tonumber(attempt) end
  return 'leased', tonumber(attempt), lease
end
local function leased(attempt, lease, ms)
  return string.format('leased %d %d ', attempt, memory - ms) .. lease
end`;

/** A full server takes every write of a script that has changed something: PEXPIRE, which needs no memory. */
const PUT = `
local function put(key, text)
  if not redis.pcall('SET', key, text, 'PX', memory).err then return end
  call('PEXPIRE', key, memory)
  call('SET', key, text, 'PX', memory)
end`;

/**
 * The lease of a group. Each returns 1 if it is held, else 0, or its name when another node has it.
 * Only `takeGroup` fails there: its event is then admitted in another way.
 */
const GROUP = `
local function takeGroup(group, token, ms)
  local holder = call('GET', group)
  if holder and holder ~= token then return 0 end
  call('SET', group, token, 'PX', ms)
  return 1
end
local function changeGroup(group, token, command, ...)
  local holder = redis.pcall('GET', group)
  if type(holder) == 'table' then return group end
  return holder == token and call(command, group, ...) or 0
end
calls.takeGroup = { keys = 1, args = 2, run = function(keys, args)
  return takeGroup(keys[1], args[1], args[2])
end }
calls.freeGroup = { keys = 1, args = 1, run = function(keys, args)
  return changeGroup(keys[1], args[1], 'DEL')
end }
calls.extendGroup = { keys = 1, args = 2, run = function(keys, args)
  return changeGroup(keys[1], args[1], 'PEXPIRE', args[2])
end }`;

/** Returns 1, or -2 of `REFUSALS`. */
const REMEMBER = `
local function remember(id, token, forgetAt)
  if call('SET', id, token, 'NX', 'PXAT', forgetAt) then return 1 end
  return call('GET', id) == token and 1 or -2
end`;

/**
 * `group` is the name of its lease or '', and `state` what is known of that: 'held' by this claim,
 * 'busy', or '' if it is to be taken here.
 * Returns the attempt, or one of `REFUSALS`.
 * A new event, as nearly all are, takes one command: NX both looks and writes.
 */
const ADMIT = `
local function admit(key, token, ms, group, state)
  if group == '' and call('SET', key, leased(1, token, ms), 'NX', 'PX', memory) then return 1 end
  local lease = group == '' and token or token .. '\\n' .. group
  local kind, attempts, held = event(key, call('GET', key))
  if kind == 'leased' and held ~= lease then return -1 end
  if kind == 'done' then return 0 end
  if kind == 'dead-lettered' then return -3 end
  if state == 'busy' then return -4 end
  if kind == 'leased' then return attempts end
  if group ~= '' and state == '' and takeGroup(group, token, ms) == 0 then return -4 end
  call('SET', key, leased(attempts + 1, lease, ms), 'PX', memory)
  return attempts + 1
end`;

/**
 * remember: keys: the webhook id. args: token, when the id may be forgotten (ms since the epoch).
 * admit: keys: the event. args: token, lease (ms), group, state.
 * claim, which does both: keys: the webhook id, the event. args: token, lease (ms), group, when the id
 * may be forgotten.
 */
const CLAIM = `
calls.remember = { keys = 1, args = 2, run = function(keys, args)
  return remember(keys[1], args[1], args[2])
end }
calls.admit = { keys = 1, args = 4, run = function(keys, args)
  return admit(keys[1], args[1], args[2], args[3], args[4])
end }
calls.claim = { keys = 2, args = 4, run = function(keys, args)
  local seen = remember(keys[1], args[1], args[4])
  return seen < 0 and seen or admit(keys[2], args[1], args[2], args[3], '')
end }`;

/** The meaning of results that are not an attempt. */
export const REFUSALS: ReadonlyMap<number, Exclude<Admission['status'], 'admitted'>> = new Map([
  [0, 'duplicate'],
  [-1, 'in-progress'],
  [-2, 'replayed'],
  [-3, 'dead-lettered'],
  [-4, 'group-busy'],
]);

// Those below that end or extend a lease return 1 if it is held, else 0, or, when another node has
// the group, the name of the group's lease: the client has to end or extend it.

/** What an event is, and its lease in two parts. */
const HELD = `
local function held(key)
  local kind, attempts, lease = event(key, call('GET', key))
  if kind ~= 'leased' then return kind, lease end
  local at = string.find(lease, '\\n', 1, true)
  if not at then return kind, lease, nil, attempts end
  return kind, string.sub(lease, 1, at - 1), string.sub(lease, at + 1), attempts
end
local function free(group, token)
  if group and changeGroup(group, token, 'DEL') == group then return group end
  return 1
end`;

/**
 * keys: the event. args: token, 'done' or 'dead-lettered'. The token is kept, so a completion that is
 * repeated after a lost reply has the same result.
 */
const COMPLETE = `
calls.complete = { keys = 1, args = 2, run = function(keys, args)
  local kind, token, group = held(keys[1])
  if token ~= args[1] then return 0 end
  if kind ~= 'leased' then return kind == args[2] and 1 or 0 end
  put(keys[1], args[2] .. ' ' .. token)
  return free(group, token)
end }`;

/** keys: the event. args: token. */
const RELEASE = `
calls.release = { keys = 1, args = 1, run = function(keys, args)
  local kind, token, group, attempts = held(keys[1])
  if kind ~= 'leased' or token ~= args[1] then return 0 end
  put(keys[1], 'attempts ' .. attempts)
  return free(group, token)
end }`;

/** keys: the event. args: token, lease (ms). */
const EXTEND = `
calls.extend = { keys = 1, args = 2, run = function(keys, args)
  local kind, token, group, attempts = held(keys[1])
  if kind ~= 'leased' or token ~= args[1] then return 0 end
  put(keys[1], leased(attempts, group and token .. '\\n' .. group or token, args[2]))
  return group and changeGroup(group, token, 'PEXPIRE', args[2]) or 1
end }`;

/** keys: the event. No args. Returns 1 if the event was in the dead letters. */
const REOPEN = `
calls.reopen = { keys = 1, args = 0, run = function(keys)
  if held(keys[1]) ~= 'dead-lettered' then return 0 end
  return call('DEL', keys[1])
end }`;

/** The calls of the script. */
export type EventCallName =
  | ('remember' | 'admit' | 'claim' | 'complete' | 'release' | 'extend' | 'reopen')
  | ('takeGroup' | 'freeGroup' | 'extendGroup');

/** A call that fails among others has this reply, and the error after it. */
export const FAILED = '!';

/**
 * Makes calls, one after the other, and returns their replies.
 * KEYS: those of all calls. ARGV: memory of events (ms), and a line for each call's name and for each of
 * its arguments: clients spend longer on many arguments than on long ones.
 *
 * Each call fails alone. If all fail, for instance on a replica that takes no writes, so does the
 * script, since clients have to see such errors.
 */
export const EVENT_CALLS = `
local call, calls, memory = redis.call, {}, ARGV[1]
${EVENT}${PUT}${GROUP}${REMEMBER}${ADMIT}${CLAIM}${HELD}${COMPLETE}${RELEASE}${EXTEND}${REOPEN}
local replies, failed, failure = {}, 0, nil
local lines, key, line = {}, 0, 1
for text in string.gmatch(ARGV[2] .. '\\n', '(.-)\\n') do lines[#lines + 1] = text end
while line <= #lines do
  local made = calls[lines[line]]
  local keys = { unpack(KEYS, key + 1, key + made.keys) }
  local args = { unpack(lines, line + 1, line + made.args) }
  local ok, reply = pcall(made.run, keys, args)
  if not ok then
    failed, failure = failed + 1, reply
    reply = '${FAILED}' .. (type(reply) == 'table' and reply.err or tostring(reply))
  end
  replies[#replies + 1] = reply
  key, line = key + made.keys, line + 1 + made.args
end
if failed < #replies then return replies end
return type(failure) == 'table' and failure or redis.error_reply(failure)`;
