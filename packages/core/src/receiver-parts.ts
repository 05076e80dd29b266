import type { Routes } from './events/route.ts';
import type { HeadersLike } from './http/request.ts';
import type { InFlight } from './in-flight.ts';
import type { Settings } from './options.ts';
import type { Reporter } from './report/reporter.ts';
import type { RequestKeys } from './signature/secret-provider.ts';
import type { StoreCalls } from './store/store-calls.ts';
import type { Deadlines } from './time.ts';

/** What a receiver is made of: its settings, and what was created for them. */
export interface ReceiverParts {
  readonly settings: Settings;
  readonly deadlines: Deadlines;
  readonly inFlight: InFlight;
  readonly routes: Routes;
  readonly store: StoreCalls;
  readonly reporter: Reporter;
  /** Who a request is for, and the keys to verify it with. */
  keysFor(request: { url?: string | undefined; headers: HeadersLike }): RequestKeys;
}
