import { Buffer } from 'node:buffer';

/** Bytes of every body that is measured. */
export const BODY_BYTES = 1024;

/** A `call:completed` event of exactly `BODY_BYTES` bytes. Each number gives another call. */
export function eventBody(number: number): Buffer {
  const event = {
    eventName: 'call:completed',
    callId: `66a1b2c3d4e5f6${number.toString(16).padStart(10, '0')}`,
    fromPhoneNumber: { id: '5f1d7a0c9b', number: '+15550100', label: 'Sales, main line' },
    userId: '5f0c1e2d3b4a59687786',
    createdAt: 1_760_000_000_000 + number,
    toPhoneNumber: '+15550123',
    recipientEmail: 'pat.example@example.test',
    recipientName: 'Pat Example',
    startedAt: '2026-04-01T10:00:00.000Z',
    endedAt: '2026-04-01T10:04:10.000Z',
    direction: 'outbound',
    disposition: 'connected',
    durationSeconds: 250,
    tags: ['renewal', 'q2', 'follow-up'],
    notes: '',
  };
  event.notes = 'n'.repeat(BODY_BYTES - Buffer.byteLength(JSON.stringify(event)));
  return Buffer.from(JSON.stringify(event));
}
