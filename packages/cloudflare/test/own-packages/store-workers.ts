import { Miniflare } from 'miniflare';
import { bundled, COMPATIBILITY_DATE } from './support.ts';

/** Two Workers in workerd, each in an isolate of its own, with the same Durable Objects. */
export interface StoreWorkers {
  /** The URLs of the Workers. */
  readonly urls: readonly [string, string];
  close(): Promise<void>;
}

let code: Promise<string> | undefined;

/** @param folder where the objects are kept, so that others can start with the same */
export async function startStoreWorkers(folder: string): Promise<StoreWorkers> {
  const script = await (code ??= bundled('store-worker'));
  const modules = [{ type: 'ESModule' as const, path: 'store-worker.mjs', contents: script }];
  const shared = { modules, compatibilityDate: COMPATIBILITY_DATE };
  const miniflare = new Miniflare({
    durableObjectsPersist: folder,
    workers: [
      {
        ...shared,
        name: 'first',
        durableObjects: { STORE: { className: 'TestStore', useSQLite: true } },
        serviceBindings: { OTHER: 'second' },
      },
      {
        ...shared,
        name: 'second',
        durableObjects: {
          STORE: { className: 'TestStore', scriptName: 'first', useSQLite: true },
        },
      },
    ],
  });
  const url = await miniflare.ready;
  return {
    urls: [new URL('/', url).href, new URL('/other', url).href],
    close: () => miniflare.dispose(),
  };
}
