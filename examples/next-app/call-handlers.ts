import type { Handlers } from '@call-webhooks/core';

/** What this app does with calls: it prints a line for each event, with the router it came by. */
export const callHandlers = (router: string): Handlers<{}> => ({
  'call:started': ({ callId }) => {
    console.log(`[${router}] call ${callId ?? '?'} started`);
  },
  'call:completed': ({ callId }, { attempt }) => {
    // As if a CRM were down for a moment: the service delivers the event again.
    if (callId?.startsWith('flaky') && attempt === 1) throw new Error('The CRM is down');
    console.log(`[${router}] call ${callId ?? '?'} completed, attempt ${String(attempt)}`);
  },
  'call:recording-available': ({ callId, recordingDurationSeconds }) => {
    console.log(
      `[${router}] call ${callId} has a recording of ${String(recordingDurationSeconds)} s`,
    );
  },
});
