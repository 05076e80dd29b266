import { counterParts, type ListedDeadLetter } from '@call-webhooks/core/stores';
import { badInput, type CliError } from '../errors.ts';
import { counted } from '../terminal/format.ts';
import type { OpenedStore } from './engine.ts';

type Looked = Pick<OpenedStore, 'store' | 'deadLetters'>;

/** So many dead letters are looked at. */
const LOOKED_AT = 1_000;
/** The tenants that the log does not name, since there are too many. */
const OTHERS = '*';

/**
 * The tenants of a receiver, as far as its store has heard of them: from deliveries of the last 30 days that
 * were verified, and from dead letters. There are none if the receiver has no tenants.
 */
export async function tenantsOf({ store, deadLetters }: Looked): Promise<string[]> {
  const { letters } = await deadLetters.list({ limit: LOOKED_AT });
  const { marks } = (await store.log?.marks()) ?? { marks: {} };
  // `ack/<tenant>/<event>/<secret>`. Anybody can name a tenant in the URL, but marks are of verified deliveries.
  const marked = Object.keys(marks).map((name) => counterParts(name)[1] ?? '');
  const names = new Set([...letters.map(({ tenant }) => tenant ?? ''), ...marked]);
  names.delete('');
  return [...names].sort();
}

/** How a surface names tenants, and how one is passed to it. */
export interface TenantWords {
  readonly shown: (tenant: string) => string;
  readonly fix: string;
  /** What a wrong name leads to. */
  readonly ifWrong: string;
}

export const TENANT_FLAG: TenantWords = {
  shown: (tenant) => tenant,
  fix: 'Pass --tenant NAME, and run the command once for each tenant.',
  ifWrong: 'If the name is wrong, every event will look missed.',
};

/**
 * Refuses to look up events by their keys without a tenant, if the receiver has tenants: the name of the
 * tenant is part of a key, so the store would know none of them.
 * @returns what makes the result doubtful, if anything does
 * @throws CliError 2 that names the tenants
 */
export async function checkTenant(
  opened: Looked,
  tenant: string | undefined,
  { shown, fix, ifWrong }: TenantWords = TENANT_FLAG,
): Promise<string | undefined> {
  const known = await tenantsOf(opened);
  if (tenant === undefined && known.length > 0)
    throw badInput(`This receiver has tenants: ${listed(known.map(shown))}.`, fix);
  if (tenant === undefined || known.includes(tenant) || known.includes(OTHERS)) return undefined;
  const others = known.length > 0 ? `, only for ${listed(known.map(shown))}` : '';
  return `The store has no deliveries for tenant ${shown(tenant)}${others}. ${ifWrong}`;
}

type OwnerWords = Pick<TenantWords, 'shown' | 'fix'>;

const REDRIVE_FLAG: OwnerWords = {
  shown: (tenant) => tenant,
  fix: 'Redrive one tenant at a time: --tenant NAME, with the --to and the secret of this tenant.',
};

const NAMED = 10;

/** The first names, and how many there are besides. */
function listed(given: readonly string[]): string {
  const names = given.filter((name) => name !== OTHERS);
  const more = names.length - NAMED;
  const rest =
    names.length < given.length ? ' and others' : more > 0 ? ` and ${String(more)} more` : '';
  return names.slice(0, NAMED).join(', ') + rest;
}

/**
 * The error about dead letters that belong to others than `tenant`, or `undefined` if there are none. They
 * are signed with the secret of one tenant, and sent to its URL.
 */
export function otherTenants(
  letters: readonly ListedDeadLetter[],
  tenant: string | undefined,
  { shown, fix }: OwnerWords = REDRIVE_FLAG,
): CliError | undefined {
  const counts = new Map<string | undefined, number>();
  for (const { tenant: owner } of letters) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const own = counts.get(tenant) ?? 0;
  counts.delete(tenant);
  const others = letters.length - own;
  if (others === 0) return undefined;
  const owners = [...counts].sort(([, one], [, other]) => other - one);
  const named = owners.map(
    ([owner, count]) => `${owner === undefined ? 'no tenant' : shown(owner)} (${String(count)})`,
  );
  const isOne = others === 1;
  const whose =
    tenant === undefined
      ? `${isOne ? 'belongs' : 'belong'} to tenants`
      : `${isOne ? 'does' : 'do'} not belong to tenant ${shown(tenant)}`;
  return badInput(
    `${String(others)} of ${counted(letters.length, 'dead letter')} ${whose}: ${listed(named)}. Nothing was sent.`,
    fix,
  );
}
