import { hostname, userInfo } from 'node:os';
import {
  erase,
  type EraseMatch,
  type EraseOptions,
  type EraseProgress,
  type EraseResult,
} from '@call-webhooks/recovery';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { searchedValues } from '../input/values.ts';
import { time } from '../input/time.ts';
import type { OpenedStore } from '../store/engine.ts';
import { openJobs } from '../store/queue-jobs.ts';
import {
  STORE_VARIABLE,
  type StoreOptions,
  withStore,
  withStoreOptions,
} from '../store/open-store.ts';
import { checkTenant, TENANT_FLAG } from '../store/tenants.ts';
import { counted, dateTime } from '../terminal/format.ts';
import { askYesNo, showProgress } from '../terminal/prompts.ts';
import { t } from '../terminal/text.ts';

interface Options extends StoreOptions {
  readonly call?: readonly string[];
  readonly tenant?: string;
  readonly before?: Date;
  readonly contains?: string;
  readonly queue?: string;
  readonly queuePrefix?: string;
  readonly loseWaiting: boolean;
  readonly forgetKeys: boolean;
  readonly dryRun: boolean;
  readonly by?: string;
  readonly yes: boolean;
}

/** What no erasure reaches, by the beginning of the URL of the store. */
const REMAINS: Readonly<Record<string, readonly string[]>> = {
  redis: [
    'The append-only file contains the erased data until it is rewritten: run BGREWRITEAOF.',
    'An RDB snapshot contains the erased data until the next snapshot: run BGSAVE.',
    'Replicas are updated within seconds. Backups contain the erased data until they are deleted.',
  ],
  postgres: [
    'The files of the tables contain the erased data until VACUUM has run and the space is reused: run VACUUM FULL on the tables to be sure.',
    'The write-ahead log and its archive contain the erased data until they are recycled or deleted.',
    'Replicas are updated within seconds. Backups contain the erased data until they are deleted.',
  ],
  mysql: [
    'Free pages of the tables contain the erased data until they are overwritten: run OPTIMIZE TABLE.',
    'The binary log contains the erased data until it is purged. Backups contain it until they are deleted.',
  ],
  sqlite: [
    'Free pages of the file and its write-ahead log contain the erased data until they are overwritten: run PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE);',
    'Copies and backups of the file contain the erased data until they are deleted.',
  ],
};

/** `erase`: what is stored about a person, a call, a tenant or a time. */
export function eraseCommand(app: App, base: Command): Command {
  return withStoreOptions(base)
    .option(
      '--contains <file>',
      'only events whose body contains a value of this file (one per line; - is standard input)',
    )
    .option('--call <id...>', 'only events of these calls')
    .option('--tenant <name>', 'only events of this tenant')
    .option(
      '--before <time>',
      'only events older than this: 30d (ago), 2026-01-31T12:00Z (UTC without a zone)',
      time,
    )
    .option(
      '--queue <name>',
      'also erase jobs of this BullMQ or pg-boss queue, on the server of the store',
    )
    .option('--queue-prefix <name>', 'the prefix of BullMQ, or the schema of pg-boss')
    .option(
      '--lose-waiting',
      'also erase waiting jobs: acknowledged events that no handler will ever see',
      false,
    )
    .option(
      '--forget-keys',
      'also forget the keys that identify duplicates: the events may then run again',
      false,
    )
    .option('--dry-run', 'erase nothing, and list what would be erased', false)
    .option('--by <name>', 'who erases the data, for the log line (default: your account)')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .addHelpText(
      'after',
      `
Erases dead letters, dead and finished jobs, and rows of the outcome log. An
event is erased if it matches all the options that you pass. The values of
--contains are phone numbers, e-mail addresses or names. A phone number matches
if its digits are the same, or at least the last nine. These values are never
shown or logged. Running jobs are left alone. Waiting jobs are left alone unless
you pass --lose-waiting. You can interrupt the command and run it again.

Exit code 1 if something was left alone: run the command again later.`,
    )
    .addHelpText(
      'afterAll',
      examples(
        [
          'erase --contains ada.txt --store sqlite:calls.db --dry-run',
          'See what is stored about a person',
        ],
        ['erase --contains - --yes < ada.txt', 'Erase what is stored about a person'],
        [
          'erase --contains ada.txt --queue calls --lose-waiting',
          'Also erase from a queue what has not been handled yet',
        ],
        ['erase --call c1 c2 --forget-keys', 'Erase all events of two calls'],
        ['erase --tenant acme', 'Erase all events of a tenant'],
        ['erase --before 90d --yes', 'Erase everything older than 90 days'],
      ),
    )
    .action(app.action((options: Options) => run(app, options)));
}

async function run(app: App, options: Options): Promise<number> {
  const { call, tenant, before, contains, dryRun, yes } = options;
  if (contains === undefined && !call && tenant === undefined && !before)
    throw badInput(
      'The command does not say whose data to erase.',
      'Pass --contains FILE, --call, --tenant or --before.',
    );
  if (!dryRun && !yes && !app.interactive)
    throw badInput(
      'The erasure is not confirmed, and it cannot be undone.',
      'Look with --dry-run first, then pass --yes.',
    );
  const values = contains === undefined ? undefined : await searchedValues(app.io, contains);
  const url = options.store ?? app.io.env[STORE_VARIABLE] ?? '';
  return withStore(app, options, async (opened) => {
    const { store, deadLetters, jobs } = opened;
    const doubt = await doubtAboutTenant(opened, options);
    if (doubt !== undefined) app.output.warn(doubt);
    const queue = jobs ? undefined : await openJobs({ ...options, url });
    try {
      const what: EraseOptions = {
        ...{ callIds: call, tenant, before, contains: values, store, deadLetters },
        ...{ jobs: jobs ?? queue?.jobs, signal: app.signal, by: options.by ?? account() },
        ...{ loseWaiting: options.loseWaiting, forgetKeys: options.forgetKeys },
      };
      if (dryRun) return await show(app, what, url);
      if (!yes && !(await isConfirmed(app, what))) return EXIT.done;
      return await eraseNow(app, what, url);
    } finally {
      await queue?.close();
    }
  });
}

/**
 * What is known about a call is kept under a key that contains the name of its tenant. Without the name,
 * these keys would stay, and the command would not say so.
 * @throws CliError 2 for the keys of a call, if the receiver has tenants and none is named
 */
async function doubtAboutTenant(
  opened: OpenedStore,
  { tenant, call, forgetKeys }: Options,
): Promise<string | undefined> {
  if (tenant === undefined && !(call && forgetKeys)) return undefined;
  return checkTenant(opened, tenant, {
    ...TENANT_FLAG,
    ifWrong: 'If the name is wrong, nothing is found.',
  });
}

function account(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname(); // a user without a name, as in some containers
  }
}

const silent = { warn: () => undefined, error: () => undefined };

async function isConfirmed(app: App, what: EraseOptions): Promise<boolean> {
  const { deadLetters, deadJobs, doneJobs, waitingJobs, outcomes } = await lookedAt(app, what);
  if (deadLetters + deadJobs + doneJobs + waitingJobs + outcomes === 0) {
    app.output.message('Nothing was found.');
    return false;
  }
  const lost =
    waitingJobs > 0
      ? ` This loses ${counted(waitingJobs, 'event')} that the receiver has acknowledged, before a handler has seen ${waitingJobs === 1 ? 'it' : 'them'}.`
      : '';
  const question = `Erase ${counts({ deadLetters, deadJobs, doneJobs, waitingJobs, outcomes })} for good?${lost}`;
  return askYesNo(app, question);
}

/** Looks without erasing. */
async function lookedAt(
  app: App,
  what: EraseOptions,
  onMatch?: (match: EraseMatch) => void,
): Promise<EraseResult> {
  const bar = showProgress(app.io);
  const onProgress = ({ checked, match }: EraseProgress) => {
    bar.update(checked);
    if (match) onMatch?.(match);
  };
  try {
    return await erase({ ...what, dryRun: true, logger: silent, onProgress });
  } finally {
    bar.clear();
  }
}

async function show(app: App, what: EraseOptions, url: string): Promise<number> {
  const { output } = app;
  const matches: EraseMatch[] = [];
  const result = await lookedAt(app, what, (match) => matches.push(match));
  if (output.json) for (const match of matches) await output.print({ type: 'match', ...match });
  else if (matches.length > 0)
    await output.printTable(
      matches,
      ['where', 'state', 'since', 'id', 'event', 'call', 'would be'].map((title) => ({ title })),
      () =>
        matches.map(({ where, state, at, id, eventName = '', callId = '', result: becomes }) => [
          ...[where, state, dateTime(at), id, eventName, callId, becomes],
        ]),
    );
  await output.print(
    { type: 'result', dryRun: true, ...result, remains: remainsOf(url) },
    () => t`Would erase ${counts(result)}.`,
  );
  tellLeft(app, result);
  return EXIT.done;
}

async function eraseNow(app: App, what: EraseOptions, url: string): Promise<number> {
  const { output, io } = app;
  const bar = showProgress(io);
  let line = '';
  const logger = { ...silent, info: (_fields: object, message: string) => (line = message) };
  const onProgress = ({ checked }: EraseProgress) => bar.update(checked);
  let result: EraseResult;
  try {
    result = await erase({ ...what, logger, onProgress });
  } finally {
    bar.clear();
    output.message(line);
  }
  await output.print(
    { type: 'result', ...result, by: what.by, remains: remainsOf(url) },
    () => t`Erased ${counts(result)}.`,
  );
  tellLeft(app, result);
  for (const remains of remainsOf(url)) output.message(remains);
  return result.running + result.leftWaiting > 0 ? EXIT.attention : EXIT.done;
}

const remainsOf = (url: string): readonly string[] =>
  Object.entries(REMAINS).find(([scheme]) =>
    url.replace(/^mariadb/, 'mysql').startsWith(scheme),
  )?.[1] ?? [];

function tellLeft({ output }: App, { running, leftWaiting }: EraseResult): void {
  if (running > 0)
    output.warn(
      `Left alone: ${counted(running, 'event')} being handled. Run the command again when ${running === 1 ? 'this handler has' : 'these handlers have'} finished.`,
    );
  if (leftWaiting > 0)
    output.warn(
      `Left alone: ${counted(leftWaiting, 'waiting job')}, which a handler will still see. Run the command again afterwards, or pass --lose-waiting to erase waiting jobs as well.`,
    );
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ deadLetters: 'dead letter', deadJobs: 'dead job', doneJobs: 'finished job' },
  ...{ waitingJobs: 'waiting job', outcomes: 'outcome', keys: 'key' },
};

function counts(result: Partial<EraseResult>): string {
  const found = Object.entries(result).filter(([name, count]) => name in NAMES && count > 0);
  const texts = found.map(([name, count]) => counted(count, NAMES[name] ?? name));
  return texts.length > 0 ? texts.join(', ') : 'nothing';
}
