export {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  type CallFields,
  type Overrides,
} from './events.ts';
export {
  signedRequest,
  TEST_SECRET,
  type EventInput,
  type SignedRequest,
  type SigningOptions,
} from './signed-request.ts';
export { deliver, deliverTwice, forged, type Delivered, type DeliverOptions } from './deliver.ts';
export type { NodeListener } from './in-memory-exchange.ts';
export type { Target, TargetOptions } from './target.ts';
export { createTestClock, type TestClock } from './clock.ts';
