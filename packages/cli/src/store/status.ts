import { status, type Status, statusLine } from '@call-webhooks/recovery';
import { statusOfTenant } from '@call-webhooks/recovery/internal';
import { CliError } from '../errors.ts';
import type { OpenedStore } from './engine.ts';
import { isWithoutTables, type StoreOptions } from './open-store.ts';
import { checkTenant } from './tenants.ts';

/** Whose status is wanted, and of which events. */
export interface StatusQuery {
  readonly tenant?: string | undefined;
  /** By default, all events that arrived in the last 30 days. */
  readonly expect?: readonly string[] | undefined;
}

/** A status, and the same in one line. */
export interface ToldStatus extends Status {
  readonly line: string;
}

/**
 * What needs attention, by what the store has. Changes nothing.
 * @throws CliError 2 for events that are no names, or for a report of a module that is wrong
 */
export async function statusOf(
  opened: OpenedStore,
  { tenant, expect }: StatusQuery,
): Promise<ToldStatus> {
  const { store, deadLetters, inspect } = opened;
  // The `ping()` of a store writes, and this one may be opened for reading alone.
  let mistake: CliError | undefined;
  const ping = async () => {
    const { problems } = await inspect().catch((error: unknown) => {
      if (error instanceof CliError) mistake = error;
      throw error;
    });
    const bad = problems.find(({ result }) => result === 'bad');
    if (bad) throw new Error(bad.text);
  };
  const whole = await status({
    store: { ...store, ping },
    deadLetters,
    ...{ expect, timeZone: 'UTC' },
  });
  // A module of the user that is wrong says nothing about its server.
  if (mistake) throw mistake;
  // Without its tables, this is not the store of a receiver: no server has failed.
  if (whole.unknown !== undefined && whole.attention.every(({ urgent }) => !urgent))
    await store.log?.marks().catch((error: unknown) => {
      if (isWithoutTables(error)) throw error;
    });
  const own = statusOfTenant(whole, tenant);
  const unknown = own.unknown ?? (await noTrace(opened, own, tenant));
  const found = { ...own, ...(unknown !== undefined && { unknown }) };
  return { ...found, line: statusLine(found) };
}

/** Why nothing can be said of a store, or of a tenant, that the log has never heard of. */
async function noTrace(
  opened: OpenedStore,
  { attention, undecided, events }: Status,
  tenant: string | undefined,
): Promise<string | undefined> {
  const isSeen = (one: { tenant?: string | undefined }) => one.tenant === tenant;
  if (events.some((event) => isSeen(event) && event.arrivedAt !== undefined)) return undefined;
  if ([...attention, ...undecided].some(isSeen)) return undefined;
  if (tenant !== undefined)
    return (await checkTenant(opened, tenant)) && 'The store has no deliveries for this tenant.';
  const { store, deadLetters, doubt, emptiness } = opened;
  const [processes, waiting] = await Promise.all([store.log?.processes(), deadLetters.count()]);
  if ((processes ?? []).length > 0 || waiting > 0 || events.some(({ arrivedAt }) => arrivedAt))
    return undefined;
  return emptiness ?? (await doubt?.());
}

/** The texts of a status, without the signs of Markdown. */
export const plainText = (markdown: string): string => markdown.replaceAll('`', '');

/** A status whose commands have the flags of the store that it was read from. */
export function withFlags(found: ToldStatus, options: StoreOptions): ToldStatus {
  const flags = flagsOf({ store: shownUrl(options.store), prefix: options.prefix });
  const marked = (text: string) =>
    text.replaceAll(/`call-webhooks reconcile [^`]*/g, (command) => command + flags);
  return {
    ...found,
    attention: found.attention.map((one) => ({ ...one, fix: marked(one.fix) })),
    notes: found.notes.map((one) => ({ ...one, text: marked(one.text) })),
  };
}

const flagsOf = (flags: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(flags)
    .flatMap(([name, value]) => (value === undefined ? [] : ` --${name} ${quoted(value)}`))
    .join('');

/** As a shell takes it. */
const quoted = (value: string): string =>
  /^[\w./:@%+=,-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;

/** A URL with a password is not shown. */
const shownUrl = (store: string | undefined): string | undefined =>
  store !== undefined && URL.canParse(store) && new URL(store).password !== '' ? 'URL' : store;
