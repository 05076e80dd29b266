import { sign } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { EXIT } from '../../errors.ts';
import { describeResult, EFFECT_TEXT, effectOf, requireReached } from '../../http/effect.ts';
import { post, type PostResult } from '../../http/post.ts';
import { durationOption, headerRecord, repeatable, wholeNumber } from '../../input/options.ts';
import { requiredSecrets, withSecretOptions, type SecretOptions } from '../../input/secrets.ts';
import { targetUrl, withExternalOption } from '../../input/target-url.ts';
import type { Colors } from '../../terminal/colors.ts';
import { bodyLines, duration } from '../../terminal/format.ts';
import { askSecret } from '../../terminal/prompts.ts';
import { t, type Text } from '../../terminal/text.ts';
import { bodyOf, type BodyOptions } from './body.ts';
import { curlCommand } from './curl.ts';

interface SendOptions extends SecretOptions, BodyOptions {
  readonly to: string;
  readonly curl?: boolean;
  readonly header?: readonly string[];
  readonly headerPrefix?: string;
  readonly webhookId?: string;
  readonly timestamp?: number;
  readonly timeout: number;
  readonly allowExternal?: boolean;
}

/** `send`: signs one delivery and sends it. */
export function sendCommand(app: App, base: Command): Command {
  const command = base
    .argument(
      '<event>',
      'call:started, call:completed or call:recording-available; any name with --data',
    )
    .requiredOption('--to <url>', 'the URL of the receiver')
    .option('-d, --data <text|@file|->', 'the body, sent byte for byte (default: a sample)')
    .option('--set <path=json>', 'set a field of the body; repeatable', repeatable)
    .option('--curl', 'print a curl command instead; its signature is valid for 5 minutes')
    .option('-H, --header <header>', 'add a header; repeatable', repeatable)
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--webhook-id <id>', 'use this webhook id, to test replay protection')
    .option('--timestamp <seconds>', 'sign with this Unix time', wholeNumber('--timestamp', 1))
    .addOption(durationOption('--timeout <duration>', 'how long to wait for the response', 30_000));
  return withExternalOption(withSecretOptions(command))
    .addHelpText(
      'after',
      `
Exit code 1 if the receiver does not acknowledge, 3 if nothing listens there.
${examples(
  ['send call:completed --to 3000/hook --secret-file .secret', 'Send one event'],
  ['send call:started --to 3000/hook --set recipientName=null', 'Change a field'],
  ['send call:completed --to 3000/hook --data @event.json', 'Send the bytes of a file'],
  ['send call:completed --to 3000/hook --curl | sh', 'Send it with curl'],
)}`,
    )
    .action(app.action((event: string, options: SendOptions) => sendDelivery(app, event, options)));
}

async function sendDelivery(app: App, eventName: string, options: SendOptions): Promise<number> {
  const { io, output, signal } = app;
  const url = targetUrl(options.to, options.allowExternal);
  const extraHeaders = headerRecord(options.header ?? []);
  const body = await bodyOf(io, eventName, options);
  const ask = app.interactive ? () => askSecret(app, "The receiver's signing secret") : undefined;
  const [secret] = await requiredSecrets(io, options, ask);
  const { headerPrefix, webhookId, timestamp, timeout } = options;
  const signature = await sign({ secret, body, headerPrefix, webhookId, timestamp });
  const headers = { 'Content-Type': 'application/json', ...extraHeaders, ...signature };
  if (options.curl) {
    const isFile = options.set === undefined && options.data?.startsWith('@');
    const file = isFile ? options.data?.slice(1) : undefined;
    const command = curlCommand({ url, headers, body, file });
    if (output.json) await output.print({ command });
    else await output.write(`${command}\n`);
    return EXIT.done;
  }
  const result = requireReached(url, await post({ url, headers, body, timeout }, signal));
  const effect = effectOf(result);
  const response =
    result.kind === 'status' ? { ...result, body: result.body.toString('utf8') } : result;
  await output.print({ request: { url, headers }, response, effect }, (colors) =>
    resultLines(colors, result),
  );
  return effect === 'acknowledged' ? EXIT.done : EXIT.receiverFailed;
}

function resultLines({ green, red, dim }: Colors, result: PostResult): Text[] {
  const effect = effectOf(result);
  const paint = effect === 'acknowledged' ? green : red;
  const head = t`${paint(describeResult(result))}  ${dim(duration(result.ms))}  ${EFFECT_TEXT[effect]}`;
  return [head, ...(result.kind === 'status' ? bodyLines(result.body, 20) : [])];
}
