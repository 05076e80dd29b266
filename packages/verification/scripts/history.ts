import { parseArgs } from 'node:util';
import { ENGINES, type EngineName } from '../src/history/engines/engine.ts';
import { runHistory } from '../src/history/run.ts';

// Runs receivers and workers in processes of their own, kills and freezes them and their server at
// random, and checks the resulting history against what the receiver promises.
// `npm run history -w @call-webhooks/verification -- --store redis --handlers queued --seed 1 --long`

/**
 * The exit code of a run without violations on a machine that was too busy for it: `EX_TEMPFAIL` of sysexits.h. With
 * violations it is 1.
 */
const INCONCLUSIVE = 75;

/** Where handlers run and have their effects. */
const HANDLERS = ['direct', 'queued', 'exactly-once'] as const;
const [SHORT, LONG] = ['12', '360']; // calls; six in a second

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: [...ENGINES] },
    handlers: { type: 'string', multiple: true, default: [...HANDLERS] },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    long: { type: 'boolean', default: false },
    calls: { type: 'string' },
    'no-faults': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const { seed, keep, long, calls = long ? LONG : SHORT } = values;

function chosen<Name extends string>(names: readonly Name[], wanted: readonly string[]): Name[] {
  const unknown = wanted.find((one) => !names.some((name) => name === one));
  if (unknown !== undefined)
    throw new Error(`Expected one of ${names.join(', ')}, got ${unknown}.`);
  return names.filter((name) => wanted.includes(name));
}

async function check(engine: EngineName, handlers: (typeof HANDLERS)[number]): Promise<void> {
  const since = performance.now();
  const { violations, inconclusive, counts, explanation } = await runHistory({
    ...{ engine, seed, keep, calls: Number(calls), faults: !values['no-faults'] },
    queued: handlers === 'queued',
    exactlyOnce: handlers === 'exactly-once',
  });
  const seconds = ((performance.now() - since) / 1_000).toFixed(0);
  console.log(`\n${engine}, ${handlers}, seed ${seed}, ${calls} calls, ${seconds} s`);
  for (const [what, count] of Object.entries(counts))
    console.log(`  ${String(count).padStart(6)} ${what}`);
  if (explanation) console.error(explanation);
  if (inconclusive !== undefined) console.error(`INCONCLUSIVE  ${inconclusive}`);
  if (violations.length > 0) process.exitCode = 1;
  else if (inconclusive !== undefined) process.exitCode ??= INCONCLUSIVE;
}

const stores = chosen(ENGINES, values.store);
for (const handlers of chosen(HANDLERS, values.handlers))
  for (const store of stores)
    // Redis has no transactions that an effect could be in, and MySQL no queue.
    if (
      `${handlers} ${store}` !== 'exactly-once redis' &&
      `${handlers} ${store}` !== 'queued mysql'
    )
      await check(store, handlers);
// The probe's connections are still open.
process.exit();
