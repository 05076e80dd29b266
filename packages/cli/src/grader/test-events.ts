/** An event that is marked as a test. */
export interface TestEvent {
  readonly callId: string;
  readonly name: string;
  /** Of its effect: `<callId>:<eventName>`. */
  readonly key: string;
  readonly body: Buffer;
}

export interface TestEventOptions {
  readonly name?: string | undefined;
  /** Of the call, if the event belongs to one that has been sent. */
  readonly callId?: string;
  /** Asks the handler of a tested receiver to take so long; milliseconds. */
  readonly slowMs?: number;
  /** Asks the handler of a tested receiver to fail so often. */
  readonly failures?: number;
  /** Further fields, or other values. */
  readonly fields?: object;
}

/** An event that no one handles. A receiver acknowledges it and does nothing. */
export const UNHANDLED_EVENT = 'call-webhooks:check';

/** Creates an event. Its ids begin with `check.`, its number is one that nobody has. */
export function testEvent(id: string, options: TestEventOptions): TestEvent {
  const { name = UNHANDLED_EVENT, slowMs, failures, fields = {} } = options;
  const wishes = [
    ...(slowMs === undefined ? [] : [`.slow-${String(slowMs)}`]),
    ...(failures === undefined ? [] : [`.fail-${String(failures)}`]),
  ];
  const callId = options.callId ?? `${id}${wishes.join('')}`;
  const body = { eventName: name, callId, ...shapeOf(name, callId), ...fields };
  return { callId, name, key: `${callId}:${name}`, body: Buffer.from(JSON.stringify(body)) };
}

function shapeOf(name: string, callId: string): object {
  const now = new Date();
  const time = now.toISOString();
  if (name === 'call:recording-available')
    return {
      eventId: `${callId}:recording-available`,
      userId: 'check.user',
      workspaceId: 'check.workspace',
      recordingStartedAt: time,
      recordingDurationSeconds: 1,
      occurredAt: time,
      recordingUrl: `https://service.invalid/v1/calls/${callId}/recording`,
    };
  return {
    fromPhoneNumber: {},
    userId: 'check.user',
    createdAt: now.getTime(),
    toPhoneNumber: '+12025550100',
    recipientEmail: 'check@example.com',
    recipientName: 'call-webhooks check',
    startedAt: time,
    ...(name === 'call:completed' && { endedAt: time }),
  };
}
