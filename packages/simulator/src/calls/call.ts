import type { FieldNames } from '@call-webhooks/core';

/** The recording of a call. */
export interface CallRecording {
  /** The time at which the recording started, in milliseconds of the simulator's clock. */
  readonly startedAt: number;
  /** The length of the recording in whole seconds. */
  readonly durationSeconds: number;
  /** The time from which the recording can be downloaded, in milliseconds of the simulator's clock. */
  readonly availableAt: number;
}

/**
 * A call that was placed with the simulated dialer. All times are milliseconds of the simulator's
 * clock.
 */
export interface Call {
  /** The id of the call. It equals `callId` in the webhook bodies (spec, "Call webhook body"). */
  readonly _id: string;
  /** Whether the call is ongoing or has ended. */
  readonly state: 'ongoing' | 'ended';
  /** The `_id` of the user who placed the call. */
  readonly placedBy: string;
  /** The service number from which the call was placed. The spec does not show its fields. */
  readonly fromPhoneNumber: Readonly<Record<string, unknown>>;
  /** The phone number that was called. */
  readonly calledNumber: string;
  /** The email address of the person who was called. It is absent if it is not known. */
  readonly calledEmail?: string;
  /** The name of the person who was called. It is absent if it is not known. */
  readonly calledName?: string;
  /** The time at which the call record was created. */
  readonly createdAt: number;
  /** The time at which the call was dialed. */
  readonly dialedAt: number;
  /** The time at which the call ended. It is absent while the call is ongoing. */
  readonly endedAt?: number;
  /**
   * The time at which the call was logged and `call:completed` was sent, shortly after the end of the
   * call.
   */
  readonly loggedAt?: number;
  /** The planned duration in milliseconds. It is absent for a call that you end yourself. */
  readonly plannedMs?: number;
  /** Whether the call gets a recording. */
  readonly recorded: boolean;
  /** The names of its body fields, where they differ from those of the simulator. */
  readonly fieldNames?: FieldNames;
  /** The recording. It is absent until it is available. */
  readonly recording?: CallRecording;
}
