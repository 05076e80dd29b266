import { hostname, userInfo } from 'node:os';
import {
  erase,
  type EraseMatch,
  type EraseOptions,
  type EraseProgress,
  type EraseResult,
} from '@call-webhooks/recovery';
import { isShortNumber } from '@call-webhooks/recovery/internal';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { type SearchedValue, searchedValues, SHORT_NUMBER } from '../input/values.ts';
import { time } from '../input/time.ts';
import type { OpenedStore } from '../store/engine.ts';
import { openJobs, queuesText } from '../store/queue-jobs.ts';
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
  readonly allTenants: boolean;
  readonly before?: Date;
  readonly contains?: string;
  /** `false` with `--no-queue`: no queue of this server is the receiver's. */
  readonly queue?: string | false;
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
    'If the server writes RDB snapshots (CONFIG GET save is not empty), the last one contains the erased data until the next: run BGSAVE.',
    'Replicas are updated within seconds. Backups contain the erased data until they are deleted.',
  ],
  postgres: [
    'The files of the tables contain the erased data until VACUUM has run and the space is reused: run VACUUM FULL on dead_letters, log_rows and, of pg-boss, job.',
    'The write-ahead log and its archive contain the erased data until they are recycled or deleted.',
    'Replicas are updated within seconds. Backups contain the erased data until they are deleted.',
  ],
  mysql: [
    'Free pages of the tables contain the erased data until they are overwritten: run OPTIMIZE TABLE on dead_letters and log_rows.',
    'The binary log contains the erased data until it is purged. Backups contain it until they are deleted.',
  ],
  sqlite: [
    'Free pages of the file and its write-ahead log contain the erased data: run PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE);',
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
    .option('--tenant <name>', 'only events of this tenant; needed if the receiver has tenants')
    .option('--all-tenants', 'erase events of all tenants', false)
    .option(
      '--before <time>',
      'only events older than this: 30d (ago), 2026-01-31T12:00Z (UTC without a zone)',
      time,
    )
    .option(
      '--queue <name>',
      'also erase jobs of this BullMQ or pg-boss queue, on the server of the store',
    )
    .option('--no-queue', "none of the server's queues belongs to the receiver")
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
    .option(
      '--by <name>',
      'the person who erases the data, for the log line (default: your account)',
    )
    .option('-y, --yes', 'do not ask for confirmation', false)
    .addHelpText(
      'after',
      `
Erases dead letters, dead and finished jobs, and rows of the outcome log. An
event is erased if it matches all the options that you pass. The values of
--contains are phone numbers of at least five digits, email addresses or names.
Numbers of nine or more digits are also found without their country code, and
with or without the leading zero of national numbers: +49 (0)171, 0171. These
values are never shown or logged: the output shows their line numbers. Running
jobs are skipped, and so are waiting jobs unless you pass --lose-waiting. You
can interrupt the command and run it again.

Exit code 1 if jobs were skipped, or if a queue on the server was not searched:
run the command again later, or with --queue. A dry run exits with 0.`,
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
          'Also erase waiting jobs from a queue',
        ],
        ['erase --call c1 c2 --forget-keys', 'Erase all events of two calls'],
        ['erase --tenant acme', 'Erase all events of a tenant'],
        ['erase --before 90d --yes', 'Erase everything older than 90 days'],
      ),
    )
    .action(app.action((options: Options) => run(app, options)));
}

/** What the output tells besides the counts. */
interface Told {
  readonly url: string;
  readonly values: readonly SearchedValue[] | undefined;
  readonly warnings: string[];
  /** Whether the server has queues, and none was named. */
  readonly isUnsearched: boolean;
}

async function run(app: App, options: Options): Promise<number> {
  const { call, tenant, allTenants, before, contains, dryRun, yes } = options;
  if (contains === undefined && !call && tenant === undefined && !before)
    throw badInput(
      'The command does not say whose data to erase.',
      'Pass --contains FILE, --call, --tenant or --before.',
    );
  if (tenant !== undefined && allTenants)
    throw badInput('--tenant and --all-tenants cannot be combined.', 'Pass one of them.');
  // A file that is missing is told first: nobody has to confirm a search that cannot run.
  const values = contains === undefined ? undefined : await searchedValues(app.io, contains);
  if (!dryRun && !yes && !app.interactive)
    throw badInput(
      'The erasure is not confirmed, and it cannot be undone.',
      'Look with --dry-run first, then pass --yes.',
    );
  const url = options.store ?? app.io.env[STORE_VARIABLE] ?? '';
  return withStore(app, options, async (opened) => {
    const { store, deadLetters, jobs } = opened;
    const warnings: string[] = [];
    const warn = (warning: string | undefined) => {
      if (warning === undefined) return;
      warnings.push(warning);
      app.output.warn(warning);
    };
    warn(await doubtAboutTenant(opened, options));
    warn(await opened.doubt?.());
    const named = options.queue === false ? undefined : options.queue;
    const unsearched = options.queue === undefined && !jobs ? await opened.queues?.() : undefined;
    const isUnsearched = unsearched !== undefined && unsearched.length > 0;
    if (isUnsearched)
      warn(
        `This server has queues whose jobs were not searched: pass ${queuesText(unsearched)}. If none of them belongs to the receiver, pass --no-queue.`,
      );
    const queue = jobs ? undefined : await openJobs({ ...options, queue: named, url }, opened);
    try {
      const what: EraseOptions = {
        ...{ callIds: call, tenant, before, contains: values?.map(({ text }) => text) },
        ...{ store, deadLetters, jobs: jobs ?? queue?.jobs, signal: app.signal },
        ...{ by: options.by ?? account() },
        ...{ loseWaiting: options.loseWaiting, forgetKeys: options.forgetKeys },
      };
      const told = { url, values, warnings, isUnsearched };
      if (dryRun) return await show(app, what, told);
      if (!yes && !(await isConfirmed(app, what, told)))
        return isUnsearched ? EXIT.attention : EXIT.done;
      return await eraseNow(app, what, told);
    } finally {
      await queue?.close();
    }
  });
}

/**
 * The data of one tenant belong to one company, so a receiver with tenants needs to be told whose they are. What is
 * known about a call is also kept under a key that contains the name of its tenant.
 * @throws CliError 2 that names the tenants, if the receiver has some and none is named
 */
async function doubtAboutTenant(
  opened: OpenedStore,
  { tenant, allTenants, call, forgetKeys }: Options,
): Promise<string | undefined> {
  const needsName = call !== undefined && forgetKeys;
  if (allTenants && !needsName) return undefined;
  return checkTenant(opened, tenant, {
    ...TENANT_FLAG,
    fix: needsName
      ? TENANT_FLAG.fix
      : 'Pass --tenant NAME, or --all-tenants to erase from all of them.',
    ifWrong: 'If the name is wrong, nothing will be found.',
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

async function isConfirmed(app: App, what: EraseOptions, told: Told): Promise<boolean> {
  const matches: EraseMatch[] = [];
  const looked = await lookedAt(app, what, (match) => matches.push(match));
  const { deadLetters, deadJobs, doneJobs, waitingJobs, outcomes } = looked;
  const isNothing = deadLetters + deadJobs + doneJobs + waitingJobs + outcomes === 0;
  // Keys are not counted in advance.
  if (isNothing && what.forgetKeys !== true) {
    tellNotFound(app, matches, told);
    tellLeft(app, looked, told);
    app.output.message('Nothing was found that can be erased.');
    return false;
  }
  const lost =
    waitingJobs > 0
      ? ` ${counted(waitingJobs, 'event')} that the receiver has acknowledged will be lost before a handler has seen ${waitingJobs === 1 ? 'it' : 'them'}.`
      : '';
  const found = counts({ deadLetters, deadJobs, doneJobs, waitingJobs, outcomes });
  const keys = what.forgetKeys === true ? ' Their keys will be forgotten.' : '';
  const isSure = await askYesNo(app, `Permanently erase ${found}?${keys}${lost}`);
  if (!isSure) app.output.message('Nothing was erased.');
  return isSure;
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

/** Of the list of matches. */
type Column = [title: string, text: (match: EraseMatch) => string];

async function show(app: App, what: EraseOptions, told: Told): Promise<number> {
  const { output } = app;
  const matches: EraseMatch[] = [];
  const result = await lookedAt(app, what, (match) => matches.push(match));
  const linesOf = ({ values: places }: EraseMatch) =>
    places?.flatMap((place) => told.values?.[place]?.line ?? []);
  if (output.json)
    for (const match of matches) {
      const { values: _places, ...shown } = match;
      const lines = linesOf(match);
      await output.print({ type: 'match', ...shown, ...(lines && { lines }) });
    }
  else if (matches.length > 0) {
    const hasTenants = matches.some(({ tenant }) => tenant !== undefined);
    const columns: Column[] = [
      ['where', ({ where }) => where],
      ['state', ({ state }) => state],
      ['would be', ({ result: becomes }) => becomes],
      ...(hasTenants ? [['tenant', ({ tenant = '' }) => tenant] satisfies Column] : []),
      ...(told.values
        ? [['line', (match) => linesOf(match)?.join(' ') ?? ''] satisfies Column]
        : []),
      ['since', ({ at }) => dateTime(at)],
      ['event', ({ eventName = '' }) => eventName],
      ['call', ({ callId = '' }) => callId],
      ['id', ({ id }) => id],
    ];
    await output.printTable(
      matches,
      columns.map(([title]) => ({ title })),
      () => matches.map((match) => columns.map(([, text]) => text(match))),
    );
  }
  tellNotFound(app, matches, told);
  tellLeft(app, result, told);
  await output.print(
    {
      ...{ type: 'result', dryRun: true, ...result, warnings: told.warnings },
      remains: remainsOf(told.url),
    },
    () => t`Would erase ${counts(result)}.`,
  );
  return EXIT.done;
}

async function eraseNow(app: App, what: EraseOptions, told: Told): Promise<number> {
  const { output, io } = app;
  const bar = showProgress(io);
  let line = '';
  const logger = { ...silent, info: (_fields: object, message: string) => (line = message) };
  const matches: EraseMatch[] = [];
  const onProgress = ({ checked, match }: EraseProgress) => {
    bar.update(checked);
    if (match) matches.push(match);
  };
  let result: EraseResult;
  try {
    result = await erase({ ...what, logger, onProgress });
  } finally {
    bar.clear();
    output.message(line);
  }
  tellNotFound(app, matches, told);
  tellLeft(app, result, told);
  const remains = remainsOf(told.url);
  await output.print(
    { type: 'result', ...result, by: what.by, warnings: told.warnings, remains },
    () => t`Erased ${counts(result)}.`,
  );
  for (const line of remains) output.message(line);
  const isLeft = result.running + result.leftWaiting > 0 || told.isUnsearched;
  return isLeft ? EXIT.attention : EXIT.done;
}

/** What is left of erased data in this store; nothing is known of a store of the user's own. */
export const remainsOf = (url: string): readonly string[] =>
  Object.entries(REMAINS).find(([scheme]) =>
    url.replace(/^mariadb/, 'mysql').startsWith(scheme),
  )?.[1] ?? [];

function tell({ output }: App, { warnings }: Told, warning: string): void {
  warnings.push(warning);
  output.warn(warning);
}

/** Says which values were found nowhere: each may be misspelt, or be written in another way in the bodies. */
function tellNotFound(app: App, matches: readonly EraseMatch[], told: Told): void {
  const found = new Set(matches.flatMap(({ values = [] }) => values));
  const lines = (told.values ?? []).filter((_value, place) => !found.has(place));
  if (lines.length === 0) return;
  const names = lines.map(({ line }) => String(line)).join(', ');
  const [which, each] =
    lines.length === 1
      ? [`The value in line ${names} was not found.`, 'it is']
      : [`The values in lines ${names} were not found.`, 'each is'];
  tell(
    app,
    told,
    `${which} Check that ${each} spelled as in the events, and is alone on its line.${lines.some(({ text }) => isShortNumber(text)) ? ` ${SHORT_NUMBER}` : ''}`,
  );
}

function tellLeft(app: App, { running, leftWaiting }: EraseResult, told: Told): void {
  if (running > 0)
    tell(
      app,
      told,
      `Skipped: ${counted(running, 'event')} being handled. Run the command again when ${running === 1 ? 'this handler has' : 'these handlers have'} finished.`,
    );
  if (leftWaiting > 0)
    tell(
      app,
      told,
      `Skipped: ${counted(leftWaiting, 'waiting job')}, which ${leftWaiting === 1 ? 'has' : 'have'} not run yet. Run the command again afterwards, or pass --lose-waiting to erase waiting jobs as well.`,
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
