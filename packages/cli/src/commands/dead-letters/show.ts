import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { withStore, withStoreOptions, type StoreOptions } from '../../store/open-store.ts';
import type { Colors } from '../../terminal/colors.ts';
import { paragraph } from '../../terminal/fit.ts';
import { bodyLines, dateTime } from '../../terminal/format.ts';
import { pairs } from '../../terminal/table.ts';
import { t, type Printable, type Text } from '../../terminal/text.ts';
import { findLetter } from './find.ts';
import { recordOf } from './list.ts';
import { bodyOf } from './mask.ts';

interface ShowOptions extends StoreOptions {
  readonly reveal?: boolean;
}

export function showCommand(app: App): Command {
  const command = app
    .command('show', 'Show a dead letter: its error, its history and its body')
    .argument('<id>', 'its id or the beginning of it')
    .option('--reveal', 'show personal data: the body as it was sent');
  return withStoreOptions(command)
    .addHelpText(
      'after',
      `
Values of the body are hidden unless you pass --reveal. Ids and times are shown.
${examples(['dead-letters show 1f2e', 'Why it failed'], ['dead-letters show 1f2e --reveal', 'With the body as it was sent'])}`,
    )
    .action(
      app.action((id: string, options: ShowOptions) =>
        withStore(app, options, ({ deadLetters }) => show(app, deadLetters, id, options)),
      ),
    );
}

async function show(
  { output }: App,
  deadLetters: DeadLetters,
  id: string,
  { reveal }: ShowOptions,
): Promise<undefined> {
  const letter = await findLetter(deadLetters, id);
  const body = bodyOf(letter, reveal);
  const text =
    typeof body === 'string' ? { body } : { base64: Buffer.from(body).toString('base64') };
  await output.print({ ...recordOf(letter), ...text }, (colors) => [
    ...detailLines(colors, letter, output.columns),
    ...bodyLines(body, Infinity).map((line) => t`  ${line}`),
  ]);
  return undefined;
}

function detailLines(colors: Colors, letter: StoredDeadLetter, columns: number): Text[] {
  const { id, eventName = '(no event name)', reason, callId, key, webhookId, attempt } = letter;
  const known: [string, Printable | undefined][] = [
    ['id', id],
    ['tenant', letter.tenant],
    ['call', callId],
    ['key', key],
    ['webhook id', webhookId],
    ['attempts', attempt],
    ['failed', dateTime(letter.failedAt)],
    ['claimed until', letter.claimedUntil && dateTime(letter.claimedUntil)],
  ];
  const given = known.filter((pair): pair is [string, Printable] => pair[1] !== undefined);
  return [
    t`${colors.bold(eventName)}  ${colors.red(reason)}`,
    ...pairs(colors, given, columns),
    ...letter.history.flatMap(({ at, source, error }) => [
      t`${colors.dim(dateTime(at))}  ${source}`,
      ...paragraph(error, columns, 2),
    ]),
  ];
}
