import type { Percentiles } from '../api-types.ts';

/** Each bucket is a fifth wider than the one before. */
const RATIO = 1.2;
/** The last bucket ends after about a day; it also takes what is longer. */
const SIZE = 101;

/** The upper bound of each bucket; milliseconds. */
const BOUNDS = Array.from({ length: SIZE }, (_, index) => RATIO ** index);

/** Counts durations in fixed buckets, so its size never depends on how many there are. */
export class Histogram {
  readonly #counts = new Map<number, number>();
  #count = 0;
  #max = 0;

  /** @param ms milliseconds; what is no number is left out */
  add(ms: number | undefined): void {
    if (ms === undefined || !Number.isFinite(ms)) return;
    this.#addTo(bucketOf(ms), 1);
    this.#max = Math.max(this.#max, ms);
  }

  merge(other: Histogram): void {
    for (const [bucket, count] of other.#counts) this.#addTo(bucket, count);
    this.#max = Math.max(this.#max, other.#max);
  }

  /** `null` if it is empty. */
  percentiles(): Percentiles | null {
    if (this.#count === 0) return null;
    const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => this.#percentile(share)) as [
      number,
      number,
      number,
    ];
    return { count: this.#count, p50, p95, p99, max: rounded(this.#max) };
  }

  /** The highest duration, and then pairs of a bucket and its count. */
  toJSON(): number[] {
    return [rounded(this.#max), ...[...this.#counts].flat()];
  }

  /** @param json what `toJSON` made; of anything else, nothing is taken */
  static from(json: unknown): Histogram {
    const histogram = new Histogram();
    if (!Array.isArray(json) || !json.every((value) => typeof value === 'number' && value >= 0))
      return histogram;
    const [max = 0, ...pairs] = json as number[];
    histogram.#max = max;
    for (let index = 0; index + 1 < pairs.length; index += 2)
      histogram.#addTo(Math.min(SIZE - 1, Math.floor(pairs[index] ?? 0)), pairs[index + 1] ?? 0);
    return histogram;
  }

  #addTo(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#count += count;
  }

  #percentile(share: number): number {
    let left = Math.ceil(this.#count * share);
    for (const [bucket, count] of [...this.#counts].sort(([one], [other]) => one - other)) {
      left -= count;
      if (left <= 0) return rounded(Math.min(this.#max, BOUNDS[bucket] ?? Infinity));
    }
    return rounded(this.#max);
  }
}

function bucketOf(ms: number): number {
  if (ms <= 1) return 0;
  return Math.min(SIZE - 1, Math.ceil(Math.log(ms) / Math.log(RATIO) - 1e-9));
}

const rounded = (ms: number) => Math.round(ms * 100) / 100;
