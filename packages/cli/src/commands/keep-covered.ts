import type { ReconcileResult } from '@call-webhooks/recovery';
import { saveCovered } from '@call-webhooks/recovery/internal';
import type { App } from '../app.ts';
import { CliError } from '../errors.ts';
import { isStoreGiven, type StoreOptions, withStore } from '../store/open-store.ts';
import { checkTenant } from '../store/tenants.ts';

interface CoveredOptions extends StoreOptions {
  readonly tenant?: string;
  readonly recordings?: boolean;
}

/** Tells the status that this time is done, or says why not. The events have been sent, whatever becomes of this. */
export async function keepCovered(
  app: App,
  options: CoveredOptions,
  { since, until }: { readonly since: Date; readonly until: Date },
  { failed }: Pick<ReconcileResult, 'failed'>,
): Promise<void> {
  const not = (why: string) => {
    app.output.warn(`This run is not recorded, so status may still ask for it: ${why}`);
  };
  if (!isStoreGiven(app, options)) {
    not('no store is given. Pass --store, and --prefix if the receiver has one.');
    return;
  }
  if (failed > 0) {
    not('not all events were handled.');
    return;
  }
  const names = ['call:completed', ...(options.recordings ? ['call:recording-available'] : [])];
  const span = { since: since.getTime(), until: until.getTime() };
  try {
    await withStore(app, options, async (opened) => {
      const { store } = opened;
      const { tenant } = options;
      if (Object.keys((await store.log?.marks())?.marks ?? {}).length === 0) {
        not('no receiver has written to the log of this store. Check --store and --prefix.');
        return;
      }
      const doubt = await checkTenant(opened, tenant);
      if (doubt !== undefined) not(doubt);
      else if (!(await saveCovered(store, tenant, names, span))) not('the store keeps no cursors.');
    });
  } catch (error) {
    app.signal.throwIfAborted();
    const fix = error instanceof CliError ? ` ${error.fix}` : '';
    not((error instanceof Error ? error.message : String(error)) + fix);
  }
}
