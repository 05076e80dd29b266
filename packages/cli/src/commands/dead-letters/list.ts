import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { wholeNumber } from '../../input/options.ts';
import { withStore, withStoreOptions, type StoreOptions } from '../../store/open-store.ts';
import type { Colors } from '../../terminal/colors.ts';
import { dateTime } from '../../terminal/format.ts';
import { table, type Column } from '../../terminal/table.ts';
import type { Text } from '../../terminal/text.ts';
import { filterOf, withFilterOptions, type FilterOptions } from './filter.ts';

interface ListOptions extends StoreOptions, FilterOptions {
  readonly limit: number;
}

export function listCommand(app: App): Command {
  const command = app
    .command('list', 'List dead letters, those that failed longest ago first')
    .option('--tenant <name>', 'only those of this tenant')
    .option('-n, --limit <number>', 'how many', wholeNumber('--limit', 1, 1_000_000), 50);
  return withStoreOptions(withFilterOptions(command))
    .addHelpText(
      'after',
      examples(
        ['dead-letters list --store sqlite:calls.db', 'What failed for good'],
        ['dead-letters list --since 2h --json | jq -r .id', 'The ids of the last two hours'],
      ),
    )
    .action(
      app.action((options: ListOptions) =>
        withStore(app, options, ({ deadLetters }) => printLetters(app, deadLetters, options)),
      ),
    );
}

async function printLetters(
  { output, signal }: App,
  deadLetters: DeadLetters,
  options: ListOptions,
): Promise<undefined> {
  const filter = filterOf(options);
  const found: StoredDeadLetter[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(1_000, options.limit - found.length);
    const page = await deadLetters.list({ ...filter, limit, cursor });
    found.push(...page.letters);
    cursor = page.cursor;
  } while (cursor !== undefined && found.length < options.limit && !signal.aborted);
  if (output.json) for (const letter of found) await output.print(recordOf(letter));
  else if (found.length === 0)
    output.message(filter ? 'There are no such dead letters.' : 'There are no dead letters.');
  else {
    await output.print(found, (colors) => rows(colors, found, output.columns));
    if (output.columns !== Infinity)
      output.message('For a whole error: call-webhooks dead-letters show ID');
  }
  if (cursor !== undefined) {
    const total = await deadLetters.count(filter);
    output.message(`${String(total - found.length)} more. To see them: --limit ${String(total)}`);
  }
  return undefined;
}

const TENANT: Column = { title: 'tenant', cut: 'end' };

function rows(colors: Colors, letters: readonly StoredDeadLetter[], columns: number): Text[] {
  const hasTenants = letters.some(({ tenant }) => tenant !== undefined);
  return table(
    colors,
    [
      { title: 'failed' },
      { title: 'id', cut: 'id' },
      ...(hasTenants ? [TENANT] : []),
      { title: 'event', cut: 'middle', min: 20 },
      { title: 'error', cut: 'end', min: 26 },
    ],
    letters.map(({ failedAt, id, tenant = '', eventName = '', error, claimedUntil }) => [
      dateTime(failedAt),
      id,
      ...(hasTenants ? [tenant] : []),
      eventName,
      claimedUntil ? colors.yellow(`being redriven; ${error}`) : error,
    ]),
    columns,
  );
}

/** A letter for scripts, without its body. */
export function recordOf({ rawBody, ...letter }: StoredDeadLetter): object {
  return { ...letter, bytes: rawBody.length };
}
