import type { EventStatus } from '@call-webhooks/recovery';
import { type AttentionGroup, groupedAttention } from '@call-webhooks/recovery/internal';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { environmentError, EXIT } from '../errors.ts';
import { repeatable } from '../input/options.ts';
import { type StoreOptions, withStore, withStoreOptions } from '../store/open-store.ts';
import { plainText, statusOf, type ToldStatus, withFlags } from '../store/status.ts';
import { checkTenant, TENANT_FLAG } from '../store/tenants.ts';
import { dateTime } from '../terminal/format.ts';
import { type Column, paragraph, table } from '../terminal/table.ts';
import { type Colors, type Printable, t, type Text } from '../terminal/text.ts';

interface Options extends StoreOptions {
  readonly tenant?: string;
  readonly expect?: readonly string[];
  readonly urgent?: boolean;
}

/** `status`: what needs attention, before the service pauses a rule. */
export function statusCommand(app: App, base: Command): Command {
  return withStoreOptions(base)
    .option('--tenant <name>', 'show only this tenant')
    .option(
      '--expect <event>',
      'expect this event, even if it has never arrived, and do not report that others have stopped; repeatable (default: every event that has arrived in the last 30 days)',
      repeatable,
    )
    .option('--urgent', 'exit with 1 only if a rule may be paused, or may have been paused')
    .addHelpText(
      'after',
      `
Shows which events keep failing or have stopped arriving, which deliveries could
not be verified, and anything else that needs attention, with what to do about
it. The command reads what all receivers and workers have written to their
store. It changes nothing, and sends no requests to the service.

Exit code 0 if nothing needs attention, 1 if something does, and 3 if the status
is unknown, for example because the store does not respond, or because no
receiver, or no delivery of the tenant, has left a trace in it. Times are in
UTC.
${examples(
  ['status --store sqlite:calls.db', 'Show what needs attention now'],
  [
    'status --urgent >out 2>&1 || mail ops@example.com <out',
    'From cron: send an email only if it is urgent',
  ],
  ["status --json | jq -r '.attention[].kind'", 'Print only the kind of each finding'],
  ['status --tenant acme', 'Show one tenant'],
  [
    'status --expect call:started --expect call:completed',
    'Expect only these events, even if they have never arrived',
  ],
)}`,
    )
    .action(app.action((options: Options) => run(app, options)));
}

const IF_WRONG = 'If the name is wrong, this status is meaningless.';

async function run(app: App, options: Options): Promise<number> {
  const { output } = app;
  const { tenant } = options;
  const [found, doubt, hasLog] = await withStore(
    app,
    options,
    async (opened) =>
      [
        withFlags(await statusOf(opened, options), options),
        tenant === undefined
          ? undefined
          : await checkTenant(opened, tenant, { ...TENANT_FLAG, ifWrong: IF_WRONG }),
        opened.store.log !== undefined,
      ] as const,
    true,
  );
  if (doubt !== undefined) output.warn(doubt);
  await output.print(found, (colors) => linesOf(found, colors, output.columns));
  const isUrgent = found.attention.some(({ urgent }) => urgent);
  if (found.unknown !== undefined && !isUrgent)
    throw environmentError(
      `The status is unknown. ${plainText(found.unknown)}`,
      hasLog
        ? 'To see what is wrong with the store: npx call-webhooks doctor'
        : 'Add a log to the store, as docs/write-a-store.md says under "An outcome log", or use a store that has one.',
    );
  const isCounting = options.urgent ? isUrgent : found.attention.length > 0;
  return isCounting ? EXIT.attention : EXIT.done;
}

const INDENT = 2;

function linesOf(found: ToldStatus, colors: Colors, columns: number): Text[] {
  const { attention, undecided, events, notes, line } = found;
  const tone = attention.some(({ urgent }) => urgent)
    ? colors.red
    : attention.length > 0 || undecided.length > 0 || found.unknown !== undefined
      ? colors.yellow
      : colors.green;
  return [
    ...paragraph(plainText(line), columns).map(tone),
    ...groupedAttention(attention).flatMap((one) => [t``, ...groupLines(one, colors, columns)]),
    ...(events.length > 0 ? [t``, ...eventLines(events, colors, columns)] : []),
    ...(notes.length > 0 ? [t``] : []),
    ...notes.flatMap(({ text }) => paragraph(t`Note: ${plainText(text)}`, columns)),
  ];
}

function groupLines(group: AttentionGroup, colors: Colors, columns: number): Text[] {
  const { kind, urgent, since, items, fix, docs } = group;
  const isOne = items.length === 1;
  const names = items
    .map(({ tenant, eventName }) => [
      ...(eventName === undefined ? [] : [shownEvent(eventName)]),
      ...(tenant === undefined ? [] : [tenant]),
    ])
    .map((parts) => parts.join(isOne ? '  ' : ' of '))
    .filter((name) => name !== '');
  const what = [kind, ...(names.length > 0 ? [names.join(', ')] : [])].join('  ');
  const when = t`since ${dateTime(new Date(since))}`;
  const name = urgent ? colors.red(`${what}  urgent`) : colors.yellow(what);
  return [
    ...paragraph(t`${name}  ${colors.dim(when)}`, columns),
    ...items.flatMap(({ text }) => paragraph(plainText(text), columns, INDENT)),
    ...paragraph(t`${colors.bold('Fix:')} ${plainText(fix)}`, columns, INDENT),
    t`${' '.repeat(INDENT)}${colors.dim(docs)}`,
  ];
}

/** The log has an empty name for payloads of the user's own that name no event. */
const shownEvent = (eventName: string) => (eventName === '' ? 'a custom payload' : eventName);

function eventLines(events: readonly EventStatus[], colors: Colors, columns: number): Text[] {
  const hasTenants = events.some(({ tenant }) => tenant !== undefined);
  const head: Column[] = [
    { title: 'event' },
    ...(hasTenants ? [{ title: 'tenant' }] : []),
    { title: 'state' },
    { title: 'last arrived' },
  ];
  const rows = events.map(({ eventName, tenant = '', state, arrivedAt }): Printable[] => [
    shownEvent(eventName),
    ...(hasTenants ? [tenant] : []),
    state === 'attention' ? colors.yellow(state) : state,
    arrivedAt === undefined ? 'never' : dateTime(new Date(arrivedAt)),
  ]);
  const reasons = events.flatMap(({ eventName, tenant, why }) =>
    why === undefined
      ? []
      : paragraph(
          t`${shownEvent(eventName)}${tenant === undefined ? '' : ` of ${tenant}`}: ${plainText(why)}`,
          columns,
        ),
  );
  return [...table(colors, head, rows, columns), ...reasons];
}
