import { parseArgs } from 'node:util';
import { ENGINES, type EngineName } from '../src/history/engines/engine.ts';
import { PLANTED, type Planted } from '../src/history/planted.ts';
import { runHistory } from '../src/history/run.ts';

// Receivers and workers in processes of their own, killed and frozen at random, and their server with
// them; then the history of it all is held against what is promised.
// `npm run history -w @call-webhooks/verification -- --store redis --queue --seed 1 --seconds 120`

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: [...ENGINES] },
    queue: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    seconds: { type: 'string', default: '4' },
    'no-faults': { type: 'boolean', default: false },
    planted: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const { queue: queued, seed, planted, keep } = values;
const known = (names: readonly string[], name: string) => {
  if (!names.includes(name)) throw new Error(`${name} is none of ${names.join(', ')}`);
};
values.store.forEach((name) => known(ENGINES, name));
if (planted !== undefined) known(PLANTED, planted);

for (const store of values.store) {
  const { violations, counts, folder } = await runHistory({
    engine: store as EngineName,
    queued,
    seed,
    seconds: Number(values.seconds),
    faults: !values['no-faults'],
    planted: planted as Planted | undefined,
    keep,
  });
  const title = [store, queued && 'with a queue', planted].filter(Boolean).join(', ');
  console.log(`\n${title}, seed ${seed}, ${values.seconds} s of faults`);
  for (const [what, count] of Object.entries(counts))
    console.log(`  ${String(count).padStart(6)} ${what}`);
  for (const violation of violations) console.error(`VIOLATION  ${violation}`);
  if (keep) console.log(`  the journal is in ${folder}`);
  if (violations.length > 0) process.exitCode = 1;
}
// The probe's connections are open still.
process.exit();
