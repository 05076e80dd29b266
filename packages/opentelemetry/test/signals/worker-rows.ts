import type { JobOutcome } from '@call-webhooks/core/stores';
import { handlerError } from '@call-webhooks/contract-tests/planted';
import { custom } from './receiver-rows.ts';
import type { Row } from './under-test.ts';

const fail = () => Promise.reject(handlerError());
const failing = { 'call:completed': fail };

/** How a worker comes to each of its outcomes. */
export const WORKER: Record<JobOutcome, Row> = {
  handled: (at) => at.work({ on: { 'call:completed': () => undefined } }),
  ignored: (at) => at.work({}),
  'handler-failed': (at) => at.work({ on: failing }),
  'dead-lettered': (at) => at.work({ on: failing }, at.event, { attempt: 3, maxRuns: 3 }),
  'invalid-payload': (at) => at.work({ custom, deadLetter: fail }, { name: 'Ada Lovelace' }),
};
