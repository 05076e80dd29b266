import { collectingLogger } from '@call-webhooks/contract-tests';
import type { ErrorInfo, Outcome, WorkerOptions } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';

/** A worker, and what its hooks were called with. */
export function observedWorker(options: WorkerOptions<never, never>) {
  const outcomes: Outcome[] = [];
  const errors: { error: unknown; info: ErrorInfo }[] = [];
  const process = createJobProcessor({
    logger: collectingLogger(),
    onOutcome: (outcome) => void outcomes.push(outcome),
    onError: (error, info) => void errors.push({ error, info }),
    ...options,
  });
  return { outcomes, errors, process };
}
