import { redrive, type RedriveOptions as LetterRedrive } from '@call-webhooks/recovery';
import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput, EXIT } from '../../errors.ts';
import { wholeNumber } from '../../input/options.ts';
import {
  targetOf,
  withTargetOptions,
  type Target,
  type TargetOptions,
} from '../../receiver/target.ts';
import type { OpenedStore } from '../../store/engines.ts';
import { withStore, withStoreOptions, type StoreOptions } from '../../store/open-store.ts';
import { filterOf, withFilterOptions, type FilterOptions } from './filter.ts';
import { findLetter } from './find.ts';
import { httpReceiver } from './http-receiver.ts';
import { RedriveReport } from './redrive-report.ts';
import { lettersOfTenant } from './tenant.ts';

interface RedriveOptions extends StoreOptions, FilterOptions, TargetOptions {
  readonly to: string;
  readonly all?: boolean;
  readonly concurrency: number;
}

export function redriveCommand(app: App): Command {
  const command = app
    .command('redrive', 'Send dead letters to the running receiver once more')
    .argument('[id...]', 'their ids, or the beginnings of them')
    .requiredOption('--to <url>', 'the URL of the receiver')
    .option('--all', 'all of them')
    .option('--tenant <name>', 'only those of this tenant; --to and the secret are its own')
    .option('--concurrency <number>', 'how many at once', wholeNumber('--concurrency', 1, 100), 1);
  return withTargetOptions(withStoreOptions(withFilterOptions(command)))
    .addHelpText(
      'after',
      `
Each letter is signed anew and sent. It is removed when the receiver has handled
its event, and stays with its new error when that fails again. Ctrl-C waits for
the letters that are being sent. The store has to be the receiver's.
Without --tenant, letters that belong to a tenant are skipped.
Exit code 1 if any failed, or had no response in time.
${examples(
  ['dead-letters redrive 1f2e --to 3000/hook', 'One letter'],
  ['dead-letters redrive --all --to 3000/hook --concurrency 4', 'All of them'],
  ['dead-letters redrive --event call:completed --to 3000/hook', 'Those of one event'],
)}`,
    )
    .action(app.action((ids: string[], options: RedriveOptions) => run(app, ids, options)));
}

async function run(app: App, ids: readonly string[], options: RedriveOptions): Promise<number> {
  const filter = filterOf(options);
  const { tenant: _tenant, ...others } = options;
  // With ids, --tenant selects nothing: it says whose they have to be.
  const isFiltered = filterOf(ids.length > 0 ? others : options) !== undefined;
  const selected = [ids.length > 0, isFiltered || options.all === true];
  if (!selected.includes(true))
    throw badInput('Which letters?', 'Pass ids, a filter such as --event, or --all.');
  if (!selected.includes(false))
    throw badInput('Ids and filters exclude each other.', 'Remove one of them.');
  const target = await targetOf(app, options.to, options);
  return withStore(app, options, async (opened) => {
    const found = new Set<string>();
    for (const id of ids) found.add((await findLetter(opened.deadLetters, id)).id);
    const selections = found.size > 0 ? [...found].map((id) => ({ id })) : [{ filter }];
    return redriveLetters(app, opened, target, selections, options);
  });
}

async function redriveLetters(
  app: App,
  opened: OpenedStore,
  target: Target,
  selections: readonly Pick<LetterRedrive, 'id' | 'filter'>[],
  { concurrency, tenant }: Pick<RedriveOptions, 'concurrency' | 'tenant'>,
): Promise<number> {
  const { signal } = app;
  const leaseFor = target.timeout + 30_000;
  const isEachGiven = selections.every(({ id }) => id !== undefined);
  const report = new RedriveReport(app, leaseFor, isEachGiven ? selections.length : undefined);
  const { onProgress } = report;
  const receiver = report.watch(httpReceiver(opened.store, target));
  const deadLetters = lettersOfTenant(opened.deadLetters, tenant, report.onOther);
  const settings = { receiver, deadLetters, leaseFor, concurrency, onProgress, signal };
  try {
    for (const selection of selections) {
      if (signal.aborted) break;
      await redrive({ ...settings, ...selection });
    }
    await report.print();
    return report.hasFailed ? EXIT.receiverFailed : EXIT.done;
  } finally {
    report.end();
  }
}
