import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { check as run, type CheckOptions } from '../checking/check.ts';
import { milliseconds } from '../input/numbers.ts';
import { withSecretOptions } from '../input/secrets.ts';
import { withExternalOption } from '../input/target-url.ts';

export function check(app: App): Command {
  const command = app
    .command('check', 'Ask a receiver what the world will ask of it, and say what to mend')
    .requiredOption('--to <url>', 'the receiver')
    .option('--header-prefix <prefix>', 'X-Service unless you say otherwise')
    .option('--timeout <duration>', 'the longest wait for an answer', milliseconds, 30_000);
  return withExternalOption(withSecretOptions(command))
    .addHelpText(
      'after',
      `
Sent are: GET, an unsigned and a forged event; with a secret also a stale one, one ahead of time, a
tampered one, an authentic one and its replay. The authentic one is of an event that nobody handles,
so no handler of yours runs. Exit code 1 when an answer is wrong, 3 when there was no receiver.
${examples(
  ['check --to 3000/hook', 'What anybody can ask'],
  [
    'check --to https://hooks.example.com/hook --allow-external',
    'The real one, before it goes live',
  ],
)}`,
    )
    .action(app.run((options: CheckOptions) => run(app, options)));
}
