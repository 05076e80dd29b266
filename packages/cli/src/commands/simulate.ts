import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { collected, milliseconds, wholeNumber } from '../input/numbers.ts';
import { withSecretOptions } from '../input/secrets.ts';
import { withExternalOption } from '../input/target-url.ts';
import type { SimulateOptions } from '../simulate/options.ts';
import { DEFAULT_PORT } from '../simulator/address.ts';

export function simulate(app: App): Command {
  const command = app
    .command('simulate', 'Run the service on this machine: rules, retries, pauses, an inspector')
    .option('-f, --forward-to <url>', 'send all three events there; repeatable', collected)
    .option(
      '-p, --port <number>',
      `where to listen (default: ${String(DEFAULT_PORT)}; 0: any free port)`,
      wholeNumber('--port', 0, 65_535),
    )
    .option('--clock <mode>', 'real, or manual: time stands still until it is turned', 'real')
    .option('--seed <text>', 'the same seed gives the same ids, secrets, jitter and chaos')
    .option('--retry-every <duration>', 'until a failed attempt is made again (5m)', milliseconds)
    .option(
      '--max-attempts <number>',
      'attempts of a delivery, the first included (6)',
      wholeNumber('--max-attempts', 1, 1_000),
    )
    .option('--while-paused <mode>', 'drop (default) or hold the events of a paused rule')
    .option('--chaos <mode=probability>', 'chaos from the start; repeatable', collected)
    .option('--header-prefix <prefix>', 'X-Service unless you say otherwise')
    .option('--db <file>', 'keep the state in a file, over restarts')
    .option('--api-token <token>', 'what X-API-Token has to hold; drawn from the seed by default');
  withSecretOptions(command)
    .option('--separate-secrets', 'a secret for each rule, as the real service has them')
    .option('--secret-out <file>', 'write the secrets to a file, for --secret-file of the others');
  return withExternalOption(command)
    .addHelpText(
      'after',
      examples(
        ['simulate --forward-to http://127.0.0.1:3000/hook', 'Every event goes to your receiver'],
        [
          'simulate -f 3000/hook --clock manual --seed 7',
          'A run that can be had again, retries included',
        ],
        ['simulate -f 3000/hook --retry-every 5s --max-attempts 3', 'Real time, but impatient'],
        ['simulate -f 3000/hook --json | jq .attempt.answer', 'For scripts'],
      ),
    )
    .action(
      app.run(async (options: SimulateOptions) => {
        // Loaded when it is needed: the simulator brings a whole web server along.
        const { runSimulator } = await import('../simulate/run.ts');
        return runSimulator(app, options);
      }),
    );
}
