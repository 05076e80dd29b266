import type { Claimed, Line, Renewed, Settled, Settling } from '../line.ts';
import { byKey } from './by-key.ts';

/** Clocks of servers count whole milliseconds, and are slewed. */
const TOLERANCE_MS = 20;

/** The time in which a lease was certainly live: the store's answers tell no more. */
interface Live {
  claim: Claimed;
  from: number;
  until: number;
}

type LeaseLine = Claimed | Renewed | Settling | Settled;

/**
 * Two live leases of one event never exist, attempts count up, an event that is done is not given out
 * again, and who lost a lease can neither renew nor settle it.
 */
export function checkLeases(lines: readonly Line[]): string[] {
  const ofLeases = lines.filter(
    (line): line is LeaseLine =>
      line.kind === 'claimed' ||
      line.kind === 'renewed' ||
      line.kind === 'settling' ||
      line.kind === 'settled',
  );
  return [...byKey(ofLeases)].flatMap(([key, ofKey]) => checkKey(key, ofKey));
}

function checkKey(key: string, lines: readonly LeaseLine[]): string[] {
  const violations: string[] = [];
  const claims = lines.filter((line) => line.kind === 'claimed').sort((a, b) => a.until - b.until);
  const lives = claims.map((claim) => liveTime(claim, lines));
  for (const [index, live] of lives.entries())
    for (const later of lives.slice(index + 1)) {
      if (later.claim.token === live.claim.token) continue; // a claim that was repeated
      const [a, b] = [live.claim.attempt, later.claim.attempt];
      const until = Math.min(live.until, later.until);
      if (Math.max(live.from, later.from) < until - TOLERANCE_MS)
        violations.push(`${key}: attempts ${a} and ${b} had live leases at once`);
      if (later.claim.at > live.claim.until && b <= a)
        violations.push(`${key}: attempt ${b} was given out after attempt ${a}`);
    }
  const done = lines.find(
    (line) => line.kind === 'settled' && line.held && line.how === 'complete',
  );
  for (const { at, attempt } of claims)
    if (done?.kind === 'settled' && at > done.until)
      violations.push(`${key}: attempt ${attempt} was given out after the event was done`);
  for (const line of lines) {
    if (line.kind !== 'renewed' && !(line.kind === 'settled' && line.held)) continue;
    // Certainly claimed after ours was granted: replies alone tell no order, a process may be frozen.
    const next = claims.find(
      ({ token, at, until }) =>
        token !== line.token && until < line.at && at > claimOf(line.token, claims),
    );
    if (next)
      violations.push(
        `${key}: a lease was ${line.kind} although attempt ${next.attempt} had taken over`,
      );
  }
  return violations;
}

const claimOf = (token: string, claims: readonly Claimed[]) =>
  claims.find((claim) => claim.token === token)?.until ?? Infinity;

function liveTime(claim: Claimed, lines: readonly LeaseLine[]): Live {
  let until = claim.at + claim.leaseMs;
  let givenUpAt = Infinity;
  for (const line of lines) {
    if (line.token !== claim.token) continue;
    if (line.kind === 'renewed') until = Math.max(until, line.at + line.leaseMs);
    if (line.kind === 'settling') givenUpAt = Math.min(givenUpAt, line.at);
  }
  return { claim, from: claim.until, until: Math.min(until, givenUpAt) };
}
