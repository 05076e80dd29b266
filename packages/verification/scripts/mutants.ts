import { fileURLToPath } from 'node:url';
import { ALL_MUTANTS } from '../src/mutants/all-mutants.ts';
import type { Mutant } from '../src/mutants/mutant.ts';
import { StaleEdit, Sandbox } from '../src/mutants/sandbox.ts';

// Introduces one bug after another into a copy of the receiver, and checks that the named test catches
// it. `npm run mutants -w @call-webhooks/verification -- [part of a name]`

const wanted = process.argv[2] ?? '';
const chosen = ALL_MUTANTS.filter(({ name }) => name.includes(wanted));
const sandbox = new Sandbox(fileURLToPath(new URL('../../..', import.meta.url)));
let killed = 0;

try {
  const healthy = sandbox.run([...new Set(chosen.map(({ killedBy }) => killedBy))]);
  if (healthy.failed > 0 || healthy.passed === 0)
    throw new Error(`The tests fail without a mutant:\n${healthy.output}`);
  console.log(`${String(healthy.passed)} tests pass without a mutant.`);
  for (const mutant of chosen) {
    const { fate, why = '' } = fateOf(mutant);
    if (fate === 'killed') killed++;
    console.log(`${fate.padEnd(8)}  ${mutant.name}  (${mutant.killedBy})${why && `\n${why}`}`);
  }
} finally {
  sandbox.close();
}
console.log(`${String(killed)} of ${String(chosen.length)} mutants killed`);
process.exitCode = killed === chosen.length ? 0 : 1;

function fateOf({ edits, killedBy }: Mutant): { fate: string; why?: string } {
  try {
    sandbox.apply(edits);
    const { failed, passed, output } = sandbox.run([killedBy]);
    if (failed > 0) return { fate: 'killed' };
    return { fate: 'SURVIVED', ...(passed === 0 && { why: `Nothing ran:\n${output}` }) };
  } catch (error) {
    if (!(error instanceof StaleEdit)) throw error;
    const advice = 'Update the mutant in packages/verification/src/mutants.';
    return { fate: 'STALE', why: `${error.message}\n${advice}` };
  } finally {
    sandbox.restore();
  }
}
