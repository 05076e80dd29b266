import {
  invalidCursor,
  type LogProcess,
  type OutcomeLog,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { textOf, textsOf, unexpected, type Scripts } from './scripts.ts';

// All in one cluster slot: a stream of batches, a hash of counters for each minute and an index of the
// minutes, and the processes with an index of when they wrote last.

const MAX_BATCHES = 2_000;
const MAX_PROCESSES = 1_000;
const KEPT_MINUTES = 26 * 60;
/** How long a batch is known that may be written again; seconds. */
const KNOWN_FOR = 3_600;
/** How many minutes one script reads, so that no claim waits for long. */
const MINUTES_AT_ONCE = 200;
/** The id of an entry of a stream, and so the cursor of a page. */
const STREAM_ID = /^\d{1,15}-\d{1,15}$/;

/**
 * KEYS: batch, stream, processes, their index, minutes, and the counters of each minute. ARGV: rows, id
 * of the process, the process; for each minute: its number, how many counters, and their names and counts.
 */
const APPEND = `
if not redis.call('SET', KEYS[1], '1', 'NX', 'EX', ${String(KNOWN_FOR)}) then return '=' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first = math.floor(now / 60000) - ${String(KEPT_MINUTES)}
redis.call('XADD', KEYS[2], 'MAXLEN', ${String(MAX_BATCHES)}, '*', 'rows', ARGV[1])
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
redis.call('ZADD', KEYS[4], now, ARGV[2])
local function forget(ids)
  for _, id in ipairs(ids) do
    redis.call('HDEL', KEYS[3], id)
    redis.call('ZREM', KEYS[4], id)
  end
end
forget(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', first * 60000))
forget(redis.call('ZRANGE', KEYS[4], 0, -${String(MAX_PROCESSES + 1)}))
local at = 4
for key = 6, #KEYS do
  local minute, last = tonumber(ARGV[at]), at + 1 + 2 * ARGV[at + 1]
  if minute >= first then
    for i = at + 2, last, 2 do redis.call('HINCRBY', KEYS[key], ARGV[i], ARGV[i + 1]) end
    redis.call('EXPIRE', KEYS[key], ${String(KEPT_MINUTES * 60)})
    redis.call('ZADD', KEYS[5], minute, minute)
  end
  at = last + 1
end
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', '(' .. first)
return '='`;

/** KEYS: stream. ARGV: where to begin, how many batches. Returns the place and the rows of each. */
const READ = `
local texts = {}
for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], ARGV[1], '-', 'COUNT', ARGV[2])) do
  texts[#texts + 1] = '=' .. entry[1]
  texts[#texts + 1] = '=' .. entry[2][2]
end
return texts`;

/** KEYS: minutes. ARGV: the first and the last one. */
const MINUTES = `
local texts = {}
for _, minute in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2])) do
  texts[#texts + 1] = '=' .. minute
end
return texts`;

/** KEYS: the counters of minutes. Returns the names and counts of each. */
const COUNTS = `
local minutes = {}
for at, key in ipairs(KEYS) do
  minutes[at] = {}
  for i, text in ipairs(redis.call('HGETALL', key)) do minutes[at][i] = '=' .. text end
end
return minutes`;

/** KEYS: processes, their index. Returns each process, and when it wrote. */
const PROCESSES = `
local texts, seen = {}, redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
for i = 1, #seen, 2 do
  texts[i] = '=' .. (redis.call('HGET', KEYS[1], seen[i]) or 'null')
  texts[i + 1] = '=' .. string.format('%d', seen[i + 1])
end
return texts`;

/** A caller without types may pass anything. */
const isStreamId = (before: unknown) => typeof before === 'string' && STREAM_ID.test(before);

/** The outcome log of `redisStore`. */
export function redisOutcomeLog(scripts: Scripts, prefix: string): OutcomeLog {
  const slot = `${prefix}:{outcome-log}`;
  const [stream, minutes] = [`${slot}:batches`, `${slot}:minutes`];
  const processes = [`${slot}:processes`, `${slot}:seen`];
  const countersOf = (minute: string | number) => `${slot}:counters:${String(minute)}`;

  return {
    async append({ id, process, rows, counts }) {
      const byMinute = Object.entries(counts);
      const keys = byMinute.map(([minute]) => countersOf(minute));
      const args = byMinute.flatMap(([minute, added]) => {
        const counters = Object.entries(added);
        return [minute, counters.length, ...counters.flat()];
      });
      textOf(
        await scripts.run(
          APPEND,
          [`${slot}:batch:${id}`, stream, ...processes, minutes, ...keys],
          [JSON.stringify(rows), process.id, JSON.stringify(process), ...args],
        ),
      );
    },
    async read({ before, batches = 20 } = {}) {
      if (before !== undefined && !isStreamId(before)) throw invalidCursor();
      const from = before === undefined ? '+' : `(${before}`;
      const found = pairs(textsOf(await scripts.run(READ, [stream], [from, batches + 1])));
      const page = found.slice(0, batches);
      const rows = page.flatMap(([, text]) => (JSON.parse(text) as OutcomeRow[]).reverse());
      return found.length > page.length ? { rows, before: page.at(-1)?.[0] } : { rows };
    },
    async counts(since, until) {
      const counted = new Map<number, Record<string, number>>();
      const found = textsOf(await scripts.run(MINUTES, [minutes], [since, until]));
      for (let at = 0; at < found.length; at += MINUTES_AT_ONCE) {
        const some = found.slice(at, at + MINUTES_AT_ONCE);
        const replies = await scripts.run(COUNTS, some.map(countersOf));
        if (!Array.isArray(replies) || replies.length !== some.length) throw unexpected();
        for (const [index, minute] of some.entries())
          counted.set(Number(minute), numbers(pairs(textsOf(replies[index]))));
      }
      return counted;
    },
    async processes() {
      const seen = pairs(textsOf(await scripts.run(PROCESSES, processes)));
      return seen.map(([text, at]) => ({
        ...(JSON.parse(text) as LogProcess),
        seenAt: Number(at),
      }));
    },
  };
}

function pairs(texts: string[]): [string, string][] {
  const ends = texts.filter((_, index) => index % 2 === 1);
  return ends.map((end, index) => [texts[2 * index] as string, end]);
}

const numbers = (counters: [string, string][]): Record<string, number> =>
  Object.fromEntries(counters.map(([name, count]) => [name, Number(count)]));
