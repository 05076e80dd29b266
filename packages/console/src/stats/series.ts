import type { Outcome } from '@call-webhooks/core';
import type { Series } from '../api-types.ts';
import { Counts } from './counts.ts';

/** How a series is divided. */
export interface Division {
  /** Milliseconds of one point. */
  readonly step: number;
  /** How many points it has. */
  readonly size: number;
}

export const HOUR: Division = { step: 60_000, size: 60 };
export const DAY: Division = { step: 600_000, size: 144 };

/** The counts of the last points of a division, by the time at which they begin. */
export class CountSeries {
  readonly division: Division;
  readonly #points = new Map<number, Counts>();

  constructor(division: Division) {
    this.division = division;
  }

  add(outcome: Outcome, now: number): void {
    this.#pointOf(now, now).add(outcome);
  }

  /** The counts from one time on, if there are any. */
  at(time: number): Counts | undefined {
    return this.#points.get(this.#beginOf(time));
  }

  merge(other: CountSeries, now: number): void {
    for (const [at, counts] of other.#points)
      if (at >= this.#first(now)) this.#pointOf(at, now).merge(counts);
  }

  /**
   * Replaces points by what a finer series counted, where that is complete. The day of another process
   * is written less often than its hour.
   */
  refine(finer: CountSeries, now: number): void {
    const from = finer.#first(now);
    const refined = new Map<number, Counts>();
    for (const [at, counts] of finer.#points) {
      const begin = this.#beginOf(at);
      if (begin < from) continue;
      const point = refined.get(begin) ?? new Counts();
      point.merge(counts);
      refined.set(begin, point);
    }
    for (const [at, counts] of refined) this.#points.set(at, counts);
  }

  /** Everything that is counted, empty points too. */
  series(now: number): Series {
    const { step, size } = this.division;
    const all = new Counts();
    const points = Array.from({ length: size }, (_, index) => {
      const at = this.#first(now) + index * step;
      const counts = this.#points.get(at) ?? new Counts();
      all.merge(counts);
      return { at, ...counts.summary() };
    });
    return { step, points, summary: all.summary() };
  }

  /** Deliveries a minute: those of this minute, and the share of the last one that is within 60 s. */
  perMinute(now: number): number {
    const { step } = this.division;
    const begin = this.#beginOf(now);
    const share = 1 - (now - begin) / step;
    const before = this.#points.get(begin - step)?.deliveries ?? 0;
    const current = this.#points.get(begin)?.deliveries ?? 0;
    return Math.round((current + before * share) * 10) / 10;
  }

  toJSON(): [number, Counts][] {
    return [...this.#points];
  }

  /** @param json what `toJSON` made; of anything else, nothing is taken */
  static from(division: Division, json: unknown, now: number): CountSeries {
    const series = new CountSeries(division);
    if (!Array.isArray(json)) return series;
    for (const [at, counts] of json.filter(Array.isArray) as [unknown, unknown][])
      if (typeof at === 'number' && at >= series.#first(now) && at <= now + division.step)
        series.#pointOf(at, now).merge(Counts.from(counts));
    return series;
  }

  #pointOf(time: number, now: number): Counts {
    const at = this.#beginOf(time);
    const known = this.#points.get(at);
    if (known) return known;
    for (const old of this.#points.keys()) if (old < this.#first(now)) this.#points.delete(old);
    const point = new Counts();
    this.#points.set(at, point);
    return point;
  }

  #beginOf(time: number): number {
    return time - (time % this.division.step);
  }

  #first(now: number): number {
    return this.#beginOf(now) - (this.division.size - 1) * this.division.step;
  }
}
