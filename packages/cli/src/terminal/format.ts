import { isUtf8 } from 'node:buffer';
import { t, text, type Text } from './text.ts';

/** A time of day in UTC, such as `16:49:39Z`. Times are shown in UTC everywhere, as in JSON. */
export const timeOfDay = (ms: number): string =>
  Number.isFinite(ms) ? dateTime(new Date(ms)).slice(-9) : '--:--:--Z';

/** A date and time in UTC, such as `2026-01-31 16:49:39Z`. `--since` takes it too. */
export const dateTime = (date: Date): string => date.toISOString().replace(/T(.{8})\.\d+/, ' $1');

/** A duration such as `450 ms`, `4.2 s`, `5 min 3 s` or `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3_600);
  const rest = seconds % 60;
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
}

/** A number and its noun, such as `1 call` or `3 calls`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${String(count)} ${count === 1 ? one : many}`;

/** A size such as `1.5 kB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * A body for people: JSON is indented, other text stays as it is, and bytes are counted.
 * @param limit lines; the rest is counted
 */
export function bodyLines(body: string | Uint8Array, limit = 60): Text[] {
  const MAX_LINE = 2_000;
  if (body.length === 0) return [];
  if (typeof body !== 'string' && !isUtf8(body))
    return [t`(${counted(body.length, 'byte')} of binary data)`];
  const all = indented(Buffer.from(body as string).toString()).split(/\r?\n/);
  const shown = all
    .slice(0, limit)
    .map((line) => text(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line));
  return all.length > limit ? [...shown, t`… ${counted(all.length - limit, 'more line')}`] : shown;
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
