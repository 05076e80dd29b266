import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import { wholeNumber } from '../../input/options.ts';
import { requiredSecrets, withSecretOptions } from '../../input/secrets.ts';
import { targetUrl, withExternalOption } from '../../input/target-url.ts';
import { askSecret } from '../../terminal/prompts.ts';
import { createEventMemory, type Verification } from './handle.ts';
import { serve, type ListenOptions } from './server.ts';

/** `listen`: a receiver that shows what arrives. */
export function listenCommand(app: App, base: Command): Command {
  const command = base
    .option('-p, --port <number>', 'the port; 0: any', wholeNumber('--port', 0, 65_535), 3000)
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('-f, --forward-to <url>', 'forward verified deliveries, byte for byte')
    .option('--answer <status>', 'respond with this status: 2xx, 4xx or 5xx', parseStatus)
    .option('--no-verify', 'accept everything: for actions without a secret')
    .option('--learn', 'find the unknown field names; see: call-webhooks infer --help')
    .option('--no-body', 'print one line per delivery, without its body')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
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
Deliveries that fail verification are not forwarded. If your server returns 404,
410 or a redirect, the service gets a 503 and you get a warning: a 404 would
pause the rule at once.
${examples(
  ['listen --secret-file .secret', 'See what the service sends'],
  ['listen -f 8080/hook --json | tee deliveries.jsonl', 'Forward and record'],
  ['listen --answer 500 --port 3001', 'See the service retry'],
  ['listen --learn', 'Find the unknown field names; Ctrl-C prints the options to paste'],
)}`,
    )
    .action(app.action((options: ListenOptions) => listen(app, options)));
}

function parseStatus(given: string): number {
  const status = wholeNumber('--answer', 200, 599)(given);
  if (status === 404)
    throw badInput('--answer 404 would pause the rule at once.', 'To test retries, use 500.');
  if (status === 410 || (status >= 300 && status < 400))
    throw badInput(`--answer ${given} is not supported.`, 'To test retries, use 500.');
  return status;
}

async function listen(app: App, options: ListenOptions): Promise<undefined> {
  const { forwardTo, allowExternal, answer } = options;
  return serve(app, options, {
    verification: options.verify ? await verificationOf(app, options) : undefined,
    forwardTo: forwardTo === undefined ? undefined : targetUrl(forwardTo, allowExternal),
    answer,
    memory: createEventMemory(),
    signal: app.signal,
  });
}

async function verificationOf(app: App, options: ListenOptions): Promise<Verification> {
  const ask = app.interactive
    ? () => askSecret(app, 'The signing secret of the webhook')
    : undefined;
  const atStart = await requiredSecrets(app.io, options, ask);
  return {
    secrets:
      options.secretFile === undefined
        ? () => Promise.resolve(atStart)
        : () => requiredSecrets(app.io, options),
    headerPrefix: options.headerPrefix,
    toleranceSeconds: options.tolerance,
  };
}
