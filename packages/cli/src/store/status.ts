import { status, type Status, statusLine } from '@call-webhooks/recovery';
import { statusOfTenant } from '@call-webhooks/recovery/internal';
import { CliError } from '../errors.ts';
import type { OpenedStore } from './engine.ts';
import type { StoreOptions } from './open-store.ts';

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
  { store, deadLetters, inspect }: OpenedStore,
  { tenant, expect }: StatusQuery,
): Promise<ToldStatus> {
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
  // Without letters here, those of the receiver may be elsewhere: then the log tells of them.
  const letters = await deadLetters.count().catch(() => 0);
  const whole = await status({
    store: { ...store, ping },
    deadLetters: letters > 0 ? deadLetters : undefined,
    ...{ expect, timeZone: 'UTC' },
  });
  // A module of the user that is wrong says nothing about its server.
  if (mistake) throw mistake;
  const own = statusOfTenant(whole, tenant);
  return { ...own, line: statusLine(own) };
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
