import { inferNames } from '@call-webhooks/client/infer';
import type { App } from '../../app.ts';
import { t } from '../../terminal/text.ts';
import { printInferred } from '../infer.ts';
import type { Arrival } from './arrival.ts';

/** Learns field names from the deliveries that `listen` accepts. */
export interface Learner {
  /** Adds a delivery. Reports names that are new or have changed. */
  add(arrival: Arrival): void;
  /** Prints everything that was learned. */
  finish(): Promise<void>;
}

/** Keeps the latest bodies: names do not change with more. */
const MAX_SAMPLES = 500;

/** Creates a learner. Reports go to stderr, the result of {@link Learner.finish} to stdout. */
export function createLearner(app: App): Learner {
  const { output } = app;
  const samples: unknown[] = [];
  const reported = new Map<string, string>();
  return {
    add({ body, problem, outcome }) {
      if (problem !== undefined || outcome === 'replayed') return;
      const sample = parse(body);
      if (sample === undefined) return;
      samples.push(sample);
      if (samples.length > MAX_SAMPLES) samples.shift();
      for (const { setting, status, candidates } of inferNames(samples).fieldNames) {
        const [candidate] = candidates;
        if (status !== 'found' || candidate === undefined) continue;
        if (reported.get(setting) === candidate.name) continue;
        reported.set(setting, candidate.name);
        const { green } = output.messageColors;
        output.message(
          t`${green('learned')}  ${setting}: ${candidate.name}  (${candidate.reasons.join('; ')})`,
        );
      }
    },
    finish: () => printInferred(app, inferNames(samples)),
  };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}
