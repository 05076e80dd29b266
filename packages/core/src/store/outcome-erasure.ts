import { redactId, redactName } from '../report/redact.ts';
import type { OutcomeErasure, OutcomeRow } from './outcome-log.ts';

/** The rows of one kind of one batch, as a store keeps them. */
export interface StoredRows {
  /** A JSON array of `OutcomeRow`. */
  readonly rows: string;
  /** By how many milliseconds the clock of the process that wrote them was ahead of the store's clock. */
  readonly ahead: number;
}

/**
 * A function that erases rows of what a store has kept.
 * @returns a function that gives the rows that stay, and how many do not; `undefined` if nothing is to be erased
 */
export function eraser(
  which: OutcomeErasure,
): ((kept: StoredRows) => { rows: string; erased: number }) | undefined {
  const isErased = matcher(which);
  if (!isErased) return undefined;
  return ({ rows, ahead }) => {
    const found = JSON.parse(rows) as OutcomeRow[];
    const stays = found.filter((row) => !isErased(row, row.at - ahead));
    const erased = found.length - stays.length;
    return { rows: erased === 0 ? rows : JSON.stringify(stays), erased };
  };
}

/** Rows have ids and tenants as log lines have them. */
function matcher({ callIds, keys, tenant, before }: OutcomeErasure) {
  if ([callIds, keys, tenant, before].every((one) => one === undefined)) return undefined;
  const isAny = callIds === undefined && keys === undefined;
  const calls = new Set(callIds?.map(redactId));
  const events = new Set(keys?.map(redactId));
  const tenants = tenant === undefined ? undefined : [tenant, redactName(tenant)];
  return (row: OutcomeRow, at: number): boolean => {
    if (before !== undefined && at >= before) return false;
    if (tenants && (row.tenant === undefined || !tenants.includes(row.tenant))) return false;
    return isAny || calls.has(row.callId ?? '') || events.has(row.key ?? '');
  };
}
