import type { Probe } from './probe.ts';
import { basics } from './probes/basics.ts';
import { connections } from './probes/connections.ts';
import { duplicates } from './probes/duplicates.ts';
import { events } from './probes/events.ts';
import { failures } from './probes/failures.ts';
import { http } from './probes/http.ts';
import { replays } from './probes/replays.ts';
import { afterRestart } from './probes/restarts.ts';
import { rotation } from './probes/rotation.ts';
import { signatures } from './probes/signatures.ts';
import { signedBodies } from './probes/signed-bodies.ts';
import { timestamps } from './probes/timestamps.ts';

/** All probes, in the order in which they run and are reported. */
export const PROBES: readonly Probe[] = [
  ...basics,
  ...signatures,
  ...signedBodies,
  ...timestamps,
  ...replays,
  ...events,
  ...duplicates,
  ...failures,
  ...rotation,
  ...afterRestart,
  ...connections,
  ...http,
];
