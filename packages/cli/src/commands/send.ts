import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { collected, milliseconds, wholeNumber } from '../input/numbers.ts';
import { withSecretOptions } from '../input/secrets.ts';
import { withExternalOption } from '../input/target-url.ts';
import { send as run, type SendOptions } from '../sending/send.ts';

export function send(app: App): Command {
  const command = app
    .command('send', 'Sign one delivery and send it; no simulator needed')
    .argument(
      '<event>',
      'call:started, call:completed, call:recording-available, or any with --data',
    )
    .requiredOption('--to <url>', 'the receiver')
    .option('-d, --data <text|@file|->', 'the body, byte for byte; a sample without it')
    .option('--set <path=json>', 'a field of the body; repeatable', collected)
    .option('--curl', 'print the curl command instead: it works for five minutes')
    .option('-H, --header <header>', 'another header; repeatable', collected)
    .option('--header-prefix <prefix>', 'X-Service unless you say otherwise')
    .option('--webhook-id <id>', 'not a new one: to see whether a replay is refused')
    .option('--timestamp <seconds>', 'Unix seconds, not now', wholeNumber('--timestamp', 1))
    .option('--timeout <duration>', 'the longest wait for the answer', milliseconds, 30_000);
  return withExternalOption(withSecretOptions(command))
    .addHelpText(
      'after',
      `
Exit code 1 when the receiver did not acknowledge; 3 when there was none to connect to.
${examples(
  ['send call:completed --to 3000/hook --secret-file .secret', 'One signed event'],
  ['send call:started --to 3000/hook --set recipientName=null', 'With a field of your own'],
  ['send call:completed --to 3000/hook --data @event.json', 'The bytes of a file'],
  ['send call:completed --to 3000/hook --curl | sh', 'By way of curl'],
)}`,
    )
    .action(app.run((event: string, options: SendOptions) => run(app, event, options)));
}
