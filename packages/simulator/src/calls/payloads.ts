import type { CallDetails } from '@call-webhooks/core';
import { SimulatorError } from '../errors.ts';
import type { EventName, RuleTrigger } from '../rules/rule.ts';
import type { Call } from './call.ts';

const WHOLE_TEXT = /^\{\{\s*([\w:.-]+)\s*\}\}$/;
const PLACEHOLDER = /\{\{\s*([\w:.-]+)\s*\}\}/g;

/** The names of the seven body fields that the spec describes by meaning only. */
export type BodyFieldNames = Readonly<Record<keyof CallDetails, string | undefined>>;

const iso = (time: number) => new Date(time).toISOString();

/** The values of those seven fields, by meaning, in the formats of the spec. */
export function callDetails(call: Call, trigger: RuleTrigger): Record<string, unknown> {
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

/**
 * The body of `call:started` and `call:completed` (spec, "Call webhook body").
 * @guess Which bodies lack `callId`, a newer field of `call:completed`
 */
export function callBody(
  call: Call,
  trigger: RuleTrigger,
  names: BodyFieldNames,
): Record<string, unknown> {
  const body: Record<string, unknown> = { eventName: trigger, callId: call._id };
  const own = { ...names, ...call.fieldNames };
  for (const [meaning, value] of Object.entries(callDetails(call, trigger))) {
    const name = own[meaning as keyof BodyFieldNames];
    if (value !== undefined && name !== undefined) body[name] = value;
  }
  return { ...body, fromPhoneNumber: call.fromPhoneNumber };
}

/**
 * The body of `call:recording-available`.
 * @guess Which fields of `call:recording-available` are always sent
 * @throws SimulatorError `conflict` without a recording
 */
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
/**
 * Fills in the `{{placeholders}}` of a custom payload. A string that is a single placeholder becomes
 * the value itself, or `null` when there is none. Inside a longer string the value is inserted as
 * text.
 * @guess Placeholders in custom payloads
 */
export function fillTemplate(
  template: unknown,
  values: Readonly<Record<string, unknown>>,
): unknown {
  const value = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  if (typeof template === 'string') {
    const whole = WHOLE_TEXT.exec(template)?.[1];
    return whole === undefined
      ? template.replace(PLACEHOLDER, (_text, name: string) => asText(value(name)))
      : (value(whole) ?? null);
  }
  if (Array.isArray(template)) return template.map((item) => fillTemplate(item, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, item]) => [name, fillTemplate(item, values)]),
  );
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
