import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../cli-error.ts';
import { wholeNumber } from '../input/numbers.ts';
import { withSecretOptions } from '../input/secrets.ts';
import { withExternalOption } from '../input/target-url.ts';
import { listen as run } from '../listening/listen.ts';
import type { ListenOptions } from '../listening/options.ts';

export function listen(app: App): Command {
  const command = app
    .command('listen', 'Receive deliveries, verify and show them, and hand them on')
    .option(
      '-p, --port <number>',
      'where to listen; 0: any free port',
      wholeNumber('--port', 0, 65_535),
      3000,
    )
    .option('--host <address>', 'which address to listen at', '127.0.0.1')
    .option('-f, --forward-to <url>', 'hand what was verified on, byte for byte')
    .option('--answer <status>', 'answer so, to see retries: 2xx, 4xx, 5xx', statusToGive)
    .option('--no-verify', 'believe everything: for actions without a secret')
    .option('--no-body', 'one line a delivery')
    .option('--header-prefix <prefix>', 'X-Service unless you say otherwise')
    .option(
      '--tolerance <seconds>',
      'how old a delivery may be',
      wholeNumber('--tolerance', 0, 86_400),
      300,
    );
  return withExternalOption(withSecretOptions(command))
    .addHelpText(
      'after',
      `
A 404 of the server behind would pause the real rule at once, so it is answered 503, with a warning;
so are 410 and redirects. What is not verified is not handed on.
${examples(
  ['listen --secret-file .secret', 'See what the service sends'],
  ['listen -f 8080/hook --json | tee deliveries.jsonl', 'Look on, and keep it'],
  ['listen --answer 500 --port 3001', 'See the service retry'],
)}`,
    )
    .action(app.run((options: ListenOptions) => run(app, options)));
}

function statusToGive(given: string): number {
  const status = wholeNumber('--answer', 200, 599)(given);
  if (status === 404 || status === 410 || (status >= 300 && status < 400))
    throw badInput(
      `--answer ${given} would pause the real rule, or lose the delivery.`,
      'To see a failure, answer 500 or 503.',
    );
  return status;
}
