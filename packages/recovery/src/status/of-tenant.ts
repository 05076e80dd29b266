import type { Status } from './types.ts';

/** What a status says about one tenant. What names no tenant concerns all of them, and stays. */
export function statusOfTenant(status: Status, tenant: string | undefined): Status {
  if (tenant === undefined) return status;
  const isMeant = (one: { tenant?: string | undefined }) =>
    one.tenant === undefined || one.tenant === tenant;
  return {
    ...status,
    attention: status.attention.filter(isMeant),
    undecided: status.undecided.filter(isMeant),
    events: status.events.filter(isMeant),
    notes: status.notes.filter(isMeant),
  };
}
