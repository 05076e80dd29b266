import {
  COUNTER_SERIES,
  eraser,
  invalidCursor,
  keptRows,
  LOG_LIMITS,
  type LogProcess,
  type OutcomeLog,
  type OutcomeRow,
  rowsOfBatch,
  SAME_CLOCK_MS,
  SERIES_NAMES,
} from '@call-webhooks/core/stores';
import { textOf, textsOf, unexpected, type Scripts } from './scripts.ts';

// All in one cluster slot. Of each kind of rows (failures, and others): a stream with an entry for each batch,
// which says when its rows ended, and a hash of the rows, so that going through the stream reads no rows. The
// id of an entry is the time when it was taken; both streams share one sequence. Of each series of counters: a hash for each period, and an index
// of the periods. Then the marks, by their times, and the processes with an index of when they wrote last.

/** How much one script does at most, so that no claim waits for long. */
const MOST = { dropped: 100, scanned: 2_000, read: 64, periods: 200 };
/** The id of an entry of a stream, and so the cursor of a page. */
const STREAM_ID = /^\d{1,15}-\d{1,15}$/;

const seconds = (ms: number) => String(ms / 1_000);
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * KEYS: batch, stream and rows of others, the same of failures, processes, their index, marks, the index of each
 * series, and the counters of each period. ARGV: id of the process, the process, its time; of others and of
 * failures: how many, the times of the first and the last, and the rows; how many marks, and their names and times;
 * for each period: which series, its number, how many counters, and their names and counts.
 */
const APPEND = `
if not redis.call('SET', KEYS[1], '1', 'NX', 'EX', ${seconds(LOG_LIMITS.batchMs)}) then return '=' end
${NOW}
local ahead = ARGV[3] - now
if math.abs(ahead) < ${String(SAME_CLOCK_MS)} then ahead = 0 end
local function newestOf(stream) return redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1] end
local ms, sequence = now, 0
for _, stream in ipairs({KEYS[2], KEYS[4]}) do
  local newest = newestOf(stream)
  if newest then
    local lastMs, last = string.match(newest[1], '(%d+)-(%d+)')
    lastMs, last = tonumber(lastMs), tonumber(last)
    if lastMs > ms then ms, sequence = lastMs, last + 1 elseif lastMs == ms then sequence = math.max(sequence, last + 1) end
  end
end
local id = string.format('%d-%d', ms, sequence)
local function keep(stream, rows, limit, from)
  local count = tonumber(ARGV[from])
  if count == 0 then return end
  local newest = newestOf(stream)
  local earlier = newest and newest[2][2] + newest[2][4] or 0
  redis.call('XADD', stream, id, 'earlier', earlier, 'count', count,
    'first', ARGV[from + 1] - ahead, 'last', ARGV[from + 2] - ahead, 'ahead', ahead)
  redis.call('HSET', rows, id, ARGV[from + 3])
  for _ = 1, ${String(MOST.dropped)} do
    local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
    local isKept = earlier + count - oldest[2][2] <= limit
    if isKept and tonumber(string.match(oldest[1], '%d+')) >= now - ${String(LOG_LIMITS.rowsMs)} then break end
    redis.call('XDEL', stream, oldest[1])
    redis.call('HDEL', rows, oldest[1])
  end
  redis.call('EXPIRE', stream, ${seconds(LOG_LIMITS.rowsMs)})
  redis.call('EXPIRE', rows, ${seconds(LOG_LIMITS.rowsMs)})
end
keep(KEYS[2], KEYS[3], ${String(LOG_LIMITS.rows)}, 4)
keep(KEYS[4], KEYS[5], ${String(LOG_LIMITS.failures)}, 8)
redis.call('HSET', KEYS[6], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[7], now, ARGV[1])
local function forget(ids)
  for _, id in ipairs(ids) do
    redis.call('HDEL', KEYS[6], id)
    redis.call('ZREM', KEYS[7], id)
  end
end
forget(redis.call('ZRANGEBYSCORE', KEYS[7], '-inf', now - ${String(LOG_LIMITS.processesMs)}, 'LIMIT', 0, ${String(MOST.dropped)}))
forget(redis.call('ZRANGE', KEYS[7], 0, -${String(LOG_LIMITS.processes + 1)}))
redis.call('EXPIRE', KEYS[6], ${seconds(LOG_LIMITS.processesMs)})
redis.call('EXPIRE', KEYS[7], ${seconds(LOG_LIMITS.processesMs)})
local at = 13 + 2 * ARGV[12]
for i = 13, at - 1, 2 do
  redis.call('ZADD', KEYS[8], 'GT', math.min(ARGV[i + 1] - ahead, now), ARGV[i])
end
redis.call('ZREMRANGEBYSCORE', KEYS[8], '-inf', '(' .. now - ${String(LOG_LIMITS.marksMs)})
redis.call('ZREMRANGEBYRANK', KEYS[8], 0, -${String(LOG_LIMITS.marks + 1)})
redis.call('EXPIRE', KEYS[8], ${seconds(LOG_LIMITS.marksMs)})
local series = {${SERIES_NAMES.map((name) => `{${String(COUNTER_SERIES[name].periodMs)}, ${String(COUNTER_SERIES[name].keptMs)}}`).join(', ')}}
for i, one in ipairs(series) do
  local length, kept = one[1], one[2]
  one.first, one.last = math.ceil((now - kept) / length), math.floor((now + kept) / length)
  redis.call('ZREMRANGEBYSCORE', KEYS[8 + i], '-inf', '(' .. one.first)
  redis.call('ZREMRANGEBYSCORE', KEYS[8 + i], '(' .. one.last, '+inf')
end
for key = ${String(9 + SERIES_NAMES.length)}, #KEYS do
  local which, period, last = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), at + 2 + 2 * ARGV[at + 2]
  local one = series[which]
  if period >= one.first and period <= one.last then
    for i = at + 3, last, 2 do redis.call('HINCRBY', KEYS[key], ARGV[i], ARGV[i + 1]) end
    redis.call('EXPIRE', KEYS[key], one[2] / 1000)
    redis.call('ZADD', KEYS[8 + which], period, period)
    redis.call('EXPIRE', KEYS[8 + which], one[2] / 1000)
  end
  at = last + 1
end
return '='`;

/**
 * KEYS: stream, rows. ARGV: where to begin, how many batches, since and until. Returns where it stopped, or nothing
 * at the end; then of each batch its id, how far its clock was ahead, and its rows.
 */
const READ = `
${NOW}
local since, oldest = tonumber(ARGV[3]), now - ${String(LOG_LIMITS.rowsMs)}
local found, from, scanned = {'='}, ARGV[1], 0
repeat
  local entries = redis.call('XREVRANGE', KEYS[1], from, '-', 'COUNT', 200)
  for _, entry in ipairs(entries) do
    local id, of = entry[1], entry[2]
    local taken = tonumber(string.match(id, '%d+'))
    if taken < oldest or taken + ${String(SAME_CLOCK_MS)} < since then return found end
    if of[8] + 0 >= since and of[6] + 0 <= tonumber(ARGV[4]) then
      found[#found + 1] = '=' .. id
      found[#found + 1] = '=' .. of[10]
      found[#found + 1] = '=' .. (redis.call('HGET', KEYS[2], id) or '[]')
      if #found > 3 * ARGV[2] then
        found[1] = '=' .. id
        return found
      end
    end
    from = '(' .. id
  end
  scanned = scanned + #entries
  if scanned >= ${String(MOST.scanned)} then
    found[1] = '=' .. string.sub(from, 2)
    return found
  end
until #entries < 200
return found`;

/** KEYS: the index of a series. ARGV: the first and the last period. */
const PERIODS = `
local texts = {}
for _, period in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2])) do
  texts[#texts + 1] = '=' .. period
end
return texts`;

/** KEYS: the counters of periods. ARGV: what their names begin with. Returns the names and counts of each. */
const COUNTS = `
local periods = {}
for at, key in ipairs(KEYS) do
  local texts, found = {}, redis.call('HGETALL', key)
  for i = 1, #found, 2 do
    if string.sub(found[i], 1, #ARGV[1]) == ARGV[1] then
      texts[#texts + 1] = '=' .. found[i]
      texts[#texts + 1] = '=' .. found[i + 1]
    end
  end
  periods[at] = texts
end
return periods`;

/** KEYS: marks. Returns the server's time, and each mark with its own. */
const MARKS = `
${NOW}
local found = redis.call('ZRANGEBYSCORE', KEYS[1], now - ${String(LOG_LIMITS.marksMs)}, '+inf', 'WITHSCORES')
local texts = {'=' .. string.format('%d', now)}
for i = 1, #found, 2 do
  texts[i + 1] = '=' .. found[i]
  texts[i + 2] = '=' .. string.format('%d', found[i + 1])
end
return texts`;

/** KEYS: processes, their index. Returns each process, and when it wrote. */
const PROCESSES = `
${NOW}
local texts = {}
local seen = redis.call('ZRANGEBYSCORE', KEYS[2], now - ${String(LOG_LIMITS.processesMs)}, '+inf', 'WITHSCORES')
for i = 1, #seen, 2 do
  texts[i] = '=' .. (redis.call('HGET', KEYS[1], seen[i]) or 'null')
  texts[i + 1] = '=' .. string.format('%d', seen[i + 1])
end
return texts`;

/** KEYS: stream, rows. ARGV: where to begin, how many. Returns the id of each batch, how far its clock was ahead, and its rows. */
const ALL = `
local texts = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
  texts[#texts + 1] = '=' .. entry[1]
  texts[#texts + 1] = '=' .. entry[2][10]
  texts[#texts + 1] = '=' .. (redis.call('HGET', KEYS[2], entry[1]) or '[]')
end
return texts`;

/** KEYS: rows. ARGV: ids of batches, their rows before and now. Returns the ids of those that were as they had been before. */
const CHANGE = `
local changed = {}
for i = 1, #ARGV, 3 do
  if redis.call('HGET', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
    changed[#changed + 1] = '=' .. ARGV[i]
  end
end
return changed`;

/** A caller without types may pass anything. */
const isStreamId = (before: unknown) => typeof before === 'string' && STREAM_ID.test(before);

/** The outcome log of `redisStore`. */
export function redisOutcomeLog(scripts: Scripts, prefix: string): OutcomeLog {
  const slot = `${prefix}:{outcome-log}`;
  const others = [`${slot}:batches`, `${slot}:rows`] as const;
  const failures = [`${slot}:failed-batches`, `${slot}:failures`] as const;
  const processes = [`${slot}:processes`, `${slot}:seen`];
  const marks = `${slot}:marks`;
  const indexOf = (series: string) => `${slot}:${series}`;
  const countersOf = (series: string, period: string | number) =>
    `${indexOf(series)}:${String(period)}`;

  /** The batches of one kind, the newest first; and where the script stopped, if there may be more. */
  async function batchesOf(keys: readonly string[], query: (string | number)[]) {
    const [stopped, ...texts] = textsOf(await scripts.run(READ, [...keys], query));
    return { batches: batchesIn(texts), stopped: stopped === '' ? undefined : stopped };
  }

  /** @returns how many rows of one kind were erased */
  async function eraseOf(
    [stream, rows]: readonly [string, string],
    erased: NonNullable<ReturnType<typeof eraser>>,
  ): Promise<number> {
    let sum = 0;
    for (let from = '-'; ;) {
      const found = batchesIn(textsOf(await scripts.run(ALL, [stream, rows], [from, MOST.read])));
      const changes = found
        .map((one) => ({ id: one.id, before: one.rows, ...erased(one) }))
        .filter((one) => one.erased > 0);
      const args = changes.flatMap(({ id, before, rows: left }) => [id, before, left]);
      const changed = args.length > 0 ? textsOf(await scripts.run(CHANGE, [rows], args)) : [];
      const done = changes.filter(({ id }) => changed.includes(id));
      sum += done.reduce((total, one) => total + one.erased, 0);
      // Somebody else has erased others of these rows, or the log has dropped them: then once more.
      if (done.length < changes.length) continue;
      const last = found.at(-1);
      if (!last || found.length < MOST.read) return sum;
      from = `(${last.id}`;
    }
  }

  return {
    async append({ id, process, rows, failures: failed, counts, marks: newest }) {
      const periods = SERIES_NAMES.flatMap((series, which) =>
        Object.entries(counts[series] ?? {}).map(([period, added]) => {
          const counters = Object.entries(added);
          const key = countersOf(series, period);
          return { key, args: [which + 1, period, counters.length, ...counters.flat()] };
        }),
      );
      const times = Object.entries(newest);
      const keys = [
        ...[`${slot}:batch:${id}`, ...others, ...failures, ...processes, marks],
        ...[...SERIES_NAMES.map(indexOf), ...periods.map(({ key }) => key)],
      ];
      const args = [
        ...[process.id, JSON.stringify(process), process.at, ...keptArgs(rows)],
        ...[...keptArgs(failed), times.length, ...times.flat()],
        ...periods.flatMap((period) => period.args),
      ];
      textOf(await scripts.run(APPEND, keys, args));
    },
    async read(query = {}) {
      const { before, batches: limit = 20, only, since = 0, until = Infinity } = query;
      if (before !== undefined && !isStreamId(before)) throw invalidCursor();
      const from = before === undefined ? '+' : `(${before}`;
      const last = Math.min(until, Number.MAX_SAFE_INTEGER);
      const args = [from, Math.min(limit, MOST.read) + 1, Math.max(0, since), last];
      const kinds = only === 'failures' ? [failures] : [others, failures];
      const found = await Promise.all(kinds.map((keys) => batchesOf(keys, args)));
      const { page, next } = newestBatches(found, limit);
      const rows = page.flatMap((batch) => rowsOfBatch(batch, query));
      return next === undefined ? { rows } : { rows, before: next };
    },
    async counts(series, since, until, namePrefix = '') {
      const counted = new Map<number, Record<string, number>>();
      const range = [since, Math.min(until, Number.MAX_SAFE_INTEGER)];
      const found = textsOf(await scripts.run(PERIODS, [indexOf(series)], range));
      for (let at = 0; at < found.length; at += MOST.periods) {
        const some = found.slice(at, at + MOST.periods);
        const keys = some.map((period) => countersOf(series, period));
        const replies = await scripts.run(COUNTS, keys, [namePrefix]);
        if (!Array.isArray(replies) || replies.length !== some.length) throw unexpected();
        for (const [index, period] of some.entries()) {
          const counters = pairs(textsOf(replies[index]));
          if (counters.length > 0) counted.set(Number(period), numbers(counters));
        }
      }
      return counted;
    },
    async marks() {
      const [now, ...texts] = textsOf(await scripts.run(MARKS, [marks]));
      return { now: Number(now), marks: numbers(pairs(texts)) };
    },
    async erase(which) {
      const erased = eraser(which);
      if (!erased) return 0;
      return (await eraseOf(others, erased)) + (await eraseOf(failures, erased));
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

/** The rows of one kind of one batch. */
interface Batch {
  readonly id: string;
  readonly ahead: number;
  readonly rows: string;
}

/** Of each batch, a script gives three texts. */
function batchesIn(texts: string[]): Batch[] {
  const batches: Batch[] = [];
  for (let at = 0; at < texts.length; at += 3) {
    const [id, ahead, rows] = texts.slice(at, at + 3) as [string, string, string];
    batches.push({ id, ahead: Number(ahead), rows });
  }
  return batches;
}

function keptArgs(rows: readonly OutcomeRow[]): (string | number)[] {
  const kept = keptRows(rows);
  return kept ? [kept.count, kept.first, kept.last, kept.rows] : [0, 0, 0, ''];
}

/**
 * Merges the batches of each kind.
 * @returns at most `limit` batches, and before which batch to go on, if there may be more
 */
function newestBatches(
  found: readonly { batches: readonly Batch[]; stopped: string | undefined }[],
  limit: number,
): { page: Batch[][]; next: string | undefined } {
  // What is older than this was not looked for in all of them.
  const [stopped] = found
    .flatMap((one) => one.stopped ?? [])
    .sort((one, other) => byAge(other, one));
  const byId = new Map<string, Batch[]>();
  for (const batch of found.flatMap(({ batches }) => batches))
    if (stopped === undefined || byAge(batch.id, stopped) >= 0)
      byId.set(batch.id, [...(byId.get(batch.id) ?? []), batch]);
  const ids = [...byId.keys()].sort((one, other) => byAge(other, one));
  const shown = ids.slice(0, limit);
  const next = ids.length > shown.length ? shown.at(-1) : stopped;
  return { page: shown.map((id) => byId.get(id) ?? []), next };
}

/** Compares ids of streams. */
function byAge(one: string, other: string): number {
  const [ms = 0, sequence = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherSequence = 0] = other.split('-').map(Number);
  return ms - otherMs || sequence - otherSequence;
}

function pairs(texts: string[]): [string, string][] {
  const ends = texts.filter((_, index) => index % 2 === 1);
  return ends.map((end, index) => [texts[2 * index] as string, end]);
}

const numbers = (counters: [string, string][]): Record<string, number> =>
  Object.fromEntries(counters.map(([name, count]) => [name, Number(count)]));
