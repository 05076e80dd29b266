/** The recording of a call. */
export interface CallRecording {
  /** Milliseconds of the simulator's clock. */
  readonly startedAt: number;
  /** Whole seconds. */
  readonly durationSeconds: number;
  /** When it could be downloaded first; milliseconds of the simulator's clock. */
  readonly availableAt: number;
}

/** A call placed with the simulated dialer. Times are milliseconds of the simulator's clock. */
export interface Call {
  /** Equals the `callId` of the webhook bodies (spec, "Call webhook body"). */
  readonly _id: string;
  readonly state: 'ongoing' | 'ended';
  /** The `_id` of the user who placed it. */
  readonly placedBy: string;
  /** The service's number; the spec does not show its inner fields. */
  readonly fromPhoneNumber: Readonly<Record<string, unknown>>;
  readonly calledNumber: string;
  /** Only when known. */
  readonly calledEmail?: string;
  /** Only when known. */
  readonly calledName?: string;
  readonly createdAt: number;
  readonly dialedAt: number;
  readonly endedAt?: number;
  /** When `call:completed` was announced: a call is logged a little after its end. */
  readonly loggedAt?: number;
  /** How long it is going to take, where that was said; milliseconds. */
  readonly plannedMs?: number;
  readonly recorded: boolean;
  readonly recording?: CallRecording;
}

/** What is known of a call before it is placed. Everything has a default. */
export interface CallInput {
  /** The `_id` of a user; the workspace's first user by default. */
  placedBy?: string | undefined;
  fromPhoneNumber?: Record<string, unknown> | undefined;
  calledNumber?: string | undefined;
  /** `null`: not known. */
  calledEmail?: string | null | undefined;
  /** `null`: not known. */
  calledName?: string | null | undefined;
  /** Whether a recording will be announced; `true` by default. */
  recorded?: boolean | undefined;
}

/** A whole call: it ends by itself after `durationSeconds` of the simulator's clock. */
export interface PlacedCallInput extends CallInput {
  /** 20 by default; a fraction is fine. */
  durationSeconds?: number | undefined;
}
