/**
 * What is kept of a webhook id is the token of its claim. What is kept of an event is one text:
 * `leased <attempt> <ends> <token>`, `attempts <number>`, `done <token>` or `dead-lettered <token>`. The
 * key of its group is in a second line of a lease.
 *
 * Both have a time to live, and each write of an event's text starts it again. A lease is over once no
 * more than `ends` milliseconds of it are left. So the server counts the time down, and only its clock
 * decides.
 *
 * In a claim, writes that need memory come first: a full server refuses the first one, and nothing has
 * changed. Running events can be committed on a full server: see `put`.
 */
const EVENT = `
local function read(key)
  local text = call('GET', key)
  if not text then return 'attempts', 0 end
  local attempts, ends, token, group = string.match(text, '^leased (%d+) (%d+) ([^\\n]*)\\n?(.*)$')
  if not attempts then
    local kind, rest = string.match(text, '^(%S+) (.*)$')
    return kind, kind == 'attempts' and tonumber(rest) or 0, rest
  end
  if call('PTTL', key) <= tonumber(ends) then return 'attempts', tonumber(attempts) end
  return 'leased', tonumber(attempts), token, group
end
local function lease(attempt, token, group, ms)
  local text = string.format('leased %d %d %s', attempt, memory - ms, token)
  return group == '' and text or text .. '\\n' .. group
end`;

/** A full server takes every write of a script that has changed something: PEXPIRE, which needs no memory. */
const PUT = `
local function put(key, text)
  if not redis.pcall('SET', key, text, 'PX', memory).err then return end
  call('PEXPIRE', key, memory)
  call('SET', key, text, 'PX', memory)
end`;

/**
 * The lease of a group is its token. `apart`: on a cluster, where no script may reach the event and its
 * group. The client then makes these calls for the group alone.
 */
const GROUP = `
local function takeGroup(group, token, ms)
  local holder = call('GET', group)
  if holder and holder ~= token then return 0 end
  call('SET', group, token, 'PX', ms)
  return 1
end
local function freeGroup(group, token)
  if call('GET', group) == token then call('DEL', group) end
  return 1
end
local function extendGroup(group, token, ms)
  return call('GET', group) == token and call('PEXPIRE', group, ms) or 0
end
calls.takeGroup, calls.freeGroup, calls.extendGroup = takeGroup, freeGroup, extendGroup`;

/**
 * remember: keys: the webhook id. args: token, how long the id has to be remembered (ms).
 * Returns 1 or `replayed`.
 * admit: keys: the event. args: token, lease (ms), its group or nothing, and what is known of that:
 * `held` by this claim, `busy`, or nothing if it is to be taken here. Returns the attempt, or the status
 * of an admission.
 * claim, which does both: keys: the event, the webhook id. args: token, lease (ms), group, how long the id
 * has to be remembered (ms).
 *
 * A new event, as nearly all are, takes one command: NX both looks and writes.
 */
const CLAIM = `
local function remember(id, token, idMs)
  if call('SET', id, token, 'NX', 'PX', idMs) then return 1 end
  return call('GET', id) == token and 1 or 'replayed'
end
local function admit(key, token, ms, group, state)
  if group == '' and call('SET', key, lease(1, token, '', ms), 'NX', 'PX', memory) then return 1 end
  local kind, attempts, holder = read(key)
  if kind == 'leased' and holder ~= token then return 'in-progress' end
  if kind == 'done' then return 'duplicate' end
  if kind == 'dead-lettered' then return kind end
  if state == 'busy' then return 'group-busy' end
  if kind == 'leased' then return attempts end
  if group ~= '' and state == '' and takeGroup(group, token, ms) == 0 then return 'group-busy' end
  call('SET', key, lease(attempts + 1, token, group, ms), 'PX', memory)
  return attempts + 1
end
calls.remember, calls.admit = remember, admit
function calls.claim(key, token, ms, group, idMs, id)
  local seen = remember(id, token, idMs)
  return seen ~= 1 and seen or admit(key, token, ms, group, '')
end`;

/**
 * keys: the event. args: token, and the mark `done` or `dead-lettered`, or nothing, or the lease (ms).
 * They return 1 if the lease is held, else 0; or the key of its group if that is `apart`: the client has
 * to end or extend its lease as well.
 *
 * A completion that is repeated after a lost reply has the same result, since the token is kept.
 */
const END = `
local function freed(group, token)
  if group == '' then return 1 end
  return apart and group or freeGroup(group, token)
end
function calls.complete(key, token, mark)
  local kind, _, holder, group = read(key)
  if holder ~= token then return 0 end
  if kind ~= 'leased' then return kind == mark and 1 or 0 end
  put(key, mark .. ' ' .. token)
  return freed(group, token)
end
function calls.release(key, token)
  local kind, attempts, holder, group = read(key)
  if kind ~= 'leased' or holder ~= token then return 0 end
  put(key, 'attempts ' .. attempts)
  return freed(group, token)
end
function calls.extend(key, token, ms)
  local kind, attempts, holder, group = read(key)
  if kind ~= 'leased' or holder ~= token then return 0 end
  put(key, lease(attempts, token, group, ms))
  if group == '' then return 1 end
  return apart and group or extendGroup(group, token, ms)
end`;

/** keys: the event. Returns 1 if it was in the dead letters, else 0. */
const REOPEN = `
function calls.reopen(key)
  return read(key) == 'dead-lettered' and call('DEL', key) or 0
end`;

/** keys: the event. Returns 1 if it was known and is not leased, else 0. */
const FORGET = `
function calls.forget(key)
  return read(key) ~= 'leased' and call('DEL', key) or 0
end`;

/** keys: the event. Returns the number of its attempts, or its kind if it is leased or done. */
const PEEK = `
function calls.peek(key)
  local kind, attempts = read(key)
  return kind == 'attempts' and attempts or kind
end`;

/** The calls of the script. */
export type EventCallName =
  | (
      | 'remember'
      | 'admit'
      | 'claim'
      | 'complete'
      | 'release'
      | 'extend'
      | 'reopen'
      | 'forget'
      | 'peek'
    )
  | ('takeGroup' | 'freeGroup' | 'extendGroup');

/**
 * Makes calls, one after the other, and returns a list of replies as JSON.
 * KEYS: those of all calls. ARGV: memory of events (ms), the calls as JSON, each a list of its name and its
 * arguments, and `apart` on a cluster. Clients spend longer on many arguments than on long ones.
 *
 * Each call fails alone: its reply is then a list of its error. If all fail, for instance on a replica
 * that takes no writes, so does the script, since clients have to see such errors.
 */
export const EVENT_CALLS = `
local call, calls, memory, apart = redis.call, {}, ARGV[1], ARGV[3] == 'apart'
${EVENT}${PUT}${GROUP}${CLAIM}${END}${REOPEN}${FORGET}${PEEK}
local replies, failed, failure, at = {}, 0, nil, 1
for i, one in ipairs(cjson.decode(ARGV[2])) do
  local run = calls[one[1]]
  one[1], at = KEYS[at], at + 1
  if run == calls.claim then one[#one + 1], at = KEYS[at], at + 1 end
  local ok, reply = pcall(run, unpack(one))
  if not ok then
    failed, failure = failed + 1, reply
    reply = { type(reply) == 'table' and reply.err or tostring(reply) }
  end
  replies[i] = reply
end
if failed < #replies then return '=' .. cjson.encode(replies) end
return type(failure) == 'table' and failure or redis.error_reply(failure)`;
