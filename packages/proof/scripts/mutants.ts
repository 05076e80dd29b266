import { fileURLToPath } from 'node:url';
import { MUTANTS } from '../src/mutants/mutants.ts';
import { Workshop } from '../src/mutants/workshop.ts';

// Breaks the receiver in one way after the other, and checks that the named test sees each.
// Run it with `npm run mutants -w @call-webhooks/proof`; a part of a name picks some.

const wanted = process.argv[2] ?? '';
const chosen = MUTANTS.filter(({ name }) => name.includes(wanted));
const workshop = new Workshop(fileURLToPath(new URL('../../..', import.meta.url)));
let survivors = 0;

try {
  const healthy = workshop.run([...new Set(chosen.map(({ killedBy }) => killedBy))]);
  if (healthy.failed > 0 || healthy.passed === 0)
    throw new Error(`The tests fail without any mutant:\n${healthy.said}`);
  console.log(`${String(healthy.passed)} tests pass without a mutant.`);
  for (const { name, edits, killedBy } of chosen) {
    workshop.apply(edits);
    const { failed, passed, said } = workshop.run([killedBy]);
    workshop.restore(edits);
    const killed = failed > 0;
    if (!killed) survivors++;
    console.log(`${killed ? 'killed  ' : 'SURVIVED'}  ${name}  (${killedBy})`);
    if (failed + passed === 0) console.log(said);
  }
} finally {
  workshop.close();
}
console.log(`${String(chosen.length - survivors)} of ${String(chosen.length)} mutants killed`);
process.exitCode = survivors === 0 ? 0 : 1;
