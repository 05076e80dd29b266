import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '@call-webhooks/core';

export const PLANTED = ['mark-before-run', 'no-fencing'] as const;
export type Planted = (typeof PLANTED)[number];

/** Spoils a store in a way that many a real one has: the history check must notice. */
export function plant(store: Store, planted: Planted, folder: string): Store {
  return planted === 'mark-before-run' ? markBeforeRun(store) : noFencing(store, folder);
}

/** "Seen" is remembered at once, so that what fails or dies afterwards is never run again. */
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

/** Tokens are ignored: who settles or renews does so to the lease of whoever holds it now. */
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
    complete: (key) => store.complete(key, holder(key)),
    release: (key) => store.release(key, holder(key)),
    extend: (key, _token, leaseMs) => store.extend(key, holder(key), leaseMs),
  };
}
