import {
  groupByKey,
  type ClaimEntry,
  type JobRenewalEntry,
  type JournalEntry,
  type RenewalEntry,
  type RunEntry,
  type SettledEntry,
  type SettlingEntry,
} from '../journal.ts';

/** Servers count whole milliseconds, and their clocks may be adjusted. */
const TOLERANCE_MS = 20;

/** The time in which a lease was certainly live. The store's replies tell no more than that. */
interface LiveLease {
  claim: ClaimEntry;
  from: number;
  until: number;
}

type LeaseEntry = ClaimEntry | RenewalEntry | SettlingEntry | SettledEntry;

/**
 * Without what was learned of a token whose transaction was not committed: another one has done the event. The
 * effect is committed with the mark, and names the attempt.
 */
function withoutOthers(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const nameOf = (key: string, attempt: number) => `${String(attempt)} ${key}`;
  const effects = new Set(
    entries.flatMap((entry) => (entry.kind === 'effect' ? [nameOf(entry.key, entry.attempt)] : [])),
  );
  const attempts = new Map<string, string[]>();
  for (const entry of entries)
    if (entry.kind === 'claimed')
      attempts.set(entry.token, [
        ...(attempts.get(entry.token) ?? []),
        nameOf(entry.key, entry.attempt),
      ]);
  return entries.filter(
    (entry) =>
      entry.kind !== 'settled' ||
      !entry.isLearned ||
      attempts.get(entry.token)?.some((name) => effects.has(name)),
  );
}

/**
 * An event never has two live leases, its attempts count up, it is not handed out again when it is
 * done, and a process that lost a lease can neither renew nor settle it.
 */
export function checkLeases(entries: readonly JournalEntry[]): string[] {
  const leaseEntries = withoutOthers(entries).filter(
    (entry): entry is LeaseEntry =>
      entry.kind === 'claimed' ||
      entry.kind === 'renewed' ||
      entry.kind === 'settling' ||
      entry.kind === 'settled',
  );
  return [...groupByKey(leaseEntries)].flatMap(([key, ofEvent]) => checkEvent(key, ofEvent));
}

/** The lease of a queued job is not renewed for a run that another one has followed. */
export function checkJobRenewals(entries: readonly JournalEntry[]): string[] {
  const ofJobs = entries.filter(
    (entry): entry is JobRenewalEntry | RunEntry =>
      (entry.kind === 'job-renewed' && entry.held) || entry.kind === 'begin',
  );
  return [...groupByKey(ofJobs)].flatMap(([key, ofEvent]) =>
    ofEvent.flatMap(({ kind, attempt, at }) => {
      const next =
        kind === 'job-renewed' &&
        ofEvent.find((run) => run.kind === 'begin' && run.attempt > attempt && run.at < at);
      return next
        ? [`${key}: attempt ${attempt} renewed its job although attempt ${next.attempt} had begun`]
        : [];
    }),
  );
}

function checkEvent(key: string, entries: readonly LeaseEntry[]): string[] {
  const violations: string[] = [];
  const claims = entries
    .filter((entry) => entry.kind === 'claimed')
    .sort((a, b) => a.until - b.until);
  const leases = claims.map((claim) => liveLease(claim, claims, entries));
  for (const [index, live] of leases.entries())
    for (const later of leases.slice(index + 1)) {
      if (isRepeated(later.claim, live.claim)) continue;
      const [a, b] = [live.claim.attempt, later.claim.attempt];
      const until = Math.min(live.until, later.until);
      if (Math.max(live.from, later.from) < until - TOLERANCE_MS)
        violations.push(`${key}: attempts ${a} and ${b} had live leases at once`);
      if (later.claim.at > live.claim.until && b <= a)
        violations.push(`${key}: attempt ${b} was handed out after attempt ${a}`);
    }
  const completed = entries.find(
    (entry) => entry.kind === 'settled' && entry.held && entry.how === 'complete',
  );
  for (const { at, attempt } of claims)
    if (completed?.kind === 'settled' && at > completed.until)
      violations.push(`${key}: attempt ${attempt} was handed out after the event was done`);
  for (const entry of entries) {
    if (entry.kind !== 'renewed' && !(entry.kind === 'settled' && entry.held)) continue;
    // Compares with the start of the other claim: replies alone give no order, as a process may be frozen.
    const next = claims.find(
      ({ token, at, until }) =>
        token !== entry.token && until < entry.at && at > grantedAt(entry, claims),
    );
    if (next)
      violations.push(
        `${key}: a lease was ${entry.kind} although attempt ${next.attempt} had taken over`,
      );
  }
  return violations;
}

/** A claim may be made again with its token, which renews its lease. */
const isRepeated = (claim: ClaimEntry, of: ClaimEntry) =>
  claim.token === of.token && claim.attempt === of.attempt;

/**
 * When the lease was granted that an entry is about. A claim that is repeated when its lease and that of
 * its successor have run out gets a new lease, as a new attempt.
 */
function grantedAt(
  { token, until }: RenewalEntry | SettledEntry,
  claims: readonly ClaimEntry[],
): number {
  // Both may be under way at once, and the reply tells no order.
  const granted = claims.filter((claim) => claim.token === token && claim.at <= until);
  const newest = granted.at(-1);
  return granted.find((claim) => newest && isRepeated(claim, newest))?.until ?? Infinity;
}

function liveLease(
  claim: ClaimEntry,
  claims: readonly ClaimEntry[],
  entries: readonly LeaseEntry[],
): LiveLease {
  const ofToken = claims.filter(({ token }) => token === claim.token);
  const first = ofToken.find((other) => isRepeated(other, claim)) ?? claim;
  const next = ofToken.find(({ attempt }) => attempt > claim.attempt);
  let until = claim.at + claim.leaseMs;
  let settlingAt = Infinity;
  for (const entry of entries) {
    const ended = entry.kind === 'settling' ? entry.at : entry.until;
    if (entry.token !== claim.token || entry.at < first.at || ended >= (next?.at ?? Infinity))
      continue;
    if (entry.kind === 'renewed') until = Math.max(until, entry.at + entry.leaseMs);
    if (entry.kind === 'settling') settlingAt = Math.min(settlingAt, entry.at);
  }
  return { claim, from: claim.until, until: Math.min(until, settlingAt) };
}
