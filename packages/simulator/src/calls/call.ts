import type { FieldNames } from '@call-webhooks/core';

/** The recording of a call. */
export interface CallRecording {
  /** Milliseconds of the simulator's clock. */
  readonly startedAt: number;
  /** Whole seconds. */
  readonly durationSeconds: number;
  /** Since when it can be downloaded; milliseconds of the simulator's clock. */
  readonly availableAt: number;
}

/** A call placed with the simulated dialer. Times are milliseconds of the simulator's clock. */
export interface Call {
  /** Equals the `callId` of the webhook bodies (spec, "Call webhook body"). */
  readonly _id: string;
  readonly state: 'ongoing' | 'ended';
  /** The `_id` of the user who placed it. */
  readonly placedBy: string;
  /** The service's number. The spec does not show its fields. */
  readonly fromPhoneNumber: Readonly<Record<string, unknown>>;
  readonly calledNumber: string;
  /** Only when known. */
  readonly calledEmail?: string;
  /** Only when known. */
  readonly calledName?: string;
  readonly createdAt: number;
  readonly dialedAt: number;
  readonly endedAt?: number;
  /** When `call:completed` was sent: a call is logged shortly after its end. */
  readonly loggedAt?: number;
  /** The planned duration in milliseconds, for a call that ends by itself. */
  readonly plannedMs?: number;
  readonly recorded: boolean;
  /** Names of its body fields that differ from those of the simulator. */
  readonly fieldNames?: FieldNames;
  readonly recording?: CallRecording;
}
