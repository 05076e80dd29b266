import { randomBytes } from 'node:crypto';
import { DEFAULT_FIELD_NAMES, EVENT_NAMES } from '@call-webhooks/core';
import { badInput } from '../cli-error.ts';
import { closest } from '../input/closest.ts';

const NAMES = DEFAULT_FIELD_NAMES;
const id = () => randomBytes(12).toString('hex');

/** The bodies of the three events, as the service sends them; the names of seven fields are guesses. */
const SAMPLES: Readonly<Record<string, (now: number) => Record<string, unknown>>> = {
  'call:started': (now) => callBody('call:started', now),
  'call:completed': (now) => ({
    ...callBody('call:completed', now - 61_000),
    [NAMES.endedAt]: new Date(now).toISOString(),
  }),
  'call:recording-available'(now) {
    const callId = id();
    return {
      eventName: 'call:recording-available',
      eventId: `${callId}:recording-available`,
      callId,
      userId: 'user-1',
      workspaceId: 'workspace-1',
      recordingStartedAt: new Date(now - 62_000).toISOString(),
      recordingDurationSeconds: 61,
      occurredAt: new Date(now).toISOString(),
      recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
    };
  },
};

function callBody(eventName: string, now: number): Record<string, unknown> {
  return {
    eventName,
    callId: id(),
    [NAMES.placedBy]: 'user-1',
    [NAMES.createdAt]: now,
    [NAMES.calledNumber]: '+12025550101',
    [NAMES.calledEmail]: 'ada@example.com',
    [NAMES.calledName]: 'Ada Example',
    [NAMES.dialedAt]: new Date(now).toISOString(),
    fromPhoneNumber: { number: '+12025550199', label: 'Main line' },
  };
}

/** A sample of an event. @throws CliError 2 for an event that the service does not have */
export function sampleOf(eventName: string, now = Date.now()): Record<string, unknown> {
  const sample = Object.hasOwn(SAMPLES, eventName) ? SAMPLES[eventName] : undefined;
  if (sample) return sample(now);
  const near = closest(eventName, EVENT_NAMES);
  throw badInput(
    `There is no sample of ${eventName}.`,
    near === undefined
      ? `There are ${EVENT_NAMES.join(', ')}. For another event pass its body: --data @file`
      : `Did you mean ${near}? For another event pass its body: --data @file`,
  );
}
