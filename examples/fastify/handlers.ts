import { defineHandlers } from '@call-webhooks/fastify';

// An event is done when its handler returns. If the handler throws, the service sends the event again.
// A handler may run more than once for an event: pass `key` on as the idempotency key of its effect.
export const handlers = defineHandlers({
  'call:started': (event, { log }) => {
    log.info({ callId: event.callId }, 'call started');
  },
  'call:completed': (event, { key, call, log }) => {
    // The name of the field behind call.endedAt is a guess: see "Field names" in the docs.
    log.info({ key, callId: event.callId, endedAt: call.endedAt }, 'call completed');
  },
  'call:recording-available': (event, { key, log }) => {
    const seconds = event.recordingDurationSeconds;
    log.info({ key, callId: event.callId, seconds }, 'recording available');
  },
});
