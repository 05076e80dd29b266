import type { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';

/** The names of the fields that the interface does not show. */
export type CallFieldNames = Readonly<Record<keyof typeof DEFAULT_FIELD_NAMES, string>>;

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
export function testEvent(id: string, options: TestEventOptions, names: CallFieldNames): TestEvent {
  const { name = UNHANDLED_EVENT, slowMs, failures, fields = {} } = options;
  const wishes = [
    ...(slowMs === undefined ? [] : [`.slow-${String(slowMs)}`]),
    ...(failures === undefined ? [] : [`.fail-${String(failures)}`]),
  ];
  const callId = options.callId ?? `${id}${wishes.join('')}`;
  const body = { eventName: name, callId, ...shapeOf(name, callId, names), ...fields };
  return { callId, name, key: `${callId}:${name}`, body: Buffer.from(JSON.stringify(body)) };
}

function shapeOf(name: string, callId: string, names: CallFieldNames): object {
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
    [names.placedBy]: 'check.user',
    [names.createdAt]: now.getTime(),
    [names.calledNumber]: '+12025550100',
    [names.calledEmail]: 'check@example.com',
    [names.calledName]: 'call-webhooks check',
    [names.dialedAt]: time,
    ...(name === 'call:completed' && { [names.endedAt]: time }),
  };
}
