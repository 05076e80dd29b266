import { isUtf8 } from 'node:buffer';

/** What became of one request to `listen`. */
export interface Arrival {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** A code of the answer table, or what was done with it. */
  readonly outcome: string;
  readonly verified: boolean;
  /** Why it was refused, and the cause that was found. */
  readonly problem?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  /** What the server behind answered. */
  readonly forwarded?: Forwarded | undefined;
  readonly body: Uint8Array;
}

export interface Forwarded {
  readonly url: string;
  /** Its status, or what went wrong. */
  readonly answer: string;
  readonly ms: number;
  /** A loud warning, where its answer was not passed on. */
  readonly warning?: string | undefined;
}

/** The event's name and call, where the body tells them. */
export function namesOf(body: Uint8Array): Pick<Arrival, 'eventName' | 'callId'> {
  try {
    const { eventName, callId } = JSON.parse(Buffer.from(body).toString('utf8')) as Record<
      string,
      unknown
    >;
    return {
      eventName: typeof eventName === 'string' ? eventName : undefined,
      callId: typeof callId === 'string' ? callId : undefined,
    };
  } catch {
    return {};
  }
}

/** An arrival as JSON: the body parsed where it is JSON, else as text, else in base64. */
export function arrivalRecord({ body, ...arrival }: Arrival): object {
  const text = isUtf8(body) ? Buffer.from(body).toString('utf8') : undefined;
  if (text === undefined) return { ...arrival, bodyBase64: Buffer.from(body).toString('base64') };
  try {
    return { ...arrival, body: JSON.parse(text) as unknown };
  } catch {
    return { ...arrival, body: text };
  }
}
