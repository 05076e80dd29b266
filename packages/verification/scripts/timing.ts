import { createHmac } from 'node:crypto';
import { equalText } from '../../core/src/platform/node.ts';

// Does the duration of the comparison depend on where the first wrong character is? A t-test like
// dudect's: two classes of inputs, measured in random order, cropped and compared by Welch's t-test.
// |t| > 4.5 means that it does. `npm run timing -w @call-webhooks/verification`

const ROUNDS = Number(process.argv[2] ?? 400_000);
const BATCH = 16;

const right = createHmac('sha256', 'key').update('body').digest('base64');
const wrongAt = (at: number) =>
  right.slice(0, at) + (right.charAt(at) === 'A' ? 'B' : 'A') + right.slice(at + 1);

/** The naive comparison, which shows that the method can find a leak. */
function leaky(one: string, other: string): boolean {
  for (let at = 0; at < one.length; at++)
    if (one.charCodeAt(at) !== other.charCodeAt(at)) return false;
  return one.length === other.length;
}

type Compare = (one: string, other: string) => boolean;

function measure(compare: Compare, early: string, late: string): number {
  const classes: [number[], number[]] = [[], []];
  let sink = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const which = Math.random() < 0.5 ? 0 : 1;
    const input = which === 0 ? early : late;
    const before = process.hrtime.bigint();
    for (let again = 0; again < BATCH; again++) sink += compare(right, input) ? 1 : 0;
    classes[which].push(Number(process.hrtime.bigint() - before));
  }
  if (sink !== 0) throw new Error('a wrong signature was accepted');
  return welch(crop(classes[0], classes), crop(classes[1], classes));
}

/** Drops the slowest tenth, which interruptions cause. */
function crop(times: readonly number[], classes: readonly (readonly number[])[]): number[] {
  const all = classes.flat().sort((one, other) => one - other);
  const limit = all[Math.floor(all.length * 0.9)] ?? Infinity;
  return times.filter((time) => time <= limit);
}

function welch(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [momentsOf(one), momentsOf(other)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / one.length + b.variance / other.length);
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}

const [early, late] = [wrongAt(0), wrongAt(right.length - 2)];
for (const [name, compare] of [
  ['ours', equalText],
  ['naive, as a control', leaky],
] as const) {
  measure(compare, early, late); // warm
  const t = measure(compare, early, late);
  console.log(
    `${name}: t = ${t.toFixed(2)} over ${String(ROUNDS)} rounds; ${Math.abs(t) > 4.5 ? 'the duration LEAKS the position' : 'no leak found'}`,
  );
  if (name === 'ours' && Math.abs(t) > 4.5) process.exitCode = 1;
}
