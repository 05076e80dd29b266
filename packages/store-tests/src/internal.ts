// For the packages of this project alone, all of one version: it may change in any release.
export { anyCharacter, anyText } from './any-text.ts';
export { callBody } from './call-body.ts';
export { collectingLogger, type LogEntry } from './collecting-logger.ts';
export { deadLetter } from './dead-letters/under-test.ts';
export { deferred } from './deferred.ts';
export { queued, queuedCall } from './queue/deliveries.ts';
export { unique } from './unique.ts';
export { waitFor } from './wait-for.ts';
