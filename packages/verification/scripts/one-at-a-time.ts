import { parseArgs } from 'node:util';
import { ENGINES, type EngineName } from '../src/history/engines/engine.ts';
import { runCalls } from '../src/one-at-a-time/run-calls.ts';

// Both events of many calls arrive at once, at receivers that are killed again and again. With
// `oneAtATime`, no two runs of a call may overlap. With `--off` they must: else the check shows nothing.
// `npm run one-at-a-time -w @call-webhooks/verification -- --store postgres --seed 1 --calls 10000`

const { values } = parseArgs({
  options: {
    store: { type: 'string', multiple: true, default: [...ENGINES] },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    calls: { type: 'string', default: '200' },
    off: { type: 'boolean', default: false },
  },
});
const { seed, off } = values;

for (const name of values.store) {
  const engine = ENGINES.find((one): one is EngineName => one === name);
  if (!engine) throw new Error(`Expected one of ${ENGINES.join(', ')}, got ${name}.`);
  const since = performance.now();
  const calls = Number(values.calls);
  const { violations, counts } = await runCalls({ engine, seed, calls, oneAtATime: !off });
  const seconds = ((performance.now() - since) / 1_000).toFixed(0);
  console.log(`\n${engine}${off ? ', without oneAtATime' : ''}, seed ${seed}, ${seconds} s`);
  for (const [what, count] of Object.entries(counts))
    console.log(`  ${String(count).padStart(7)} ${what}`);
  const overlaps = violations.filter((violation) => violation.includes('began'));
  const unexpected = off ? violations.filter((one) => !overlaps.includes(one)) : violations;
  for (const violation of unexpected.slice(0, 20)) console.error(`VIOLATION  ${violation}`);
  if (unexpected.length > 0 || (off && overlaps.length === 0)) process.exitCode = 1;
}
