import type { Handlers } from '@call-webhooks/core';

/** Prints a line for each event, with the router that received it. */
export const callHandlers = (router: string): Handlers => ({
  'call:started': ({ callId }) => {
    console.log(`[${router}] call ${callId ?? '?'} started`);
  },
  'call:completed': ({ callId }, { attempt }) => {
    // Simulates a CRM that is down for a moment: the service retries the event.
    if (callId?.startsWith('flaky') && attempt === 1) throw new Error('The CRM is down');
    console.log(`[${router}] call ${callId ?? '?'} completed (attempt ${String(attempt)})`);
  },
  'call:recording-available': ({ callId, recordingDurationSeconds }) => {
    console.log(
      `[${router}] call ${callId} has a recording of ${String(recordingDurationSeconds)} s`,
    );
  },
});
