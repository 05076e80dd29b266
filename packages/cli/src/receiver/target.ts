import type { Profile } from '@call-webhooks/core/internal';
import { Option, type Command } from 'commander';
import type { App } from '../app.ts';
import { durationOption } from '../input/options.ts';
import { requiredSecrets, withSecretOptions, type SecretOptions } from '../input/secrets.ts';
import { targetUrl, withExternalOption } from '../input/target-url.ts';
import { askSecret } from '../terminal/prompts.ts';

/** The flags that say how a running receiver is reached, besides its URL. */
export interface TargetOptions extends SecretOptions {
  readonly allowExternal?: boolean;
  readonly headerPrefix?: string;
  readonly profile?: Profile;
  readonly timeout: number;
}

/** A running receiver, and how to sign for it. */
export interface Target {
  readonly url: string;
  readonly secret: string;
  readonly headerPrefix?: string | undefined;
  readonly profile?: Profile | undefined;
  /** How long to wait for a response; milliseconds. */
  readonly timeout: number;
}

/** Adds the flags of {@link TargetOptions}. */
export const withTargetOptions = (command: Command): Command =>
  withExternalOption(
    withSecretOptions(
      command
        .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
        .addOption(
          new Option('--profile <profile>', "the receiver's profile").choices([
            'standard-webhooks',
          ]),
        )
        .addOption(
          durationOption('--timeout <duration>', 'how long to wait for a response', 31_000),
        ),
    ),
  );

/** The receiver at a URL. It asks for the secret if a person is there. @throws CliError 2 */
export async function targetOf(app: App, to: string, options: TargetOptions): Promise<Target> {
  const url = targetUrl(to, options.allowExternal);
  const ask = app.interactive ? () => askSecret(app, "The receiver's signing secret") : undefined;
  const [secret] = await requiredSecrets(app.io, options, ask);
  const { headerPrefix, profile, timeout } = options;
  return { url, secret, headerPrefix, profile, timeout };
}
