import { sign as signBody } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { wholeNumber } from '../input/numbers.ts';
import { dataBytes } from '../input/read.ts';
import { secretsNeeded, withSecretOptions, type SecretOptions } from '../input/secrets.ts';
import { t } from '../terminal/text.ts';

interface Options extends SecretOptions {
  readonly data: string;
  readonly headerPrefix?: string;
  readonly webhookId?: string;
  readonly timestamp?: number;
}

export function sign(app: App): Command {
  const command = app
    .command('sign', 'The three signature headers for a body')
    .option('-d, --data <text|@file|->', 'the body, byte for byte', '-')
    .option('--header-prefix <prefix>', 'X-Service unless you say otherwise')
    .option('--webhook-id <id>', 'a new UUID without it')
    .option('--timestamp <seconds>', 'Unix seconds; now without it', wholeNumber('--timestamp', 1));
  return withSecretOptions(command)
    .addHelpText(
      'after',
      examples(
        ['sign --data @event.json > headers.txt', 'Headers as curl reads them: -H @headers.txt'],
        [`sign --json < event.json`, 'As JSON'],
      ),
    )
    .action(
      app.run(async ({ data, headerPrefix, webhookId, timestamp, ...options }: Options) => {
        const [secret] = await secretsNeeded(app.io, options);
        const body = await dataBytes(app.io, data, 'body');
        const headers = await signBody({ secret, body, headerPrefix, webhookId, timestamp });
        await app.output.show(headers, () =>
          Object.entries(headers).map(([name, value]) => t`${name}: ${value}`),
        );
        return undefined;
      }),
    );
}
