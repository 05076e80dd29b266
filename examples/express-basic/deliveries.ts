import { generateSecret, sign } from '@call-webhooks/core';

/** One delivery of the tour, and the answer that it must get. */
export interface Step {
  what: string;
  expected: { status: number; outcome: string };
  body: string;
  headers: Record<string, string>;
}

const call = (callId: string, eventName: string) =>
  JSON.stringify({ eventName, callId, fromPhoneNumber: { label: 'main line' }, userId: 'user-1' });

const recording = (callId: string) =>
  JSON.stringify({
    eventName: 'call:recording-available',
    eventId: `${callId}:recording-available`,
    callId,
    userId: 'user-1',
    workspaceId: 'workspace-1',
    recordingStartedAt: '2026-01-02T03:04:05.678Z',
    recordingDurationSeconds: 61,
    occurredAt: '2026-01-02T03:06:05.678Z',
    recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
  });

/** Everything that a receiver meets in its life, signed now. */
export async function tour(secret: string): Promise<Step[]> {
  const completed = call('call-1', 'call:completed');
  const failing = call('call-2', 'call:completed');
  const signed = (body: string, more: object = {}) => sign({ secret, body, ...more });
  const replayed = await signed(completed);
  const handled = { status: 200, outcome: 'handled' };
  const refused = (outcome: string, status = 401) => ({ status, outcome });
  const recorded = recording('call-1');
  const started = call('call-1', 'call:started');
  const custom = '{"ticket":"T-17","note":"call back on Monday"}';
  const unknown = call('call-1', 'call:transferred');
  const tenMinutesAgo = Math.floor(Date.now() / 1000) - 600;
  return [
    {
      what: 'recording-available, ahead of its call',
      expected: handled,
      body: recorded,
      headers: await signed(recorded),
    },
    { what: 'call:completed', expected: handled, body: completed, headers: replayed },
    {
      what: 'call:started, last of the three',
      expected: handled,
      body: started,
      headers: await signed(started),
    },
    {
      what: 'a duplicate with a new webhook id',
      expected: { status: 200, outcome: 'duplicate' },
      body: completed,
      headers: await signed(completed),
    },
    {
      what: 'a replay of the same webhook id',
      expected: refused('replayed', 409),
      body: completed,
      headers: replayed,
    },
    {
      what: 'forged: signed with another secret',
      expected: refused('signature-mismatch'),
      body: completed,
      headers: await signed(completed, { secret: generateSecret() }),
    },
    {
      what: 'stale: signed ten minutes ago',
      expected: refused('timestamp-out-of-tolerance'),
      body: completed,
      headers: await signed(completed, { timestamp: tenMinutesAgo }),
    },
    { what: 'a custom payload', expected: handled, body: custom, headers: await signed(custom) },
    {
      what: 'an event that nobody knows yet',
      expected: { status: 200, outcome: 'ignored' },
      body: unknown,
      headers: await signed(unknown),
    },
    {
      what: 'call:completed while the CRM is down',
      expected: refused('handler-failed', 500),
      body: failing,
      headers: await signed(failing),
    },
    { what: '  its retry', expected: handled, body: failing, headers: await signed(failing) },
  ];
}
