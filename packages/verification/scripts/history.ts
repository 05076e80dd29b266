import { parseArgs } from 'node:util';
import { BUGS, type Bug } from '../src/history/buggy-store.ts';
import { ENGINES, type EngineName } from '../src/history/engines/engine.ts';
import { runHistory } from '../src/history/run.ts';

// Runs receivers and workers in processes of their own, kills and freezes them and their server at
// random, and checks the resulting history against what the receiver promises.
// `npm run history -w @call-webhooks/verification -- --store redis --queue --seed 1 --calls 700`

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true },
    queue: { type: 'boolean', default: false },
    'exactly-once': { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    calls: { type: 'string', default: '24' },
    'no-faults': { type: 'boolean', default: false },
    bug: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const { queue: queued, 'exactly-once': exactlyOnce, seed, bug, keep } = values;
// Redis has no transactions that an effect could be in.
const possible = exactlyOnce ? ENGINES.filter((name) => name !== 'redis') : ENGINES;
const stores = values.store ?? possible;
const expectOneOf = (names: readonly string[], name: string) => {
  if (!names.includes(name)) throw new Error(`Expected one of ${names.join(', ')}, got ${name}.`);
};
stores.forEach((name) => expectOneOf(possible, name));
if (bug !== undefined) expectOneOf(BUGS, bug);
if (bug === 'outside-transaction' && !exactlyOnce)
  throw new Error('--bug outside-transaction needs --exactly-once.');

for (const store of stores) {
  const { violations, counts, folder } = await runHistory({
    engine: store as EngineName,
    queued,
    exactlyOnce,
    seed,
    calls: Number(values.calls),
    faults: !values['no-faults'],
    bug: bug as Bug | undefined,
    keep,
  });
  const title = [store, queued && 'with a queue', exactlyOnce && 'effects in its database', bug]
    .filter(Boolean)
    .join(', ');
  console.log(`\n${title}, seed ${seed}, ${values.calls} calls`);
  for (const [what, count] of Object.entries(counts))
    console.log(`  ${String(count).padStart(6)} ${what}`);
  for (const violation of violations) console.error(`VIOLATION  ${violation}`);
  if (keep) console.log(`  The journal is in ${folder}`);
  if (violations.length > 0) process.exitCode = 1;
}
// The probe's connections are still open.
process.exit();
