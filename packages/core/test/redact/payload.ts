import { createRedactor } from '../../src/report/redact.ts';

/** The standard redaction of a text about a delivery. */
export const redact = (text: string, content?: unknown): string =>
  createRedactor('standard', { body: content })(text);

export const PAYLOAD = {
  eventName: 'call:completed',
  eventId: 'call-7:completed',
  callId: 'call-7',
  toPhoneNumber: '+1 (555) 010-4477',
  recipientName: 'Ada King-Noel Lovelace',
  recipientEmail: 'the.countess@example.com',
  nested: [{ deeper: { label: 'Byron, Annabella' } }],
  extension: 4711,
  status: 'completed',
  direction: 'outbound',
  reason: 'Busy',
  recordingUrl: 'https://api.example.com/v1/calls/call-7/recording',
  workspaceId: 'space-1',
  客户: '李明',
};
