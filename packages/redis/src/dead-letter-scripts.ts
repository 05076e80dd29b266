/**
 * What is kept of dead letters, all in one cluster slot: an index of their ids by the time of the last
 * failure, a hash of their reasons, tenants and event names, and for each letter a text, its body, a list of
 * failures, and a claim with a time to live.
 *
 * In each script, writes that need memory come first: a full server refuses the first one, and nothing
 * has changed.
 */

/** Adds a failure to a list, which keeps the first one and the newest. */
const ADD_FAILURE = `
local function add(key, failure, most)
  redis.call('RPUSH', key, failure)
  local kept = redis.call('LRANGE', key, 0, -1)
  if #kept <= tonumber(most) then return end
  table.remove(kept, 2)
  redis.call('DEL', key)
  redis.call('RPUSH', key, unpack(kept))
end`;

/**
 * KEYS: index, names, letter, failures, claim, body.
 * ARGV: id, time of the failure (ms), reason, tenant and event name, letter, failure, how many failures are kept,
 * body.
 */
export const PUT = `${ADD_FAILURE}
redis.call('SET', KEYS[6], ARGV[7])
redis.call('SET', KEYS[3], ARGV[4])
add(KEYS[4], ARGV[5], ARGV[6])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
redis.call('DEL', KEYS[5])
return '=1'`;

/**
 * Finds ids in the order of the index, among the next 1,000.
 * KEYS: index, names. ARGV: time (ms) and id to begin after, or the first time and no id; the time to
 * end before (ms); reason, encoded tenant, "=" and an event name, each or nothing; how many ids at most.
 * Returns the time and the id to go on after, or two empty texts at the end; then the ids.
 */
export const FIND = `
local from, after, til = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local start = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[1])
local rows
repeat
  rows = redis.call('ZRANGE', KEYS[1], start, start + 999, 'WITHSCORES')
  start = start + 1000
until #rows == 0 or tonumber(rows[#rows]) > from or rows[#rows - 1] > after
local found = {'=', '='}
for i = 1, #rows, 2 do
  local id, at = rows[i], tonumber(rows[i + 1])
  if at >= til then return found end
  if at > from or id > after then
    local name = redis.call('HGET', KEYS[2], id) or ''
    local reason, tenant, event = string.match(name, '^([^ ]*) ([^ ]*) (.*)$')
    if (ARGV[4] == '' or ARGV[4] == reason) and (ARGV[5] == '' or ARGV[5] == tenant)
      and (ARGV[6] == '' or ARGV[6] == '=' .. event) then
      found[#found + 1] = '=' .. id
    end
    if #found - 2 == tonumber(ARGV[7]) or i == 1999 then
      found[1], found[2] = '=' .. rows[i + 1], '=' .. id
      return found
    end
  end
end
return found`;

/** A letter in texts: what is left of its claim (ms), itself, its body and its failures; or one empty text. */
const LETTER = `
local function texts(letter, failures, ms, body)
  if not letter then return {'='} end
  local list = {'=' .. ms, '=' .. letter, '=' .. (body or '')}
  for _, failure in ipairs(redis.call('LRANGE', failures, 0, -1)) do list[#list + 1] = '=' .. failure end
  return list
end`;

/** KEYS: letter, failures, claim and body of each letter. Returns a list of letters, whose bodies are empty. */
export const LIST = `${LETTER}
local letters = {}
for i = 1, #KEYS, 4 do
  letters[#letters + 1] = texts(redis.call('GET', KEYS[i]), KEYS[i + 1], redis.call('PTTL', KEYS[i + 2]))
end
return letters`;

/**
 * Puts a letter that nobody sees, with the commands that one needs, and removes it.
 * KEYS: one that nothing else uses.
 */
export const PING = `
local key = KEYS[1]
local function try(...)
  redis.call(...)
  redis.call('DEL', key)
end
try('SET', key, '1', 'PX', 1000)
try('RPUSH', key, '1')
try('HSET', key, 'field', '1')
try('ZADD', key, 0, '1')
redis.call('LRANGE', key, 0, -1)
return '='`;

/** KEYS: letter, failures, claim, body. Returns the letter. */
export const READ = `${LETTER}
return texts(redis.call('GET', KEYS[1]), KEYS[2], redis.call('PTTL', KEYS[3]), redis.call('GET', KEYS[4]))`;

/** KEYS: letter, failures, claim, body. ARGV: token, lease (ms). Returns the letter, if it is claimed now. */
export const CLAIM = `${LETTER}
local letter, holder = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[3])
if not letter or (holder and holder ~= ARGV[1]) then return texts(false) end
redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
return texts(letter, KEYS[2], ARGV[2], redis.call('GET', KEYS[4]))`;

/** KEYS: index, failures, claim. ARGV: token, id, time of the failure (ms), failure, how many are kept. */
export const FAIL = `${ADD_FAILURE}
if redis.call('GET', KEYS[3]) ~= ARGV[1] then return '=0' end
add(KEYS[2], ARGV[4], ARGV[5])
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2])
redis.call('DEL', KEYS[3])
return '=1'`;

/** KEYS: index, names, letter, failures, claim, body. ARGV: id, and the token if the claim has to be held. */
export const REMOVE = `
if ARGV[2] and redis.call('GET', KEYS[5]) ~= ARGV[2] then return '=0' end
redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6])
redis.call('HDEL', KEYS[2], ARGV[1])
return '=' .. redis.call('ZREM', KEYS[1], ARGV[1])`;

/**
 * Takes the turn to remove what has expired, or keeps it.
 * KEYS: index, the turn. ARGV: token, ms of the turn, time (ms) that is not expired any more, how many ids.
 * Returns nothing while it is the turn of another process; otherwise one empty text, then the ids.
 */
export const EXPIRED = `
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then return {} end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
local found = {'='}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3], 'LIMIT', 0, ARGV[4])) do
  found[#found + 1] = '=' .. id
end
return found`;

/**
 * KEYS: index, names, then letter, failures, claim and body of each letter. ARGV: time (ms) that is not expired
 * any more, ids. Removes those that have still expired and that no redrive has claimed, and returns their number.
 */
export const REMOVE_EXPIRED = `
local expired, removed = {}, 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[1], 'LIMIT', 0, #ARGV - 1)) do
  expired[id] = true
end
for i = 2, #ARGV do
  local letter = 4 * i - 5
  if expired[ARGV[i]] and not redis.call('GET', KEYS[letter + 2]) then
    redis.call('DEL', KEYS[letter], KEYS[letter + 1], KEYS[letter + 3])
    redis.call('HDEL', KEYS[2], ARGV[i])
    removed = removed + redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
return '=' .. removed`;

/** KEYS: the claim. ARGV: token. */
export const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return '=0' end
return '=' .. redis.call('DEL', KEYS[1])`;

/** KEYS: the claim. ARGV: token, ms of the claim. */
export const EXTEND = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return '=0' end
return '=' .. redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
