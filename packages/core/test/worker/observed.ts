import { collectingLogger } from '@call-webhooks/contract-tests';
import {
  createJobProcessor,
  type ErrorInfo,
  type Outcome,
  type WorkerOptions,
} from '../../src/index.ts';

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
