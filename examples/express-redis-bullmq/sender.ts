import { styleText } from 'node:util';
import { generateSecret, sign } from '@call-webhooks/core';

const call = (callId: string, eventName: string) => JSON.stringify({ eventName, callId });
const recording = JSON.stringify({
  eventName: 'call:recording-available',
  eventId: 'call-1:recording-available',
  callId: 'call-1',
  userId: 'user-1',
  workspaceId: 'workspace-1',
  recordingStartedAt: '2026-01-02T03:04:05.678Z',
  recordingDurationSeconds: 61,
  occurredAt: '2026-01-02T03:06:05.678Z',
  recordingUrl: 'https://api.example.com/v1/calls/call-1/recording',
});

/** Plays the service and sends to both receivers in turn. Returns the number of wrong responses. */
export async function sendDeliveries(origins: string[], secret: string): Promise<number> {
  const completed = call('call-1', 'call:completed');
  const deliveries = [
    ['a recording, before its call', recording, 'queued'],
    ['call:started', call('call-1', 'call:started'), 'queued'],
    ['call:completed', completed, 'queued'],
    ['the same event, to the other machine', completed, 'duplicate'],
    ['another call:completed', call('call-2', 'call:completed'), 'queued'],
    ['forged', completed, 'signature-mismatch'],
  ] as const;
  let wrong = 0;
  for (const [index, [what, body, expected]] of deliveries.entries()) {
    const used = what === 'forged' ? generateSecret() : secret;
    const response = await fetch(`${String(origins[index % origins.length])}/hook`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...(await sign({ secret: used, body })) },
    });
    const { outcome } = (await response.json()) as { outcome: string };
    const right = outcome === expected;
    if (!right) wrong += 1;
    const color = right ? 'green' : 'red';
    console.log(`${what.padEnd(38)} ${String(response.status)} ${styleText(color, outcome)}`);
  }
  return wrong;
}
