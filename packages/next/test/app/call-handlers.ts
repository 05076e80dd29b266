import type { Handlers } from '@call-webhooks/core';

/** Prints a line for each event, with the router that received it. */
export const callHandlers = (router: string): Handlers => ({
  'call:started': ({ callId }) => {
    console.log(`[${router}] call ${callId ?? '?'} started`);
  },
  'call:completed': async ({ callId }, { attempt }) => {
    if (callId?.startsWith('flaky') && attempt === 1) throw new Error('The CRM is down');
    if (callId?.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 2_000));
    console.log(`[${router}] call ${callId ?? '?'} completed (attempt ${String(attempt)})`);
  },
  'call:recording-available': ({ callId, recordingDurationSeconds }) => {
    console.log(
      `[${router}] call ${callId} has a recording of ${String(recordingDurationSeconds)} s`,
    );
  },
});
