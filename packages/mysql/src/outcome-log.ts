import {
  batchBefore,
  type Counters,
  eraser,
  keptRows,
  type LogProcess,
  type OutcomeLog,
  type OutcomeRow,
  rowsOfBatch,
  SERIES_NAMES,
} from '@call-webhooks/core/stores';
import { numberOf, textOf, type Row } from './pool.ts';
import type { Tables } from './tables.ts';

/** How many batches are read at a time to erase rows of them. */
const MOST_READ = 100;

/** The outcome log of `mysqlStore`. */
export function mysqlOutcomeLog(tables: Tables): OutcomeLog {
  return {
    async append({ id, process, rows, failures, counts, marks }) {
      const counters = SERIES_NAMES.flatMap((series) => countersOf(series, counts[series] ?? {}));
      const marked = Object.entries(marks).map(([name, at]) => [hex(name), at]);
      try {
        await tables.call('append_log', [
          ...[id, process.id, JSON.stringify(process), process.at],
          ...[...kept(rows), ...kept(failures)],
          ...[JSON.stringify(counters), JSON.stringify(marked)],
        ]);
      } catch (error) {
        // Its content is refused: it would be refused for ever, and the batches after it wait for it.
        if (isOfContent(error)) return { refused: error };
        throw error;
      }
      return undefined;
    },
    async read(query = {}) {
      const { before, batches = 20, since = -Infinity, until = Infinity, only } = query;
      const found = await tables.call('read_log', [
        ...[batchBefore(before) ?? Number.MAX_SAFE_INTEGER, batches + 1],
        ...[whole(since), whole(until), only === 'failures' ? 1 : 0],
      ]);
      const pages = new Map<number, { rows: string; ahead: number }[]>();
      for (const [n, ahead, outcomes] of found) {
        const ofBatch = pages.get(numberOf(n)) ?? [];
        pages.set(numberOf(n), [...ofBatch, { rows: textOf(outcomes), ahead: numberOf(ahead) }]);
      }
      const page = [...pages].slice(0, batches);
      const rows = page.flatMap(([, ofBatch]) => rowsOfBatch(ofBatch, query));
      return pages.size > page.length ? { rows, before: String(page.at(-1)?.[0]) } : { rows };
    },
    async counts(series, since, until, prefix = '') {
      const found = await tables.call('log_counters', [series, whole(since), whole(until), prefix]);
      const periods = new Map<number, [string, number][]>();
      for (const [period, name, amount] of found) {
        const ofPeriod = periods.get(numberOf(period)) ?? [];
        ofPeriod.push([textOf(name), numberOf(amount)]);
        periods.set(numberOf(period), ofPeriod);
      }
      return new Map([...periods].map(([period, named]) => [period, Object.fromEntries(named)]));
    },
    async marks() {
      const found = await tables.call('log_marked', []);
      const marked = found.filter(([, name]) => name !== null);
      const marks = marked.map(([, name, at]) => [textOf(name), numberOf(at)] as const);
      return { now: numberOf(found[0]?.[0] ?? null), marks: Object.fromEntries(marks) };
    },
    async erase(which) {
      const erased = eraser(which);
      let sum = 0;
      for (let after: number | undefined = erased && 0; erased && after !== undefined;) {
        const found = await tables.call('log_kept', [after, MOST_READ]);
        let isChanged = false;
        for (const [n, failures, ahead, outcomes] of found) {
          const rows = textOf(outcomes);
          const left = erased({ rows, ahead: numberOf(ahead) });
          if (left.erased === 0) continue;
          if (await tables.yes('log_erase', n, failures, rows, left.rows)) sum += left.erased;
          else isChanged = true;
        }
        // Somebody else has erased others of these rows, or the log has dropped them: then once more.
        if (!isChanged) after = found.length === 0 ? undefined : numberOf(found.at(-1)?.[0]);
      }
      return sum;
    },
    async processes() {
      const found = await tables.call('log_seen', []);
      return found.map(([process, seenAt]) => ({
        ...(JSON.parse(textOf(process)) as LogProcess),
        seenAt: numberOf(seenAt),
      }));
    },
  };
}

function kept(rows: readonly OutcomeRow[]): Row {
  const { rows: text = '', count = 0, first = 0, last = 0 } = keptRows(rows) ?? {};
  return [text, count, first, last];
}

/** Names are in JSON, which has a character set. */
const hex = (name: string) => Buffer.from(name).toString('hex');

const countersOf = (series: string, counters: Counters) =>
  Object.entries(counters).flatMap(([period, added]) =>
    Object.entries(added).map(([name, count]) => [series, Number(period), hex(name), count]),
  );

/** A whole number that the server has. */
const whole = (time: number) =>
  Math.floor(Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, time)));

/** Of values that are out of range or too long (22), or against a constraint (23, and 3819 of MySQL). */
function isOfContent(error: unknown): boolean {
  const { sqlState, errno } = Object(error) as { sqlState?: unknown; errno?: unknown };
  return (typeof sqlState === 'string' && /^2[23]/.test(sqlState)) || errno === 3819;
}
