// Plays the service, in a process of its own: signs deliveries and posts them over HTTP.
// Usage: sender.ts <url>, with CALL_WEBHOOK_SECRET set. Ends with 1 when an answer is not as it must be.
import pc from 'picocolors';
import { tour } from './deliveries.ts';

const [url = ''] = process.argv.slice(2);
const steps = await tour(process.env['CALL_WEBHOOK_SECRET'] ?? '');
let wrong = 0;

const row = (what: string, status: string, outcome: string, verdict: string) =>
  `${what.padEnd(40)} ${status.padEnd(7)} ${outcome.padEnd(28)} ${verdict}`;
console.log(pc.bold(row('delivery', 'status', 'outcome', '')));

for (const { what, expected, body, headers } of steps) {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const { outcome } = (await response.json()) as { outcome: string };
  const right = response.status === expected.status && outcome === expected.outcome;
  if (!right) wrong += 1;
  const colour = response.ok ? pc.green : response.status < 500 ? pc.yellow : pc.red;
  const plain = row(what, String(response.status), outcome, '').slice(0, 78);
  console.log(
    `${plain.slice(0, 41)}${colour(plain.slice(41))}${right ? pc.green('as it must be') : pc.red(`must be ${String(expected.status)} ${expected.outcome}`)}`,
  );
}
console.log(
  wrong === 0
    ? pc.green(`\nAll ${String(steps.length)} answers are as they must be.`)
    : pc.red(`\n${String(wrong)} answers are wrong.`),
);
process.exitCode = wrong === 0 ? 0 : 1;
