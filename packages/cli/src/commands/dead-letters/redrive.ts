import { redrive, type RedriveProgress, type RedriveResult } from '@call-webhooks/recovery';
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
import { shortId } from '../../terminal/format.ts';
import { progressBar } from '../../terminal/progress.ts';
import { t } from '../../terminal/text.ts';
import { filterOf, withFilterOptions, type FilterOptions } from './filter.ts';
import { findLetter } from './find.ts';
import { httpReceiver } from './http-receiver.ts';

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
    .option('--concurrency <number>', 'how many at once', wholeNumber('--concurrency', 1, 100), 1);
  return withTargetOptions(withStoreOptions(withFilterOptions(command)))
    .addHelpText(
      'after',
      `
Each letter is signed anew and sent. It is removed when the receiver has handled
its event, and stays with its new error when that fails again. Ctrl-C waits for
the letters that are being sent. The store has to be the receiver's.
Exit code 1 if any failed.
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
  const selected = [ids.length > 0, filter !== undefined || options.all === true];
  if (!selected.includes(true))
    throw badInput('Which letters?', 'Pass ids, a filter such as --event, or --all.');
  if (!selected.includes(false))
    throw badInput('Ids and filters exclude each other.', 'Remove one of them.');
  const target = await targetOf(app, options.to, options);
  const { concurrency } = options;
  return withStore(app, options, async (opened) => {
    if (ids.length === 0) return redriveLetters(app, opened, target, { filter, concurrency });
    let code: number = EXIT.done;
    for (const given of ids) {
      if (app.signal.aborted) break;
      const { id } = await findLetter(opened.deadLetters, given);
      code ||= await redriveLetters(app, opened, target, { id, concurrency });
    }
    return code;
  });
}

async function redriveLetters(
  app: App,
  { store, deadLetters }: OpenedStore,
  target: Target,
  selection: { id?: string; filter?: ReturnType<typeof filterOf>; concurrency: number },
): Promise<number> {
  const { io, output, signal } = app;
  const bar = progressBar(io, output.messageColors, String);
  let printing = Promise.resolve();
  const onProgress = (progress: RedriveProgress) => {
    const { id, result, outcome, handled, queued, failed, skipped, total } = progress;
    const record = { type: 'letter', id, result, outcome };
    bar.clear();
    if (output.json) printing = printing.then(() => output.print(record));
    else tellLetter(app, progress);
    bar.update(handled + queued + failed + skipped, total);
  };
  const receiver = httpReceiver(store, target);
  const leaseFor = target.timeout + 30_000;
  try {
    const settings = { receiver, deadLetters, leaseFor, onProgress, signal, ...selection };
    const result = await redrive(settings);
    await printing;
    bar.clear();
    await printResult(app, result);
    return result.failed > 0 ? EXIT.receiverFailed : EXIT.done;
  } finally {
    bar.clear();
  }
}

/** A letter that was not handled, for people. */
function tellLetter({ output }: App, { id, result, outcome, letter }: RedriveProgress): void {
  if (result === 'handled') return;
  const isOfQueue = letter?.source === 'queue';
  const why = isOfQueue ? 'it is a dead job of a queue' : (outcome ?? 'another redrive has it');
  output.message(t`${shortId(id)}  ${result}  ${why}`);
}

const printResult = ({ output }: App, result: RedriveResult): Promise<void> =>
  output.print({ type: 'result', ...result }, ({ bold }) => {
    const { handled, queued, failed, skipped } = result;
    const more = queued > 0 ? t`, ${queued} queued` : t``;
    return t`${bold(handled)} handled${more}, ${failed} failed, ${skipped} skipped`;
  });
