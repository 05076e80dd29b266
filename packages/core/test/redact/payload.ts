import type { DeliveryContent } from '../../src/errors.ts';
import { copyOf } from '../../src/report/delivered.ts';
import { createRedactor } from '../../src/report/redact.ts';

/** The content of a delivery with this body. */
export const contentOf = (
  body: unknown,
  fieldNames?: DeliveryContent['fieldNames'],
): DeliveryContent => ({
  rawBody: new TextEncoder().encode(JSON.stringify(body ?? null)),
  fieldNames,
});

/** The content of a delivery of which a schema made this. */
export const contentMade = (made: unknown, body: unknown = {}): DeliveryContent => ({
  ...contentOf(body),
  made: copyOf(made),
});

/** The standard redaction of a text about a delivery. */
export const redact = (text: string, body: unknown = {}): string =>
  createRedactor('standard', contentOf(body))(text);

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
