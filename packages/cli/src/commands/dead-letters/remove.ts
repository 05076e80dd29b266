import type { DeadLetters } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import { withStore, withStoreOptions, type StoreOptions } from '../../store/open-store.ts';
import { askYesNo } from '../../terminal/prompts.ts';
import { t } from '../../terminal/text.ts';
import { findLetter } from './find.ts';

interface RemoveOptions extends StoreOptions {
  readonly yes?: boolean;
}

export function removeCommand(app: App): Command {
  const command = app
    .command('remove', 'Remove dead letters for good')
    .argument('<id...>', 'their ids, or the beginnings of them')
    .option('-y, --yes', 'do not ask');
  return withStoreOptions(command)
    .addHelpText(
      'after',
      `
The event stays known as dead-lettered for as long as the store remembers it.
${examples(['dead-letters remove 1f2e', 'Give an event up'])}`,
    )
    .action(
      app.action((ids: string[], options: RemoveOptions) =>
        withStore(app, options, ({ deadLetters }) => remove(app, deadLetters, ids, options)),
      ),
    );
}

async function remove(
  app: App,
  deadLetters: DeadLetters,
  given: readonly string[],
  { yes = false }: RemoveOptions,
): Promise<undefined> {
  const ids: string[] = [];
  for (const id of given) ids.push((await findLetter(deadLetters, id)).id);
  if (!yes && !app.interactive)
    throw badInput('Removing cannot be undone.', 'Pass --yes if you are sure.');
  const what = ids.length === 1 ? 'this dead letter' : `these ${String(ids.length)} dead letters`;
  if (!yes && !(await askYesNo(app, `Remove ${what} for good?`))) return undefined;
  for (const id of ids) {
    const removed = await deadLetters.remove(id);
    await app.output.print({ id, removed }, () => t`${id}  ${removed ? 'removed' : 'was gone'}`);
  }
  return undefined;
}
