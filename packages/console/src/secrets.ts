import { counterParts } from '@call-webhooks/core/stores';
import type { SecretState, SecretUse } from './api-types.ts';

const MINUTE = 60_000;
/** No signature verifies for longer after a rotation: 5 minutes of tolerance either way. Milliseconds. */
const ROTATION_MS = 10 * MINUTE;
/** Several secrets with one id are listed as `calls-a81f28ca`. */
const WITH_FINGERPRINT = /^(.+)-[0-9a-f]{8}$/;

/** What the log knows about secrets. */
export interface SecretEvidence {
  /** Counters by minute. */
  readonly minutes: ReadonlyMap<number, Readonly<Record<string, number>>>;
  /** When the last verified delivery of each event and secret arrived; `ack/<tenant>/<event>/<secret>`. */
  readonly marks: Readonly<Record<string, number>>;
  /** The ids that the receiver is configured with; `undefined` if its secrets come from a function. */
  readonly configured: readonly string[] | undefined;
  readonly now: number;
}

/** The secrets and what each verified. Those that the receiver is configured with come first, in their order. */
export function secretsOf({ minutes, marks, configured, now }: SecretEvidence): SecretUse[] {
  const uses = new Map<string, Known>();
  const use = (id: string) => {
    const isConfigured = configured ? configured.includes(id) : null;
    const known = uses.get(id) ?? { id, isConfigured, verified: 0, lastHour: 0, lastAt: null };
    uses.set(id, known);
    return known;
  };
  for (const id of configured ?? []) use(id);
  const events = lastOfEvents(marks);
  for (const [minute, counts] of minutes)
    for (const [name, count] of Object.entries(counts)) {
      const [kind, id] = counterParts(name);
      if (kind !== 'secret' || id === undefined) continue;
      const known = use(id);
      known.verified += count;
      if ((minute + 1) * MINUTE > now - 60 * MINUTE) known.lastHour += count;
      known.lastAt = Math.max(known.lastAt ?? 0, minute * MINUTE);
    }
  // Marks are exact, and last for 30 days; but a log has only so many of them.
  for (const verified of events.values())
    for (const [id, at] of verified)
      if (uses.has(id) || at > now - 24 * 60 * MINUTE) {
        const known = use(id);
        known.lastAt = Math.max(known.lastAt ?? 0, at);
      }
  const all = [...uses.values()];
  const tenants = tenantsOf(marks);
  return all.map((one) => ({
    ...{ ...one, ...stateOf(one, all, events, now) },
    tenants: [...(tenants.get(one.id) ?? [])].sort(),
  }));
}

type Known = Omit<SecretUse, 'state' | 'others' | 'tenants'>;
/** When each secret last verified a delivery, by event and tenant. */
type LastOfEvents = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What each secret verified, and when it did so last. */
const verifiedIn = (marks: SecretEvidence['marks']) =>
  Object.entries(marks).flatMap(([name, at]) => {
    const [result, tenant = '', eventName = '', id = ''] = counterParts(name);
    return (result === 'ack' || result === 'failed') && id !== ''
      ? [{ tenant, eventName, id, at }]
      : [];
  });

/** Whose deliveries each secret verified. */
function tenantsOf(marks: SecretEvidence['marks']): ReadonlyMap<string, ReadonlySet<string>> {
  const tenants = new Map<string, Set<string>>();
  for (const { tenant, id } of verifiedIn(marks))
    if (tenant !== '') tenants.set(id, (tenants.get(id) ?? new Set<string>()).add(tenant));
  return tenants;
}

function lastOfEvents(marks: SecretEvidence['marks']): LastOfEvents {
  const events = new Map<string, Map<string, number>>();
  for (const { tenant, eventName, id, at } of verifiedIn(marks)) {
    const event = JSON.stringify([tenant, eventName]);
    const verified = events.get(event) ?? new Map<string, number>();
    events.set(event, verified.set(id, Math.max(verified.get(id) ?? 0, at)));
  }
  return events;
}

function stateOf(
  secret: Known,
  all: readonly Known[],
  events: LastOfEvents,
  now: number,
): { state: SecretState; others: string[] } {
  const { id, isConfigured, lastAt, lastHour } = secret;
  const named = (wanted: (other: string) => boolean, configured: boolean) =>
    all.filter((one) => one.isConfigured === configured && wanted(one.id)).map((one) => one.id);
  const base = WITH_FINGERPRINT.exec(id)?.[1];
  if (isConfigured === false) {
    const others = named((other) => other === base || baseOf(other) === id, true);
    return { state: others.length > 0 ? 'renamed' : 'not-configured', others };
  }
  if (lastAt === null) {
    const others = named((other) => other === base || baseOf(other) === id, false);
    return { state: others.length > 0 ? 'new-id' : 'unused', others };
  }
  const others = laterOf(id, events);
  if (others.length > 0)
    return { state: now - lastAt >= ROTATION_MS ? 'replaced' : 'being-replaced', others };
  return { state: lastHour > 0 || now - lastAt < 60 * MINUTE ? 'in-use' : 'quiet', others };
}

const baseOf = (id: string): string | undefined => WITH_FINGERPRINT.exec(id)?.[1];

/** The secrets that verified the last delivery of each event of this one, if that was never this one. */
function laterOf(id: string, events: LastOfEvents): string[] {
  const later = new Set<string>();
  for (const verified of events.values()) {
    const own = verified.get(id);
    if (own === undefined) continue;
    const [last] = [...verified].sort(([, one], [, other]) => other - one);
    if (last === undefined || last[1] <= own) return [];
    later.add(last[0]);
  }
  return [...later];
}
