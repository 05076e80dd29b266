import { sign } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { wholeNumber } from '../input/options.ts';
import { readData } from '../input/read.ts';
import { requiredSecrets, withSecretOptions, type SecretOptions } from '../input/secrets.ts';
import { t } from '../terminal/text.ts';

interface SignOptions extends SecretOptions {
  readonly data: string;
  readonly headerPrefix?: string;
  readonly webhookId?: string;
  readonly timestamp?: number;
}

/** `sign`: prints the signature headers for a body. */
export function signCommand(app: App, base: Command): Command {
  const command = base
    .option('-d, --data <text|@file|->', 'the body, byte for byte', '-')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--webhook-id <id>', 'use this webhook id (default: a new UUID)')
    .option(
      '--timestamp <seconds>',
      'sign with this Unix time (default: now)',
      wholeNumber('--timestamp', 1),
    );
  return withSecretOptions(command)
    .addHelpText(
      'after',
      examples(
        ['sign --data @event.json > headers.txt', 'For curl: -H @headers.txt'],
        [`sign --json < event.json`, 'As JSON'],
      ),
    )
    .action(
      app.action(async ({ data, headerPrefix, webhookId, timestamp, ...options }: SignOptions) => {
        const [secret] = await requiredSecrets(app.io, options);
        const body = await readData(app.io, data, 'body');
        const headers = await sign({ secret, body, headerPrefix, webhookId, timestamp });
        await app.output.print(headers, () =>
          Object.entries(headers).map(([name, value]) => t`${name}: ${value}`),
        );
        return undefined;
      }),
    );
}
