import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '@call-webhooks/core';

export const BUGS = ['mark-before-run', 'no-fencing', 'outside-transaction'] as const;
/** Bugs that real stores and handlers have. The history check must find them. */
export type Bug = (typeof BUGS)[number];

/** A store with a bug; `outside-transaction` is one of the handlers. */
export function buggyStore(store: Store, bug: Bug, folder: string): Store {
  if (bug === 'mark-before-run') return markBeforeRun(store);
  return bug === 'no-fencing' ? noFencing(store, folder) : store;
}

/** Marks an event as done when it is claimed: one that fails afterwards is never run again. */
function markBeforeRun(store: Store): Store {
  return {
    async admit(claim) {
      const admission = await store.admit(claim);
      if (admission.status === 'admitted' && claim.key !== undefined)
        await store.complete(claim.key, claim.token);
      return admission;
    },
    complete: () => Promise.resolve(true),
    release: () => Promise.resolve(true),
    extend: () => Promise.resolve(true),
  };
}

/** Ignores tokens: every call applies to the lease of whoever holds it now. */
function noFencing(store: Store, folder: string): Store {
  mkdirSync(folder, { recursive: true });
  const fileOf = (key: string) => join(folder, createHash('sha256').update(key).digest('hex'));
  const holder = (key: string) => readFileSync(fileOf(key), 'utf8');
  return {
    async admit(claim) {
      const admission = await store.admit(claim);
      if (admission.status === 'admitted' && claim.key !== undefined)
        writeFileSync(fileOf(claim.key), claim.token);
      return admission;
    },
    complete: (key, _token, mark) => store.complete(key, holder(key), mark),
    release: (key) => store.release(key, holder(key)),
    extend: (key, _token, leaseMs) => store.extend(key, holder(key), leaseMs),
  };
}
