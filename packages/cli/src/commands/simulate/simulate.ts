import { Option, type Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { milliseconds, repeatable, wholeNumber } from '../../input/options.ts';
import { checkReplaceable, writeSecretFile } from '../../input/secret-file.ts';
import { withSecretOptions } from '../../input/secrets.ts';
import { targetUrl, withExternalOption } from '../../input/target-url.ts';
import { secretsForActions, withSharedSecretOption } from '../../simulator/action-secrets.ts';
import { connect, DEFAULT_PORT } from '../../simulator/connection.ts';
import { secretFileOf } from '../../simulator/secrets.ts';
import { createUpdatePrinter } from '../../simulator/update-lines.ts';
import { updatesOf } from '../../simulator/updates.ts';
import type { SimulateOptions } from './start.ts';

/** `simulate`: runs the service on this machine. */
export function simulateCommand(app: App, base: Command): Command {
  const command = base
    .option('-f, --forward-to <url>', 'send all three events to this URL; repeatable', repeatable)
    .option(
      '-p, --port <number>',
      `the port (default: ${String(DEFAULT_PORT)}; 0: any free port)`,
      wholeNumber('--port', 0, 65_535),
    )
    .addOption(
      new Option('--clock <mode>', 'real, or manual: it stands still until you advance it')
        .choices(['real', 'manual'])
        .default('real'),
    )
    .option('--seed <text>', 'the same ids, secrets, jitter and chaos in each run')
    .option('--retry-every <duration>', 'the time between attempts (default: 5m)', milliseconds)
    .option(
      '--max-attempts <number>',
      'attempts per delivery, including the first (default: 6)',
      wholeNumber('--max-attempts', 1, 1_000),
    )
    .addOption(
      new Option('--while-paused <mode>', 'the events of a paused rule (default: drop)').choices([
        'drop',
        'hold',
      ]),
    )
    .option('--chaos <mode=probability>', 'inject faults from the start; repeatable', repeatable)
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--api-token <token>', 'the API token to require (default: from the seed)');
  withSharedSecretOption(withSecretOptions(command)).option(
    '--secret-out <file>',
    'write the secrets to a file, for --secret-file',
  );
  return withExternalOption(command)
    .addHelpText(
      'after',
      `
As at the service, each action has its own secret. Given secrets are used in
this order: call:started, call:completed, then the recording webhook, unless
$RECORDING_WEBHOOK_SECRET is set. What is not given is generated.
${examples(
  ['simulate --forward-to http://127.0.0.1:3000/hook', 'Send every event to your receiver'],
  [
    'simulate -f 3000/hook --clock manual --seed 7',
    'A repeatable run in which retries do not wait',
  ],
  ['simulate -f 3000/hook --retry-every 5s --max-attempts 3', 'Retry quickly'],
  ['simulate -f 3000/hook --json | jq .attempt.response', 'For scripts'],
)}`,
    )
    .action(app.action((options: SimulateOptions) => simulate(app, options)));
}

/** Runs the simulator until it is stopped, and prints every attempt as it ends. */
async function simulate(app: App, options: SimulateOptions): Promise<undefined> {
  const { io, output, signal } = app;
  const urls = (options.forwardTo ?? []).map((url) => targetUrl(url, options.allowExternal));
  if (options.secretOut !== undefined) await checkReplaceable(options.secretOut);
  const secretFor = await secretsForActions(io, options);
  // Loaded here because the simulator includes a whole web server.
  const { banner, createRules, start } = await import('./start.ts');
  const simulator = await start(options);
  try {
    const actions = createRules(simulator, urls, { secretFor, isShared: options.sharedSecret });
    const { secretOut } = options;
    if (secretOut !== undefined) await writeSecretFile(secretOut, secretFileOf(actions));
    const { url, apiToken, seed, rules } = simulator;
    if (output.json) {
      const secrets = actions.map(({ rotations: _, ...action }) => action);
      await output.print({ type: 'ready', url, apiToken, seed, secrets, rules: rules.list() });
    } else {
      const { messageColors, messageColumns } = output;
      for (const line of banner(messageColors, simulator, actions, messageColumns))
        output.message(line);
    }
    const printUpdate = createUpdatePrinter(output);
    for await (const update of await updatesOf(connect(url, signal))) await printUpdate(update);
  } finally {
    await simulator.close();
  }
  return undefined;
}
