import type { Memory, Part } from '../parts.ts';
import type { Round } from '../rounds.ts';
import { contender, FILLED, type FilledName } from '../events/names.ts';
import { REDIS_BAR } from '../stores/names.ts';
import { spread, type Spread } from './statistics.ts';

/** One figure of the project's goals. */
interface Goal {
  readonly name: string;
  readonly part: Part;
  /** The cost of `over` is divided by the cost of `under`, within each round. */
  readonly over: string;
  readonly under: string;
  /** Whether the figure should be at least the bar, or at most. */
  readonly want: 'least' | 'most';
  /** Missing it fails the goal. */
  readonly bar: number;
  /** Where we want to get. */
  readonly aim: number;
}

const atLeast = (part: Part, name: string, over: string, under: string, bar: number, aim: number) =>
  ({ part, name, over, under, want: 'least', bar, aim }) satisfies Goal;
const atMost = (part: Part, name: string, over: string, under: string, bar: number, aim: number) =>
  ({ part, name, over, under, want: 'most', bar, aim }) satisfies Goal;

/** A delivery costs about the same however many events a store remembers. */
const withEvents = (size: number): Goal[] =>
  (Object.entries(FILLED) as [FilledName, string][]).map(([name, label]) =>
    atMost(
      'events',
      `${label}: with 1e${String(Math.log10(size))} remembered events ÷ with 1e4`,
      contender(name, size),
      contender(name, 10_000),
      1.5,
      1.2,
    ),
  );

const VERIFY = 'call-webhooks';
const LRU = '+ standardwebhooks + lru';

export const GOALS: readonly Goal[] = [
  atLeast('verify', 'verify: createHmac ÷ ours', 'createHmac', VERIFY, 1, 1.7),
  atLeast('verify', 'verify: standardwebhooks ÷ ours', 'standardwebhooks', VERIFY, 7, 12),
  atLeast('verify', 'verify: svix ÷ ours', 'svix', VERIFY, 7, 12),
  atMost('http', 'Express ÷ Express raw', 'express + call-webhooks', 'express raw', 1.15, 1),
  atMost(
    'http',
    'Express ÷ Express + standardwebhooks + two lru-caches',
    'express + call-webhooks',
    `express ${LRU}`,
    0.85,
    0.72,
  ),
  atMost('http', 'Fastify ÷ Fastify raw', 'fastify + call-webhooks', 'fastify raw', 2.2, 1.6),
  atMost(
    'http',
    'Fastify ÷ Fastify + standardwebhooks + two lru-caches',
    'fastify + call-webhooks',
    `fastify ${LRU}`,
    0.9,
    0.75,
  ),
  atMost('http', 'node handler ÷ bare node:http', 'node + call-webhooks', 'node bare', 2.2, 1.8),
  // Nobody subscribes: what is left is one check for each channel.
  atMost(
    'http',
    'node handler ÷ without tracing channels',
    'node + call-webhooks',
    'node + call-webhooks without channels',
    1.1,
    1.02,
  ),
  atMost(
    'http',
    'node handler with oneAtATime ÷ without',
    'node + call-webhooks oneAtATime',
    'node + call-webhooks',
    1.3,
    1.1,
  ),
  atMost(
    'http',
    'SQLite: completeIn ÷ the same transaction without it',
    'sqlite + completeIn',
    'sqlite + transaction',
    2,
    1.5,
  ),
  atMost('store', 'admit with 1e6 ids ÷ with 1e3 ids', '1000000', '1000', 3, 2),
  atLeast('stores', 'Redis: deliveries per second ÷ floor', 'redis floor', 'redis', 0.7, 0.9),
  atLeast('stores', 'Postgres: the same', 'postgres floor', 'postgres', 1, 2),
  atLeast('stores', 'SQLite: the same', 'sqlite floor', 'sqlite', 1, 2),
  atMost('storesCpu', `Redis: CPU ÷ (${REDIS_BAR})`, 'redis', REDIS_BAR, 1, 0.8),
  ...[1_000_000, 10_000_000].flatMap((size) => withEvents(size)),
  atMost('import', 'import of core ÷ import of zod', 'core', 'zod', 1.3, 1.1),
];

/** What one version may cost in relation to the version before. */
const BEFORE_BAR = 1.12;

const sinceBefore = (part: Part, name: string, contender: string) =>
  atMost(part, name, contender, `${contender}, before`, BEFORE_BAR, 1);

/** Each is measured against itself over the version before: `--before`. */
export const BEFORE_GOALS: readonly Goal[] = [
  sinceBefore('http', 'node handler', 'node + call-webhooks'),
  sinceBefore('http', 'Express', 'express + call-webhooks'),
  sinceBefore('http', 'Fastify', 'fastify + call-webhooks'),
  sinceBefore('http', 'Next.js', 'next + call-webhooks'),
  sinceBefore('verify', 'verify', 'call-webhooks'),
  sinceBefore('import', 'import of core', 'core'),
];

export interface Figure extends Goal {
  readonly ratio: Spread;
  readonly result: 'aim' | 'bar' | 'missed';
}

export type Parts = Readonly<Partial<Record<Part, readonly Round[]>>>;

/** The figures for which a run has the contenders. */
export function figures(parts: Parts, goals: readonly Goal[] = GOALS): Figure[] {
  return goals.flatMap((goal) => {
    const ratios = (parts[goal.part] ?? []).flatMap((round) => {
      const [over, under] = [round[goal.over], round[goal.under]];
      return over === undefined || under === undefined ? [] : [over / under];
    });
    if (ratios.length === 0) return [];
    const ratio = spread(ratios);
    return [{ ...goal, ratio, result: resultOf(ratio.median, goal) }];
  });
}

export function resultOf(
  value: number,
  { want, bar, aim }: Pick<Goal, 'want' | 'bar' | 'aim'>,
): Figure['result'] {
  const reaches = (mark: number) => (want === 'least' ? value >= mark : value <= mark);
  if (reaches(aim)) return 'aim';
  return reaches(bar) ? 'bar' : 'missed';
}

/** The memory of the store in one sentence each. */
export const memoryLines = (memory: Readonly<Record<string, Memory>>): string[] =>
  Object.entries(memory).map(([name, { size, bytesPerId, delays }]) => {
    const late = ({ p99, max }: Memory['delays']['busy']) =>
      `${p99.toFixed(1)} ms (99 %) and ${max.toFixed(1)} ms (worst)`;
    const version = name.includes('before') ? 'version before' : 'this version';
    return `Memory store with ${size.toLocaleString('en')} webhook ids and as many events, ${version}: ${bytesPerId.toFixed(0)} bytes per id (bar: 200). While it evicts, the event loop is late by ${late(delays.busy)}; without a store by ${late(delays.idle)}.`;
  });
