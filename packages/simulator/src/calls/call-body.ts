import type { CallDetails } from '@call-webhooks/core';
import type { EventName, RuleTrigger } from '../rules/rule.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Call } from './call.ts';

/** Under which names the seven fields that the spec does not show are sent. */
export type BodyFieldNames = Readonly<Record<keyof CallDetails, string>>;

const iso = (time: number) => new Date(time).toISOString();

/** The seven by meaning, in the formats of the spec's table. */
export function detailsOf(call: Call, trigger: RuleTrigger): Record<string, unknown> {
  return {
    placedBy: call.placedBy,
    createdAt: call.createdAt,
    calledNumber: call.calledNumber,
    calledEmail: call.calledEmail,
    calledName: call.calledName,
    dialedAt: iso(call.dialedAt),
    endedAt:
      trigger === 'call:completed' && call.endedAt !== undefined ? iso(call.endedAt) : undefined,
  };
}

/** The body of `call:started` and `call:completed` (spec, "Call webhook body"). */
export function callBody(
  call: Call,
  trigger: RuleTrigger,
  names: BodyFieldNames,
): Record<string, unknown> {
  const body: Record<string, unknown> = { eventName: trigger, callId: call._id };
  for (const [meaning, value] of Object.entries(detailsOf(call, trigger)))
    if (value !== undefined) body[names[meaning as keyof BodyFieldNames]] = value;
  return { ...body, fromPhoneNumber: call.fromPhoneNumber };
}

/** The body of `call:recording-available`, with the very fields of the spec's table. */
export function recordingBody(
  call: Call,
  workspaceId: string,
  baseUrl: string,
): Record<string, unknown> {
  const { recording } = call;
  if (!recording) throw new SimulatorError('conflict', 'The call has no recording.');
  return {
    eventName: 'call:recording-available' satisfies EventName,
    eventId: `${call._id}:recording-available`,
    callId: call._id,
    userId: call.placedBy,
    workspaceId,
    recordingStartedAt: iso(recording.startedAt),
    recordingDurationSeconds: recording.durationSeconds,
    occurredAt: iso(recording.availableAt),
    recordingUrl: `${baseUrl}/v1/calls/${call._id}/recording`,
  };
}
